"""What stands in the way of a request about a task: one predicate each, for the intents and for who offers them.

They know the board and nothing else. What git has to say about an approval (whether the branch is still there, merges
and is not in main yet) is found out when it is made: see `head_to_land`.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.ids import printable, some_names
from paddock.core.tasks.life import may_retry
from paddock.core.tasks.task import FINISHED, Attempt, Hold, Phase, Task
from paddock.core.tasks.vocabulary import Outcome

FOLLOWED = frozenset({Phase.LANDED, Phase.CANCELLED})
"""Where nothing more can be said to a task's own agent: what is to be done next is another task."""


class TaskAction(StrEnum):
    """What people may ask about a task."""

    APPROVE = "approve"
    REJECT = "reject"
    RETRY = "retry"
    STOP = "stop"
    CANCEL = "cancel"
    MESSAGE = "message"
    EDIT = "edit"
    DIFF = "diff"
    RESOLVE = "resolve"
    CONNECT = "connect"
    HANDBACK = "handback"


@dataclass(frozen=True, slots=True)
class Obstacle:
    """`why` is for who looks at the task, `message` for who does not: it names the task."""

    why: str
    message: str
    hint: str | None = None


def find_obstacle(board: Board, task: Task, action: TaskAction) -> Obstacle | None:
    return _FINDERS[action](board, task)


def require_possible(board: Board, task: Task, action: TaskAction) -> None:
    """Raises PaddockError."""
    if (obstacle := find_obstacle(board, task, action)) is not None:
        raise PaddockError(obstacle.message, obstacle.hint)


def possible_actions(board: Board, task: Task) -> tuple[TaskAction, ...]:
    return tuple(action for action in TaskAction if find_obstacle(board, task, action) is None)


def _approve(board: Board, task: Task) -> Obstacle | None:
    if task.phase is Phase.QUEUED:
        return _of(task, f"is already in the merge queue{_approved_by(board, task)}", "see `paddock queue`")
    if task.role.only_reads:
        return _of(task, f"only reads, for its {task.role.value}: there is nothing to land", _look(task))
    if task.phase is Phase.REVIEWING and task.live_attempt is not None:
        first = f"wait for its verdict, or run `paddock stop {task.id}` first to land it without"
        return _of(task, f"is in review by `{task.live_attempt.id}`", first)
    if task.phase not in {Phase.APPROVAL, Phase.BLOCKED, Phase.FAILED} or task.branch is None:
        return _of(task, f"{task.phase.words}: there is nothing to land", _look(task))
    if (live := task.live_attempt) is not None:
        still = f"`{live.id}` is still running"
        return Obstacle(still, still, f"`paddock stop {task.id}` ends it")
    if blocking := board.reviews.blocking_of(task.id):
        held = f"is held by {some_names(tuple(one.id for one in blocking), 4)}: {printable(blocking[0].claim, 80)}"
        return _of(task, held, f"`paddock findings {task.id}` shows them; reject it, or waive what does not matter")
    return None


def _approved_by(board: Board, task: Task) -> str:
    entry = board.queue.entries.get(task.id)
    who = entry.change.approved_by if entry is not None else ""
    return f", approved by {who}" if who else ""


def _reject(_board: Board, task: Task) -> Obstacle | None:
    if task.phase is Phase.QUEUED:
        hint = f"run `paddock queue cancel {task.id}` first, then reject it"
        return _of(task, "is in the merge queue", hint, f"it is in the merge queue: {hint}")
    if task.phase is not Phase.APPROVAL or task.head is None:
        return _of(task, f"{task.phase.words}: there is nothing to reject", _look(task))
    return None


def _retry(_board: Board, task: Task) -> Obstacle | None:
    if (live := task.live_attempt) is not None and task.phase not in {Phase.RUNNING, Phase.REVIEWING}:
        stopping = f"`{live.id}` is still being stopped"
        return Obstacle(stopping, f"task `{task.id}` cannot be retried yet: {stopping}")
    if task.blocked_on is not None:
        hint = f"run `{task.unblock}`, or `paddock edit {task.id} --after …`"
        return _of(task, task.reason, hint, f"it {task.reason}: {hint}")
    if not may_retry(task):
        return _of(task, f"{task.phase.words}: there is nothing to retry", _look(task))
    return None


def _stop(_board: Board, task: Task) -> Obstacle | None:
    if task.live_attempt is None:
        return _of(task, f"{task.phase.words}: no agent is working on it", "see `paddock status`")
    return None


def _cancel(_board: Board, task: Task) -> Obstacle | None:
    return _finished(task, "cancelled")


def _edit(_board: Board, task: Task) -> Obstacle | None:
    return _finished(task, "edited")


