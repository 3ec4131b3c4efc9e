"""Which changes wait for a person's decision, and in which order they are best looked at."""

from dataclasses import dataclass

from paddock.core.board import Board
from paddock.core.ids import TaskId, task_number
from paddock.core.tasks.task import Phase, Task


@dataclass(frozen=True, slots=True)
class WaitingChange:
    """`ready`: nothing is known that speaks against landing it as it is."""

    task: TaskId
    head: str
    ready: bool


def waiting_changes(board: Board, convoy: str | None = None) -> list[WaitingChange]:
    """What is ready to land first, then what somebody asks about, then what could not land or pass its review. Within
    these what has the highest priority, then a convoy's together, then what waits longest."""
    tasks = [board.tasks[name] for name in board.needy]
    found = [task for task in tasks if _waits(task) and (convoy is None or task.convoy == convoy)]
    first = {task.convoy: task.since for task in sorted(found, key=lambda one: -one.since)}
    ordered = sorted(
        found,
        key=lambda one: (_rank(board, one), -one.priority, first[one.convoy], one.since, task_number(one.id)),
    )
    return [WaitingChange(task.id, str(task.head), _rank(board, task) == 0) for task in ordered]


def is_ready(board: Board, task: Task) -> bool:
    return _waits(task) and _rank(board, task) == 0


def _waits(task: Task) -> bool:
    return task.head is not None and task.phase in (Phase.APPROVAL, Phase.BLOCKED) and task.live_attempt is None


def _rank(board: Board, task: Task) -> int:
    if task.phase is not Phase.APPROVAL:
        return 2
    return int(task.questioned == task.head or bool(board.reviews.blocking_of(task.id)))
