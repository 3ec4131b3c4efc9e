"""What the merge queue's events are about in the world of tasks, and the words for it."""

from typing import TypeAlias, assert_never

from paddock.core import events as ev
from paddock.core.ids import TaskId
from paddock.core.merge import events as qe
from paddock.core.merge.model import Decided, Ending, Queue
from paddock.core.tasks.task import Phase, Task

LandingEvent: TypeAlias = (
    qe.ChangeQueued
    | qe.TrainLanded
    | qe.ChangeFoundEmpty
    | qe.ChangeConflicted
    | qe.ChangeRejected
    | qe.ChangeCancelled
    | qe.WorkLost
    | qe.WorkFound
)
"""What of the merge queue's events is part of the life of tasks."""


def tasks_concerned(queue: Queue, event: LandingEvent) -> tuple[TaskId, ...]:
    """Whose life the event is part of; `queue` is the one it happens to. Branches are no task's."""
    match event:
        case qe.ChangeQueued():
            found = [event.change.task]
        case qe.WorkLost() | qe.WorkFound():
            found = [*event.ids]
        case qe.TrainLanded():
            found = [_task_of(queue, member.id) for member in queue.ended[event.run].members]
        case qe.ChangeRejected() | qe.ChangeConflicted() | qe.ChangeCancelled() | qe.ChangeFoundEmpty():
            found = [_task_of(queue, event.id)]
        case _:
            assert_never(event)
    return tuple(TaskId(name) for name in dict.fromkeys(found) if name is not None)


def _task_of(queue: Queue, change: str) -> str | None:
    return queue.entries[change].change.task


def told_of_conflict(task: TaskId, paths: tuple[str, ...], against: str | None) -> tuple[str, str]:
    """The reason, and the command that helps; as of the others."""
    listed = ", ".join(paths[:5]) + (" …" if len(paths) > 5 else "")
    whom = f" with {against}" if against else " with what has landed"
    return f"conflicts{whom}: {listed}", f"paddock resolve {task}"


def told_of_rejection(task: TaskId, reason: str) -> tuple[str, str]:
    return f"rejected: {reason}", f"paddock queue why {task}"


def told_of_removal(task: TaskId, event: qe.ChangeCancelled) -> tuple[str, str]:
    unblock = f"paddock land {task}" if event.fell_with else ""
    return event.reason or "removed from the merge queue", look_then_undo(task) if event.undoes else unblock


def look_then_undo(task: TaskId) -> str:
    return f"paddock diff {task}, then paddock land {task} --undo"


def told_of_questions(task: TaskId, event: ev.ApprovalRequired) -> tuple[str, str]:
    undoes = [f"undoes {words}" for words in event.undoes]
    return "; ".join((*undoes, *event.concerns)), look_then_undo(task) if undoes else ""


def why_sent_back(decided: Decided, task: TaskId) -> tuple[str, str]:
    """Why a conflicted or rejected change needs a person, and the command that helps."""
    if decided.outcome is Ending.REJECTED:
        return told_of_rejection(task, decided.reason)
    return told_of_conflict(task, decided.paths, decided.against)


def next_step(decided: Decided) -> str:
    """What to do about a branch that left the queue; empty if nothing is left to do."""
    again = f"`paddock land --branch {decided.branch}`"
    match decided.outcome:
        case _ if not decided.branch:
            return ""
        case Ending.REJECTED:
            return f"fix it, then {again}; to test it again unchanged, run `paddock retry {decided.branch}`"
        case Ending.CONFLICTED:
            return f"`paddock resolve {decided.branch}`"
        case Ending.CANCELLED if decided.against:
            return f"fix `{decided.against}`, rebase onto it, then {again}"
        case Ending.CANCELLED:
            return f"{again} queues it again"
        case _:
            return ""


def unchanged_since(queue: Queue, task: Task) -> Decided | None:
    """The verdict on exactly this head, when the queue has sent it back and it waits for approval once more."""
    if task.phase is not Phase.APPROVAL or task.head is None:
        return None
    last = next((old for old in reversed(queue.decided) if old.task == task.id), None)
    if last is None or last.head != task.head or last.outcome not in (Ending.CONFLICTED, Ending.REJECTED):
        return None
    return last
