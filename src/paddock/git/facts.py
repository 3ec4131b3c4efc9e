"""What an attempt's worktree shows, for the judge: facts, no verdicts, nothing changed."""

import enum
from dataclasses import dataclass
from pathlib import Path

from paddock.core.errors import PaddockError
from paddock.git.checkout import mend, operation_in_progress
from paddock.git.repo import Repo, branch_of
from paddock.git.rescue import commit_of, dirty_files, loose_commits

_SAMPLE = 20
_EDGE = "-"


class HeadPlace(enum.Enum):
    ON_BRANCH = "on_branch"
    DETACHED = "detached"
    OTHER_BRANCH = "other_branch"
    UNBORN = "unborn"


@dataclass(frozen=True, slots=True)
class DiffStat:
    files: int = 0
    insertions: int = 0
    deletions: int = 0


@dataclass(frozen=True, slots=True)
class WorktreeFacts:
    """`head` is None on an unborn branch. `ahead` counts commits of `head` that `base` has not.

    `branch` is what HEAD is on (None: detached), `branch_head` where the attempt's own branch points (None:
    deleted). `stray` are commits made here that neither `head` nor any ref holds.
    """

    head: str | None
    place: HeadPlace
    branch: str | None
    branch_head: str | None
    ahead: int
    behind: int
    branch_ahead: int
    diff: DiffStat
    dirty_count: int
    dirty_sample: tuple[str, ...]
    operation: str | None
    stray: tuple[str, ...]


def inspect(repo: Repo, worktree: Path, branch: str, base: str) -> WorktreeFacts:
    """The state of `worktree`, whose attempt began on `branch` at commit `base`.

    PaddockError when it is no worktree of this repository any more.
    """
    admin = mend(repo, worktree)
    if admin is None:
        raise PaddockError(f"`{worktree}` is not a worktree of `{repo.common_dir}`")
    head = commit_of(worktree, "HEAD")
    branch_head = repo.resolve(f"refs/heads/{branch}")
    current = branch_of(admin)
    dirty = dirty_files(worktree)
    ahead, behind = _count_both(repo, base, head)
    branch_ahead = ahead if branch_head == head else _count_both(repo, base, branch_head)[0]
    stray = tuple(sha for sha in loose_commits(repo, worktree, admin) if sha != head)
    return WorktreeFacts(
        head=head,
        place=_place(head, current, branch),
        branch=current,
        branch_head=branch_head,
        ahead=ahead,
        behind=behind,
        branch_ahead=branch_ahead,
        diff=diffstat(repo, base, head) if head else DiffStat(),
        dirty_count=len(dirty.paths),
        dirty_sample=dirty.paths[:_SAMPLE],
        operation=operation_in_progress(admin),
        stray=stray,
    )


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


def _place(head: str | None, current: str | None, branch: str) -> HeadPlace:
    if head is None:
        return HeadPlace.UNBORN
    if current is None:
        return HeadPlace.DETACHED
    return HeadPlace.ON_BRANCH if current == branch else HeadPlace.OTHER_BRANCH


def _count_both(repo: Repo, base: str, head: str | None) -> tuple[int, int]:
    if head is None or head == base:
        return 0, 0
    behind, ahead = repo.git("rev-list", "--left-right", "--count", f"{base}...{head}").text.split("\t")
    return int(ahead), int(behind)