def _finished(task: Task, asked: str) -> Obstacle | None:
    if task.phase not in FINISHED:
        return None
    return _of(task, f"cannot be {asked}: it {task.phase.words}", _look(task), f"it {task.phase.words}")


def _message(_board: Board, task: Task) -> Obstacle | None:
    if not task.started:
        hint = f"change its brief: `paddock edit {task.id} --brief …`"
        return _of(task, "has no agent yet", hint, "it has no agent yet: change its brief instead")
    if task.phase is Phase.QUEUED:
        return _of(task, f"{task.phase.words}: its agent is gone", _unqueue(task))
    if task.phase in FOLLOWED:
        return _of(task, f"{task.phase.words}: its agent is gone", _fork(task))
    return None


def _diff(_board: Board, task: Task) -> Obstacle | None:
    if task.role.only_reads:
        return _of(task, f"only reads, for its {task.role.value}: it changes nothing", _look(task))
    if not task.attempts:
        return _of(task, "has had no agent yet", "`paddock run` starts one when it is ready")
    return None


def _resolve(_board: Board, task: Task) -> Obstacle | None:
    if task.phase is not Phase.BLOCKED or task.head is None or task.branch is None or task.role.only_reads:
        return _of(task, f"{task.phase.words}: there is no conflict to resolve", _look(task))
    return None


def _connect(_board: Board, task: Task) -> Obstacle | None:
    live = task.live_attempt
    if task.phase is Phase.CANCELLED and live is not None:
        return _ending(task)
    if task.phase in FOLLOWED:
        return _of(task, task.phase.words, _fork(task))
    if task.phase is Phase.QUEUED:
        return _of(task, "is in the merge queue", _unqueue(task))
    if task.worker is None:
        return _of(task, "has no agent yet", "`paddock run` starts one when it is ready")
    if live is None:
        return None
    if live.role is not task.role:
        first = f"wait for its verdict, or run `paddock stop {task.id}` first"
        return _of(task, f"is in review by `{live.id}`", first)
    if live.held is not None:
        held = held_words(live, live.held)
        return Obstacle(held, held, f"`paddock connect {task.id} --watch` shows what they do, without a say in it")
    return _ending(task)


def _ending(task: Task) -> Obstacle | None:
    """Its attempt is on its way out: nothing more can be asked of it."""
    live = task.live_attempt
    assert live is not None
    if task.phase is Phase.CANCELLED:
        return _of(task, f"was cancelled: `{live.id}` is still being stopped", _look(task))
    if live.stop_requested is not None:
        stopping = f"`{live.id}` is being stopped by {printable(live.stop_requested, 40)}"
        return Obstacle(stopping, stopping, "wait until it has ended: `paddock status` tells")
    return None


def _handback(board: Board, task: Task) -> Obstacle | None:
    live = task.live_attempt
    if live is not None and live.held is not None:
        return _ending(task)
    if live is None and was_left(task):
        return _message(board, task)
    return _of(task, "is held by nobody: there is nothing to hand back", f"`paddock message {task.id} …` tells it more")


def was_left(task: Task) -> bool:
    """Whether a person has interrupted its agent and left, without saying whether that should go on."""
    last = task.worker
    return task.phase is Phase.BLOCKED and last is not None and last.outcome is Outcome.LEFT and last.found is None


def held_words(attempt: Attempt, hold: Hold) -> str:
    return f"`{attempt.id}` has been held by {printable(hold.by, 40)} since {since_words(hold.since)}"


def since_words(at: float) -> str:
    return time.strftime("%d %b %H:%M UTC", time.gmtime(at)).lstrip("0")


def _of(task: Task, predicate: str, hint: str, why: str = "") -> Obstacle:
    return Obstacle(why or f"it {predicate}", f"task `{task.id}` {predicate}", hint)


def _unqueue(task: Task) -> str:
    return f"take it out first: `paddock queue cancel {task.id}`"


def _fork(task: Task) -> str:
    return f"go on from it in a new task: `paddock fork {task.id} …`"


def _look(task: Task) -> str:
    return f"see `paddock show {task.id}`"


_FINDERS: dict[TaskAction, Callable[[Board, Task], Obstacle | None]] = {
    TaskAction.APPROVE: _approve,
    TaskAction.REJECT: _reject,
    TaskAction.RETRY: _retry,
    TaskAction.STOP: _stop,
    TaskAction.CANCEL: _cancel,
    TaskAction.MESSAGE: _message,
    TaskAction.EDIT: _edit,
    TaskAction.DIFF: _diff,
    TaskAction.RESOLVE: _resolve,
    TaskAction.CONNECT: _connect,
    TaskAction.HANDBACK: _handback,
}
