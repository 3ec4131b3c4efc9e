"""Which landed work a branch takes back, read from git: main's own history, and what the branch makes of it.

Two questions. Of all that landed lately, is a file again exactly as it was before? And of what landed while the branch
was being written, which is in it because it merged or was moved onto a later main: is every landed line still there?
A merge that takes its own side, or a commit of an old tree on a new main, fails the second one. An ordinary merge, and
one in which somebody resolved a conflict, does not.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

from paddock.core.ids import recordable
from paddock.core.merge.reversals import MainMove, Reversal, taken_back
from paddock.git.landing.differences import differences
from paddock.git.landing.history import OwnWork, members_touching, own_work, read_landed
from paddock.git.landing.workbench import Workbench, open_workbench
from paddock.git.repo import Repo
from paddock.git.usertree.undone import Loss, find_losses
from paddock.git.usertree.versions import Change, parse_differences

LOOKED_BACK = 200
MOST_BLANKS = 64  # bytes
LARGEST_LANDING = 5000  # paths; an import of a whole project is nobody's change to take back


def find_reversals(repo: Repo, head: str, main: str, own: str = "", started_from: str = "") -> tuple[Reversal, ...]:
    """What `head` takes back of what `main` has; `own` is the change it is, `started_from` where its work began."""
    bench = open_workbench(repo)
    found: dict[tuple[str, bool], dict[str, None]] = {}
    work = own_work(bench, main, head)
    for met in work.bases:
        for name, path, meanwhile in _reversals_since(repo, bench, work, met, started_from):
            if name != own:
                found.setdefault((name, meanwhile), {})[path] = None
    told = {name: set(paths) for (name, meanwhile), paths in found.items() if meanwhile}
    reversals = []
    for (name, meanwhile), paths in found.items():
        left = [path for path in paths if meanwhile or path not in told.get(name, ())]
        if left:
            reversals.append(Reversal(name, tuple(map(recordable, sorted(left))), meanwhile))
    return tuple(sorted(reversals, key=lambda one: one.of))


def _reversals_since(
    repo: Repo, bench: Workbench, work: OwnWork, met: str, started_from: str
) -> list[tuple[str, str, bool]]:
    """Whose work, in which file, and whether it landed meanwhile; `met` is the newest main that the work contains."""
    head = work.head
    own = differences(bench, met, head)
    if not own:
        return []
    fork = _fork(bench, work, met, started_from)
    landings = _landings(bench, met)
    moved = _moved(bench, met, head) if any(new is None for _, new in own.values()) else {}
    later = set(bench.git("rev-list", "--first-parent", met, f"^{fork}").lines) if fork != met else set()
    lost = dict.fromkeys(_dropped(repo, bench, fork, met, head, moved)) if later else {}
    back = taken_back(landings, _without_emptied(repo, landings, own), moved)
    rows = [
        (name, path, landing.commit in later)
        for landing in landings
        for path in sorted(back.get(landing.commit, set()) - set(lost))
        for name in _names(bench, landing, path)
    ]
    for path in lost:
        touched = [one for one in landings if one.commit in later and path in one.changes]
        names = [name for one in touched for name in _names(bench, one, path)] or [f"commit {met[:10]}"]
        rows += [(name, path, True) for name in names]
    return rows


def _without_emptied(repo: Repo, landings: Sequence[MainMove], own: Mapping[str, Change]) -> dict[str, Change]:
    """A file that a landing made, and of which nothing is left but blanks, is as good as removed."""
    made = {path for landing in landings for path, (before, _) in landing.changes.items() if before is None}
    versions = {path: own[path][1] for path in made & own.keys() if own[path][1] is not None}
    asked = "".join(f"{str(version).split(' ')[1]}\n" for version in versions.values())
    sizes = repo.git("cat-file", "--batch-check=%(objectsize)", input=asked).lines if asked else []
    small = [path for path, size in zip(versions, sizes, strict=True) if size.isdecimal() and int(size) <= MOST_BLANKS]
    return {**own, **{path: (own[path][0], None) for path in small if not _lines(repo, versions[path])}}


def _fork(bench: Workbench, work: OwnWork, met: str, started_from: str) -> str:
    """The main that the work began on: what its first parents lead to, or an earlier one that is known."""
    fork = work.fork or met
    if started_from and started_from != fork and bench.is_ancestor(started_from, fork):
        return started_from
    return fork


def _dropped(repo: Repo, bench: Workbench, fork: str, met: str, head: str, moved: dict[str, str]) -> list[str]:
    """Files that lack what landed between `fork` and `met`; where both edited the same lines, nothing is lacking."""
    landed = differences(bench, fork, met)
    own = differences(bench, met, head)
    losses = [loss for loss in find_losses(repo, fork, met, head) if loss.can_be_restored]
    lost = [loss.path for loss in losses if not _is_rearranged(repo, _present(loss), landed[loss.path])]
    gone = [path for path in landed if path in own and own[path][1] is None and path not in lost]
    renamed = {path: own[moved[path]][1] if path in moved else None for path in gone}
    return lost + [path for path in gone if not _is_rearranged(repo, renamed[path], landed[path])]


def _present(loss: Loss) -> str | None:
    """The version of a file in which only lines are missing."""
    return loss.version if loss.content is not None else None


def _is_rearranged(repo: Repo, version: str | None, landed: Change) -> bool:
    """All lines that landed are in this version, and none of those that were removed: they are only elsewhere in it,
    or it has another name."""
    if version is None or None in landed:
        return version is None and landed[1] is None
    now, old, new = (_lines(repo, one) for one in (version, *landed))
    return all(now[line] >= new[line] for line in new - old) and all(now[line] <= new[line] for line in old - new)


def _lines(repo: Repo, version: str | None) -> Counter[bytes]:
    if version is None:
        return Counter()
    content = repo.git("cat-file", "blob", version.split(" ")[1]).stdout
    return Counter(line for row in content.splitlines() if (line := row.strip()))


def _moved(bench: Workbench, before: str, after: str) -> dict[str, str]:
    """Paths that git recognises under another name."""
    told = bench.git("diff-tree", "-r", "-z", "-M", "--diff-filter=R", "--name-status", before, after).records
    return {old: new for _, old, new in zip(told[::3], told[1::3], told[2::3], strict=True)}


@lru_cache(maxsize=8)
def _landings(bench: Workbench, tip: str) -> tuple[MainMove, ...]:
    """The latest moves of main up to `tip`, newest first."""
    listed = bench.git("rev-list", "--first-parent", "--parents", f"--max-count={LOOKED_BACK}", tip).lines
    rows = [line.split(" ") for line in listed]
    pairs = [(row[0], row[1]) for row in rows if len(row) > 1]
    asked = "".join(f"{commit} {parent}\n" for commit, parent in pairs).encode()
    words = ("diff-tree", "--stdin", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--always")
    changes = _split(bench.git(*words, input=asked).records) if pairs else {}
    tips = {one.commit: one for one in (read_landed(bench, tip, pairs[-1][1]) if pairs else ())}
    found = []
    for commit, _ in pairs:
        changed = changes.get(commit, {})
        if len(changed) <= LARGEST_LANDING:
            ids = tuple(member.id for member in tips[commit].members) if commit in tips else ()
            found.append(MainMove(commit, ids, changed))
    return tuple(found)


def _split(records: list[str]) -> dict[str, dict[str, Change]]:
    """What `diff-tree --stdin` prints, by commit."""
    found: dict[str, list[str]] = {}
    commit = ""
    fields = iter(records)
    for field in fields:
        if field.startswith(":"):
            found[commit] += [field, next(fields)]
        else:
            commit = field.strip()
            found.setdefault(commit, [])
    return {commit: parse_differences(rows) for commit, rows in found.items()}


def _names(bench: Workbench, landing: MainMove, path: str) -> list[str]:
    """The changes of the landing that touched the path; the commit where none is known."""
    if len(landing.ids) > 1:
        tips = read_landed(bench, landing.commit, f"{landing.commit}^1")
        named = [name for tip in tips for name in members_touching(bench, tip, f"{landing.commit}^1", (path,))]
        return named or list(landing.ids)
    return list(landing.ids) or [f"commit {landing.commit[:10]}"]
