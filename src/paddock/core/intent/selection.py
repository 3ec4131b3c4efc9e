"""Which tasks, convoys and attempts people name, and which tasks a request for all of them applies to."""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from paddock.core.board import Board
from paddock.core.errors import NotFound, PaddockError
from paddock.core.ids import AttemptId, TaskId, parse_task, printable, task_number
from paddock.core.intent.obstacles import TaskAction, find_obstacle
from paddock.core.tasks.task import FINISHED, Attempt, Phase, Task

if TYPE_CHECKING:
    from paddock.core.filter.tasks import TaskFilter


class Bulk(StrEnum):
    """What can be requested for many tasks at once."""

    STOP = "stop"
    CANCEL = "cancel"
    RETRY = "retry"
    LAND = "land"
    MESSAGE = "message"


_ACTIONS = {
    Bulk.STOP: TaskAction.STOP,
    Bulk.CANCEL: TaskAction.CANCEL,
    Bulk.RETRY: TaskAction.RETRY,
    Bulk.LAND: TaskAction.APPROVE,
    Bulk.MESSAGE: TaskAction.MESSAGE,
}
_ONLY_IN: dict[Bulk, Collection[Phase]] = {
    Bulk.RETRY: {Phase.FAILED, Phase.BLOCKED},
    Bulk.LAND: {Phase.APPROVAL},
    Bulk.MESSAGE: frozenset(Phase) - FINISHED,
}
"""Where a person could name more tasks than are meant by all of them."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The tasks named, in that order; or all that a request applies to, of one convoy, in one phase, or that match a
    filter, where that is given."""

    named: tuple[TaskId, ...] = ()
    everything: bool = False
    convoy: str | None = None
    phase: str | None = None
    where: "TaskFilter | None" = None

    @property
    def in_bulk(self) -> bool:
        return self.everything or any(one is not None for one in (self.convoy, self.phase, self.where))


@dataclass(frozen=True, slots=True)
class RefusedTask:
    """One of several tasks that a request was made for."""

    task: TaskId
    error: PaddockError


def select_tasks(board: Board, wanted: Selection, request: Bulk) -> list[TaskId]:
    """Raises PaddockError for an unknown convoy; the request itself checks tasks that are named."""
    if not wanted.in_bulk:
        return list(dict.fromkeys(wanted.named))
    return [name for name in pick_tasks(board, wanted) if _applies(board, board.tasks[name], request)]


def pick_tasks(board: Board, wanted: Selection) -> list[TaskId]:
    """All that it names, whatever it is for, oldest first. Raises PaddockError for an unknown convoy."""
    if not wanted.in_bulk:
        return sorted(dict.fromkeys(wanted.named), key=task_number)
    if wanted.convoy is not None:
        require_convoy(board, wanted.convoy)
    among = None if wanted.convoy is None else board.members[wanted.convoy]
    names = wanted.where.pick(board, among) if wanted.where is not None else board.tasks if among is None else among
    return sorted((name for name in names if wanted.phase in (None, board.tasks[name].phase)), key=task_number)


def _applies(board: Board, task: Task, request: Bulk) -> bool:
    return task.phase in _ONLY_IN.get(request, Phase) and find_obstacle(board, task, _ACTIONS[request]) is None


def require_convoy(board: Board, name: str) -> None:
    if name not in board.convoys:
        raise NotFound(f"there is no convoy `{printable(name, 60)}`", "`paddock convoy list` lists them")


def attempt_named(board: Board, said: str) -> Attempt:
    """For a task, its last one. Raises PaddockError if there is none."""
    task = board.task(parse_task(said))
    if not task.attempts:
        raise PaddockError(f"task `{task.id}` has had no agent yet", "`paddock run` starts one when it is ready")
    wanted = AttemptId(said.strip().lower())
    chosen = [attempt for attempt in task.attempts if attempt.id == wanted]
    if "." in said and not chosen:
        raise NotFound(f"there is no attempt `{printable(said, 20)}`", f"`paddock show {task.id}` lists them")
    return chosen[0] if chosen else task.attempts[-1]
