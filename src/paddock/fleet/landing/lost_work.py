"""Someone else moved main: which landed tasks are no longer in it, and which are in it again."""

from paddock.core.board import Board
from paddock.core.ids import TaskId
from paddock.core.merge import events as qe
from paddock.core.merge.model import Ending
from paddock.core.tasks.task import Phase
from paddock.git.landing.lost import MainsCompared


def loss_events(board: Board, main: str, compared: MainsCompared) -> list[qe.QueueEvent]:
    """What follows from main being at `main`, and is new to the board."""
    lost = tuple(name for name in compared.lost if _has_landed(board, name))
    found = tuple(name for name in compared.found if _is_lost(board, name))
    events: list[qe.QueueEvent] = []
    if lost:
        events.append(qe.WorkLost(main, lost))
    if found:
        events.append(qe.WorkFound(main, found))
    return events


def _has_landed(board: Board, name: str) -> bool:
    task = board.tasks.get(TaskId(name))
    if task is not None:
        return task.phase is Phase.LANDED
    return any(old.id == name and old.outcome is Ending.LANDED and not old.lost for old in board.queue.decided)


def _is_lost(board: Board, name: str) -> bool:
    task = board.tasks.get(TaskId(name))
    return task.lost if task is not None else any(old.id == name and old.lost for old in board.queue.decided)
