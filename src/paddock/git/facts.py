"""What an attempt's branch shows, for the judge: facts, no verdicts, nothing changed."""

from dataclasses import dataclass

from paddock.git.repo import Repo

_EDGE = "-"


@dataclass(frozen=True, slots=True)
class DiffStat:
    files: int = 0
    insertions: int = 0
    deletions: int = 0


@dataclass(frozen=True, slots=True)
class Stretch:
    """The commits a branch has beyond main, newest first: `subject` is the newest one's, `base` where they leave main.

    `known` are the commits themselves and those they stand on, so whatever holds the newest holds them all.
    """

    base: str
    commits: tuple[str, ...] = ()
    subject: str = ""
    known: frozenset[str] = frozenset()


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
    rows = [row.split("\t", 2) for row in told.records]
    return DiffStat(
        files=len(rows),
        insertions=sum(int(row[0]) for row in rows if row[0] != "-"),
        deletions=sum(int(row[1]) for row in rows if row[1] != "-"),
    )
