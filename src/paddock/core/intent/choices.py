"""What people may ask for about a task now, what each would do, and why the rest cannot be.

Choices ask what the intents ask (`core/intent/obstacles.py`), so what is offered is not refused. Only git knows more,
about an approval of what does not wait for one.
"""

from collections.abc import Callable
from dataclasses import dataclass

from paddock.core.board import Board
from paddock.core.ids import some_names
from paddock.core.intent.obstacles import TaskAction, find_obstacle
from paddock.core.tasks.task import FINISHED, Phase, Task


@dataclass(frozen=True, slots=True)
class Choice:
    """`why` says what it will do if `allowed`, else what stands in its way."""

    action: str
    allowed: bool
    why: str


def choices_of(board: Board, task: Task) -> tuple[Choice, ...]:
    found = []
    for action in TaskAction:
        obstacle = find_obstacle(board, task, action)
        words = obstacle.why if obstacle is not None else _EFFECTS[action](board, task)
        found.append(Choice(action.value, obstacle is None, words))
    return tuple(found)


def _approved(_board: Board, task: Task) -> str:
    if task.phase is Phase.APPROVAL and task.head is not None:
        return f"queues {task.head[:10]}; it lands when its tests pass"
    return "queues what its branch has now, if that is not in main yet and merges"


def _rejected(_board: Board, _task: Task) -> str:
    return "its agent tries again with your message; without one a new attempt starts"


def _retried(_board: Board, task: Task) -> str:
    if task.phase is Phase.READY:
        return "ends its pause: an attempt may start at once"
    if task.in_review:
        return "has its change reviewed again"
    if task.phase in FINISHED:
        return "opens it again with a new attempt"
    return "starts another attempt"


def _stopped(_board: Board, task: Task) -> str:
    live = task.live_attempt
    assert live is not None
    if live.stop_requested is not None:
        return f"{live.id} is already being stopped"
    if live.held is not None:
        return f"ends what {live.held.by} does in {live.id}; its worktree and its commits are kept"
    return f"ends {live.id}; its worktree and its commits are kept"


def _cancelled(board: Board, task: Task) -> str:
    live = task.live_attempt
    first = f"stops {live.id} and closes the task" if live is not None else "closes the task"
    waiting = [name for name in board.dependents.get(task.id, ()) if board.tasks[name].phase not in FINISHED]
    then = f"; blocks {some_names(tuple(waiting))}" if waiting else ""
    return f"{first}; its commits are kept{then}"


def _heard(_board: Board, task: Task) -> str:
    if (live := task.live_attempt) is not None and live.held is not None:
        return f"the agent hears it when {live.held.by} hands it back"
    if task.options:
        return "answers what it waits for: one of the options"
    if live is not None:
        return "the agent hears it at the end of its turn, or sooner if its engine can"
    if task.phase in (Phase.READY, Phase.WAITING):
        return "its next attempt begins with it"
    return "its agent is started again with it"


def _edited(_board: Board, task: Task) -> str:
    if (live := task.live_attempt) is not None:
        return f"title, priority, paths and order; brief, agent, engine and kind are fixed until {live.id} ends"
    return "changes what the next attempt is told, who takes it and when"


def _shown(_board: Board, _task: Task) -> str:
    return "shows what would land"


def _resolved(_board: Board, task: Task) -> str:
    return f"opens a worktree that merges main into {task.branch}, for you to resolve what conflicts"


def _connected(_board: Board, task: Task) -> str:
    if (live := task.live_attempt) is not None:
        return f"ends the turn of {live.id}, and lets you work with its agent in a terminal"
    return "opens its conversation again, for you to work with its agent in a terminal"


def _handed_back(_board: Board, _task: Task) -> str:
    return "its agent goes on, with your message if you have one"


_EFFECTS: dict[TaskAction, Callable[[Board, Task], str]] = {
    TaskAction.APPROVE: _approved,
    TaskAction.REJECT: _rejected,
    TaskAction.RETRY: _retried,
    TaskAction.STOP: _stopped,
    TaskAction.CANCEL: _cancelled,
    TaskAction.MESSAGE: _heard,
    TaskAction.EDIT: _edited,
    TaskAction.DIFF: _shown,
    TaskAction.RESOLVE: _resolved,
    TaskAction.CONNECT: _connected,
    TaskAction.HANDBACK: _handed_back,
}
