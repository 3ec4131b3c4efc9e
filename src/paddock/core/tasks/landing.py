"""What the merge queue's events mean for tasks: queued, landed, sent back."""

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from paddock.core import events as ev
from paddock.core.ids import TaskId
from paddock.core.merge import events as qe
from paddock.core.merge.evolve import evolve
from paddock.core.merge.model import Decided, Ending, Queue
from paddock.core.tasks.task import FINISHED, Phase, Task, illegal, move

LOST = "landed, then lost from main"


def fold_queue_event(queue: Queue, tasks: Mapping[TaskId, Task], record: ev.Record) -> tuple[Queue, list[Task]]:
    """The queue after the event, and the tasks that moved with it."""
    event = record.event
    assert isinstance(event, qe.EVENT_TYPES)
    after = evolve(queue, event, record.at)
    moved = []
    if isinstance(event, qe.ChangeQueued) and (task := _task_of(tasks, event.change.task)) is not None:
        if task.phase in FINISHED or task.live_attempt is not None:
            raise illegal(task.id, task.phase, event)
        moved.append(move(task, Phase.QUEUED, record.at, "in the merge queue"))
    if isinstance(event, qe.WorkLost | qe.WorkFound):
        moved += _lose_or_find(tasks, event, record.at)
        return after, moved
    for decided in _newly_decided(queue, after):
        task = _task_of(tasks, decided.task)
        if task is not None and task.phase is Phase.QUEUED:
            moved.append(_decide(task, decided, record.at))
    return after, moved


def _task_of(tasks: Mapping[TaskId, Task], name: str | None) -> Task | None:
    return tasks.get(TaskId(name)) if name is not None else None


def _lose_or_find(tasks: Mapping[TaskId, Task], event: qe.WorkLost | qe.WorkFound, at: float) -> Iterator[Task]:
    for name in dict.fromkeys(event.ids):
        task = _task_of(tasks, name)
        if task is None:
            continue
        if isinstance(event, qe.WorkFound) and task.lost:
            yield move(task, Phase.LANDED, at, f"in main again, at {event.main[:10]}")
        elif isinstance(event, qe.WorkLost) and task.phase is Phase.LANDED:
            yield replace(move(task, Phase.BLOCKED, at, LOST, f"paddock land {task.id}"), lost=True)


def _newly_decided(before: Queue, after: Queue) -> Iterator[Decided]:
    if after.decided is before.decided:
        return
    known = {(old.id, old.version) for old in before.decided}
    for decided in after.decided:
        if (decided.id, decided.version) not in known and decided.outcome is not Ending.SUPERSEDED:
            yield decided


def _decide(task: Task, decided: Decided, at: float) -> Task:
    match decided.outcome:
        case Ending.LANDED:
            return move(task, Phase.LANDED, at, f"landed in {(decided.commit or '')[:10]}")
        case Ending.NOOP:
            return move(task, Phase.NOOP, at, "main already has everything it changes")
        case Ending.CONFLICTED | Ending.REJECTED:
            return move(task, Phase.BLOCKED, at, *why_sent_back(decided, task.id))
        case _:
            unblock = f"paddock land {task.id}" if decided.against else ""
            return move(task, Phase.APPROVAL, at, decided.reason or "removed from the merge queue", unblock)


def why_sent_back(decided: Decided, task: TaskId) -> tuple[str, str]:
    """Why a change that was conflicted or rejected is a person's, and the command that helps."""
    if decided.outcome is Ending.REJECTED:
        return f"rejected: {decided.reason}", f"paddock queue why {task}"
    paths = ", ".join(decided.paths[:5]) + (" …" if len(decided.paths) > 5 else "")
    whom = f" with {decided.against}" if decided.against else " with what has landed"
    return f"conflicts{whom}: {paths}", f"paddock resolve {task}"


def next_step(decided: Decided) -> str:
    """What whoever queued a branch can do about its end; empty where nothing is left to do."""
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
