"""What a task needs a person for, and who needs one first: the same list on every edge."""

from collections.abc import Collection
from enum import StrEnum

from paddock.core.board import Board
from paddock.core.ids import TaskId, task_number
from paddock.core.tasks.task import NEEDS_HUMAN, Phase, Task
from paddock.core.tasks.vocabulary import Outcome


class Need(StrEnum):
    """In the order in which people are asked: what one word settles comes first."""

    APPROVE = "approve"
    ANSWER = "answer"
    """Its agent has asked something, or stopped and said why: it goes on with a message. Or it has made a plan:
    somebody decides about it."""
    BLOCKED = "blocked"
    FAILED = "failed"


_ASKING = frozenset({Phase.READY, Phase.RUNNING, Phase.BLOCKED, Phase.FAILED})
_RANKS = {need: rank for rank, need in enumerate(Need)}


def need_of(task: Task) -> Need | None:
    """None for a task that needs nobody, or only what another task needs."""
    asks = task.question and task.phase in _ASKING and task.blocked_on is None
    if asks or task.plan_waits:
        return Need.ANSWER
    if task.phase not in NEEDS_HUMAN or task.blocked_on is not None:
        return None
    if task.phase is Phase.APPROVAL:
        return Need.APPROVE
    if task.phase is Phase.FAILED:
        return Need.FAILED
    return Need.ANSWER if _has_refused(task) else Need.BLOCKED


def _has_refused(task: Task) -> bool:
    """Its last attempt blocked it with a refusal, and nothing has happened since."""
    last = task.worker
    return last is not None and last.outcome is Outcome.REFUSED and last.ended == task.since


def needs_of(board: Board, among: Collection[TaskId] | None = None) -> list[TaskId]:
    """The tasks that need a person, of these or of all, most easily settled first, then oldest first."""
    found = []
    asking = (name for name in board.live if board.tasks[name].question)
    for name in dict.fromkeys((*board.needy, *asking)):
        if among is not None and name not in among:
            continue
        task = board.tasks[name]
        if (need := need_of(task)) is not None:
            found.append((_RANKS[need], task.since, task_number(name), name))
    return [name for *_, name in sorted(found)]


def next_command(task: Task) -> str:
    """What helps a task that needs a person and does not say so itself (`Task.unblock`); empty where nothing does."""
    match task.phase:
        case Phase.APPROVAL:
            return f"paddock diff {task.id}, then paddock land {task.id}"
        case Phase.DONE if task.plan_waits:
            return f"paddock plan --show {task.id}, then paddock plan --accept {task.id}"
        case Phase.FAILED | Phase.BLOCKED:
            return f"paddock show {task.id}, then paddock retry {task.id}"
        case _:
            return ""
