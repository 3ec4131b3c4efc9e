"""Reading main itself: what landed, whether it was rewound, what a stacked change stands on."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache

from paddock.core.ids import printable
from paddock.core.merge.model import Member
from paddock.git.landing.messages import CHANGE_TRAILER, TESTED_TRAILER, parse_claim
from paddock.git.landing.workbench import Workbench
from paddock.git.repo import Repo

_READ_BACK_LIMIT = 5000
_WHO = 200
_TRAILERS = "%(trailers:key={},valueonly,unfold,separator=%x02)"
_FORMAT = "%x00".join(("%H", _TRAILERS.format(CHANGE_TRAILER), _TRAILERS.format(TESTED_TRAILER), "%x01"))


@dataclass(frozen=True, slots=True)
class LandedTip:
    """A first-parent commit of main that says what it landed. `tested` is the tree its trailer names."""

    commit: str
    members: tuple[Member, ...]
    tested: str | None


@dataclass(frozen=True, slots=True)
class MainSeen:
    """`descends`: the last value the queue knew is an ancestor of it, or the same."""

    commit: str
    tree: str
    descends: bool


def observe_main(repo: Repo, ref: str, known: str | None) -> MainSeen | None:
    """Read `ref` afresh and compare it with `known` (None: nothing is known yet, so anything is fine).

    None when there is no such branch. Of a `known` commit that is gone from the repository nothing descends. Main is
    looked at before every step of the queue: while its file names the commit that is known, git is not asked.
    """
    commit = known if known is not None and repo.loose_ref(ref) == known else repo.resolve(ref)
    if commit is None:
        return None
    same = known is None or known == commit
    descends = same or (repo.resolve(str(known)) is not None and repo.is_ancestor(str(known), commit))
    return MainSeen(commit, _tree_of(repo, commit), descends)


def who_moved(repo: Repo, ref: str, commit: str) -> str:
    """Who moved `ref` to `commit` and how, as its reflog has it, and who committed that; both may be made up."""
    told = repo.git("log", "--walk-reflogs", "-1", "--format=%H%x00%gn <%ge>%x00%gs", ref, "--", check=False)
    at, _, entry = told.text.partition("\0")
    who, _, how = entry.partition("\0")
    committer = repo.git("log", "-1", "--format=%cn <%ce>", commit, "--", check=False).text
    if not told.ok or at != commit:
        return printable(f"somebody unrecorded; committed by {committer}" if committer else "", _WHO)
    signed = f"; committed by {committer}" if committer and committer != who else ""
    return printable(f"{who} ({how or 'no reason given'}){signed}", _WHO)


@lru_cache(maxsize=64)
def _tree_of(repo: Repo, commit: str) -> str:
    """A commit's tree never changes."""
    return repo.tree_of(commit)


def read_landed(bench: Workbench, tip: str, *since: str) -> tuple[LandedTip, ...]:
    """What main's own first-parent commits say landed after all of `since`, oldest first.

    Only first parents speak for the queue: a message further down was written by whoever made the change.
    """
    listed = bench.git(
        "log",
        "--first-parent",
        "--reverse",
        f"--max-count={_READ_BACK_LIMIT}",
        f"--format={_FORMAT}",
        "--encoding=UTF-8",
        tip,
        *(f"^{sha}" for sha in since),
    )
    read = (_read_tip(entry) for entry in listed.text.split("\x01") if entry.strip())
    return tuple(found for found in read if found is not None)


def members_touching(bench: Workbench, tip: LandedTip, start: str, paths: Collection[str]) -> list[str]:
    """Those that touched one of `paths` since they and commit `start` went different ways."""
    found = []
    for member in tip.members:
        base = next(iter(bench.merge_bases(member.head, start)), start)
        named = bench.git("diff-tree", "-r", "-z", "--no-renames", "--name-only", base, member.head, check=False)
        if not set(paths).isdisjoint(named.records):
            found.append(member.id)
    return found


def landed_heads(bench: Workbench, base: str, heads: tuple[str, ...]) -> tuple[str, ...]:
    """The last commits in the members' own history that landed on `base` in another shape (squashed, rebased).

    That is a landed change's head, or an earlier commit of it where a member forked before its end.
    """
    own = _parents(bench, heads, (base,))
    if not own:
        return ()
    landed = [m.head for tip in read_landed(bench, base, *heads) for m in tip.members]
    if not landed:
        return ()
    still_new = _parents(bench, heads, (base, *landed))
    known = [commit for commit in own if commit not in still_new]
    below = {parent for commit in known for parent in own[commit]}
    return tuple(commit for commit in known if commit not in below)


def _parents(bench: Workbench, heads: tuple[str, ...], excluded: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Commit → parents for what `heads` have beyond `excluded`; what is not in the repository excludes nothing."""
    words = "".join(f"{sha}\n" for sha in (*heads, *(f"^{sha}" for sha in excluded)))
    listed = bench.git("rev-list", "--parents", "--ignore-missing", "--stdin", input=words.encode())
    rows = (line.split(" ") for line in listed.lines)
    return {row[0]: tuple(row[1:]) for row in rows}


@dataclass(frozen=True, slots=True)
class OwnWork:
    """What a branch has beyond main: `commits` with their parents, and the `bases`, where the two go different ways."""

    head: str
    commits: Mapping[str, tuple[str, ...]]
    bases: tuple[str, ...]

    @property
    def fork(self) -> str | None:
        """What its first parents lead to; None where they do not lead to main."""
        at: str | None = self.head
        while at is not None and at in self.commits:
            at = next(iter(self.commits[at]), None)
        return at


@lru_cache(maxsize=16)
def own_work(bench: Workbench, main: str, head: str) -> OwnWork:
    """Of two commits by their full names, which never changes. Mostly one process."""
    commits = _parents(bench, (head,), (main,))
    around = {parent for parents in commits.values() for parent in parents if parent not in commits}
    bases = tuple(around) if len(around) == 1 else bench.merge_bases(main, head)
    return OwnWork(head, commits, bases)


def history_beyond(bench: Workbench, main: str, heads: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Commit → parents for everything the heads have that `main` has not."""
    return _parents(bench, heads, (main,)) if heads else {}


def _read_tip(entry: str) -> LandedTip | None:
    commit, changes, tested, _ = entry.lstrip("\n").split("\0")
    claims = (parse_claim(value) for value in changes.split("\x02"))
    members = tuple(member for member in claims if member is not None)
    if not members:
        return None
    return LandedTip(commit, members, tested.split("\x02")[-1].strip() or None)
