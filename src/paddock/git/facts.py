"""What an attempt's branch shows, for the judge: facts, no verdicts, nothing changed."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from paddock.git.repo import Repo

_EDGE = "-"


@dataclass(frozen=True, slots=True)
class DiffStat:
    """`names` are the files' paths; of a file that was renamed, the old one and the new one."""

    files: int = 0
    insertions: int = 0
    deletions: int = 0
    names: tuple[str, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Stretch:
    """The commits a branch has beyond main, newest first: `subject` is the newest one's, `base` where they leave main.

    `known` are the commits themselves and those they stand on, so whatever holds the newest holds them all.
    """

    base: str
    commits: tuple[str, ...] = ()
    subject: str = ""
    known: frozenset[str] = frozenset()


def read_work(repo: Repo, main: str, base: str, head: str) -> tuple[Stretch, DiffStat]:
    """`read_stretch`, and what it changes in all. Most branches have one commit: then git is asked once."""
    if (single := _read_single(repo, main, head)) is not None:
        return single
    stretch = read_stretch(repo, main, base, head)
    return stretch, diffstat(repo, stretch.base, head) if stretch.commits else DiffStat()


def _read_single(repo: Repo, main: str, head: str) -> tuple[Stretch, DiffStat] | None:
    """None unless `head` is the only commit that the ref `main` has not, and no merge."""
    words = ("log", "-2", "-z", "--numstat", "--no-renames", "--format=%H %P%x00%s")
    told = repo.git(*words, head, f"^{main}", check=False)
    if not told.ok or not told.stdout:
        return None
    (commit, *parents), subject, rows = told.records[0].split(" "), told.records[1], told.records[2:]
    if len(parents) != 1 or any("\t" not in row for row in rows):  # a second commit follows
        return None
    return Stretch(parents[0], (commit,), subject, frozenset((commit, *parents))), _add_up(rows)


def read_stretch(repo: Repo, main: str, base: str, head: str) -> Stretch:
    """What `head` has that the ref `main` has not; that `base` has not, where there is no such ref.

    One boundary is where the two histories part; with several, or none, git has to be asked for their base.
    """
    words = ("rev-list", "--boundary", "--no-commit-header", "--format=%m%H %s", head)
    told = repo.git(*words, f"^{main}", check=False)
    is_on_main = told.ok
    if not is_on_main:
        told = repo.git(*words, f"^{base}")
    rows = [line[1:].split(" ", 1) for line in told.lines if not line.startswith(_EDGE)]
    edges = [line[1:].split(" ", 1)[0] for line in told.lines if line.startswith(_EDGE)]
    commits = tuple(row[0] for row in rows)
    if is_on_main and len(edges) == 1:
        base = edges[0]
    elif is_on_main and commits:
        base = repo.merge_base(main, head) or base
    subject = rows[0][1] if rows else ""
    return Stretch(base, commits, subject, frozenset((*commits, *edges)))


def diffstat(repo: Repo, base: str, head: str) -> DiffStat:
    """Binary files count as files without lines."""
    if base == head:
        return DiffStat()
    told = repo.git("diff-tree", "-r", "-z", "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv", base, head)
    return _add_up(told.records)


def _add_up(numstat: Iterable[str]) -> DiffStat:
    rows = [row.lstrip("\n").split("\t", 2) for row in numstat]
    return DiffStat(
        files=len(rows),
        insertions=sum(int(row[0]) for row in rows if row[0] != "-"),
        deletions=sum(int(row[1]) for row in rows if row[1] != "-"),
        names=tuple(row[2] for row in rows),
    )
