"""Whether what a schedule has added is done: what overlap is decided by."""

from paddock.core.board import Board
from paddock.core.ids import TaskId
from paddock.core.schedules.model import Schedule
from paddock.core.tasks.task import DECIDED


def is_unfinished(board: Board, name: TaskId) -> bool:
    """A task that has failed has ended, and so have those that wait for it. A plan is unfinished as long as nobody has
    decided about it."""
    task = board.tasks[name]
    return (task.phase not in DECIDED and task.blocked_on is None) or task.plan_waits


def find_unfinished(board: Board, schedule: Schedule) -> TaskId | None:
    """The first unfinished task of its firings."""
    return next((name for name in schedule.unfinished if is_unfinished(board, name)), None)
