"""Reading main itself: what landed, whether it was rewound, what a stacked change stands on."""

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from paddock.core.merge.model import Member
from paddock.git.messages import CHANGE_TRAILER, TESTED_TRAILER, parse_claim
from paddock.git.repo import Repo
from paddock.git.workbench import Workbench

_READ_BACK_LIMIT = 5000
_TRAILERS = "%(trailers:key={},valueonly,unfold,separator=%x02)"
_FORMAT = "%x00".join(("%H", "%T", _TRAILERS.format(CHANGE_TRAILER), _TRAILERS.format(TESTED_TRAILER), "%x01"))


@dataclass(frozen=True, slots=True)
class LandedTip:
    """A first-parent commit of main that says what it landed. `tested` is the tree its trailer names."""

    commit: str
    tree: str
    members: tuple[Member, ...]
    tested: str | None


class Relation(StrEnum):
    """Where main stands, seen from the last value the queue knew."""

    SAME = "same"
    AHEAD = "ahead"
    REWOUND = "rewound"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class MainSeen:
    """`commit` and `tree` are None when there is no such branch."""

    relation: Relation
    commit: str | None
    tree: str | None

    @property
    def descends(self) -> bool:
        return self.relation in (Relation.SAME, Relation.AHEAD)


def observe_main(repo: Repo, ref: str, known: str | None) -> MainSeen:
    """Read `ref` afresh and compare it with `known` (None: nothing is known yet, so anything is fine).

    A `known` commit that is no longer in the repository counts as rewound.
    """
    commit = repo.resolve(ref)
    if commit is None:
        return MainSeen(Relation.MISSING, None, None)
    tree = _tree_of(repo, commit)
    if known is None or known == commit:
        return MainSeen(Relation.SAME, commit, tree)
    ahead = repo.resolve(known) is not None and repo.is_ancestor(known, commit)
    return MainSeen(Relation.AHEAD if ahead else Relation.REWOUND, commit, tree)


@lru_cache(maxsize=64)
def _tree_of(repo: Repo, commit: str) -> str:
    """Main is looked at before every step of the queue, and a commit's tree never changes."""
    return repo.tree_of(commit)


def read_landed(bench: Workbench, tip: str, since: str | None = None) -> tuple[LandedTip, ...]:
    """What main's own first-parent commits say landed after `since`, oldest first.

    Only first parents speak for the queue: a message further down was written by whoever made the change.
    """
    excluded = (f"^{since}",) if since else ()
    return _read_tips(bench, tip, excluded)


def landed_heads(bench: Workbench, base: str, heads: tuple[str, ...]) -> tuple[str, ...]:
    """Commits in the members' own history that landed on `base` in another shape (squashed, rebased)."""
    not_in_base = set(bench.git("rev-list", *heads, f"^{base}").lines)
    if not not_in_base:
        return ()
    landed = _read_tips(bench, base, tuple(f"^{head}" for head in heads))
    named = (member.head for tip in landed for member in tip.members)
    return tuple(dict.fromkeys(head for head in named if head in not_in_base))


def _read_tips(bench: Workbench, tip: str, excluded: tuple[str, ...]) -> tuple[LandedTip, ...]:
    listed = bench.git(
        "log",
        "--first-parent",
        "--reverse",
        f"--max-count={_READ_BACK_LIMIT}",
        f"--format={_FORMAT}",
        "--encoding=UTF-8",
        tip,
        *excluded,
    )
    read = (_read_tip(entry) for entry in listed.text.split("\x01") if entry.strip())
    return tuple(found for found in read if found is not None)


def _read_tip(entry: str) -> LandedTip | None:
    commit, tree, changes, tested, _ = entry.lstrip("\n").split("\0")
    claims = (parse_claim(value) for value in changes.split("\x02"))
    members = tuple(member for member in claims if member is not None)
    if not members:
        return None
    return LandedTip(commit, tree, members, tested.split("\x02")[-1].strip() or None)
