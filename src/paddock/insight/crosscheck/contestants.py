"""Whose tests can be run against whose work: attempts that were to do the same, with commits that are still there."""

from collections.abc import Sequence
from dataclasses import dataclass

from paddock.core.board import Board
from paddock.core.errors import Misuse, NotFound
from paddock.core.ids import AttemptId, parse_attempt, parse_task
from paddock.core.tasks.task import Attempt
from paddock.core.tasks.vocabulary import Role
from paddock.git.crossing import Edits, read_edits
from paddock.git.repo import Repo
from paddock.insight.file_class import FileClass, class_of_file

MOST_CONTESTANTS = 8
"""Of which each meets each: 64 runs of CI."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """`tests` are the test files that it changed, `others` whether it changed anything else."""

    name: str
    edits: Edits
    tests: tuple[str, ...]
    others: bool


@dataclass(frozen=True, slots=True)
class LeftOut:
    name: str
    why: str


def is_test(path: str) -> bool:
    return class_of_file(path) is FileClass.TEST


def name_attempts(board: Board, names: Sequence[str]) -> list[Attempt]:
    """All of a task's, or those that are named. Raises Misuse and NotFound."""
    found: dict[AttemptId, Attempt] = {}
    for name in names:
        task = board.task(parse_task(name))
        only = parse_attempt(name) if "." in name else None
        wanted = [one for one in task.attempts if only is None or one.id == only]
        if not wanted and only is not None:
            raise NotFound(f"there is no attempt `{only}`", f"`paddock show {task.id}` lists those of its task")
        found.update((one.id, one) for one in wanted)
    return list(found.values())


def find_contestants(repo: Repo, attempts: Sequence[Attempt]) -> tuple[list[Contestant], list[LeftOut]]:
    """The newest that have work of their own, and why each of the others is not among them. Raises Misuse where there
    are not two."""
    found: dict[str, Contestant] = {}
    left: list[LeftOut] = []
    for attempt in reversed(attempts):
        why = _why_not(repo, attempt, found)
        if not why and len(found) == MOST_CONTESTANTS:
            why = f"only the newest {MOST_CONTESTANTS} are compared"
        if why:
            left.append(LeftOut(attempt.id, why))
            continue
        assert attempt.head is not None
        found[attempt.head] = _contestant(repo, attempt, attempt.head)
    if len(found) < 2:
        alone = [f"{one.name} is the only one" for one in found.values()]
        others = [f"{one.name} {one.why}" for one in left[:MOST_CONTESTANTS]]
        words = "; ".join([*alone, *others]) or "there are no attempts"
        raise Misuse(
            f"it takes two attempts with work of their own to compare: {words}",
            "name attempts of other tasks too: `paddock traces crosscheck t3.1 t7.1`",
        )
    return list(reversed(found.values())), list(reversed(left))


def _contestant(repo: Repo, attempt: Attempt, head: str) -> Contestant:
    edits = read_edits(repo, repo.merge_base(attempt.base, head) or attempt.base, head)
    tests = tuple(path for path in edits.files if is_test(path))
    return Contestant(attempt.id, edits, tests, len(tests) < len(edits.files))


def _why_not(repo: Repo, attempt: Attempt, found: dict[str, Contestant]) -> str:
    """Empty if it can be compared."""
    if attempt.role is not Role.WORK:
        return "was not to change anything"
    if attempt.head is None or attempt.head == attempt.base:
        return "has no commits"
    if repo.resolve(attempt.head) is None or repo.resolve(attempt.base) is None:
        return "has commits that are not in this repository any more"
    twin = found.get(attempt.head)
    return f"has the same commits as {twin.name}" if twin is not None else ""
