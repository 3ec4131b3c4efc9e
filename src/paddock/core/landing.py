"""What the merge queue's events mean for tasks: queued, landed, sent back."""

from collections.abc import Iterator, Mapping

from paddock.core import events as ev
from paddock.core.ids import TaskId
from paddock.core.merge import events as qe
from paddock.core.merge.evolve import evolve
from paddock.core.merge.model import Decided, Outcome, Queue
from paddock.core.task import FINISHED, IllegalTransition, Phase, Task, move


def fold_queue_event(queue: Queue, tasks: Mapping[TaskId, Task], record: ev.Record) -> tuple[Queue, list[Task]]:
    """The queue after the event, and the tasks that moved with it."""
    event = record.event
    assert isinstance(event, qe.EVENT_TYPES)
    after = evolve(queue, event, record.at)
    moved = []
    if isinstance(event, qe.ChangeQueued) and (task := _task_of(tasks, event.change.task)) is not None:
        if task.phase in FINISHED or task.live_attempt is not None:
            raise IllegalTransition(task.id, task.phase, event)
        moved.append(move(task, Phase.QUEUED, record.at, "in the merge queue"))
    for decided in _newly_decided(queue, after):
        task = _task_of(tasks, decided.task)
        if task is not None and task.phase is Phase.QUEUED:
            moved.append(_decide(task, decided, record.at))
    return after, moved


def _task_of(tasks: Mapping[TaskId, Task], name: str | None) -> Task | None:
    return tasks.get(TaskId(name)) if name is not None else None


def _newly_decided(before: Queue, after: Queue) -> Iterator[Decided]:
    if after.decided is before.decided:
        return
    known = {(old.id, old.version) for old in before.decided}
    for decided in after.decided:
        if (decided.id, decided.version) not in known and decided.outcome is not Outcome.SUPERSEDED:
            yield decided


def _decide(task: Task, decided: Decided, at: float) -> Task:
    match decided.outcome:
        case Outcome.LANDED:
            return move(task, Phase.LANDED, at, f"landed in {(decided.commit or '')[:10]}")
        case Outcome.NOOP:
            return move(task, Phase.NOOP, at, "everything it does is in main already")
        case Outcome.CONFLICTED:
            paths = ", ".join(decided.paths[:5]) + (" …" if len(decided.paths) > 5 else "")
            whom = f" with {decided.against}" if decided.against else " with what has landed"
            return move(task, Phase.BLOCKED, at, f"conflicts{whom}: {paths}", f"paddock resolve {task.id}")
        case Outcome.REJECTED:
            return move(task, Phase.BLOCKED, at, f"rejected: {decided.reason}", f"paddock queue why {task.id}")
        case _:
            return move(task, Phase.APPROVAL, at, decided.reason or "taken out of the merge queue")
