"""What the Python API returns beside the views that every edge has. Fields are only ever added."""

from typing import Any

import msgspec

from paddock.core.events import Record
from paddock.core.tasks.needs import need_of
from paddock.core.tasks.task import Task
from paddock.views.log.records import view_record


class LoggedEvent(msgspec.Struct, frozen=True):
    """A record of the log; docs/reference/events.md tells what `body` holds for each `kind`."""

    seq: int
    at: str
    actor: str
    kind: str
    task: str | None
    attempt: str | None
    body: dict[str, Any]


class TaskResult(msgspec.Struct, frozen=True):
    """What became of a task. `need` is what it needs a person for, if anything; `answer` is what a task that only
    reads has to say, None for one that delivers commits."""

    id: str
    title: str
    phase: str
    reason: str
    need: str
    branch: str | None
    head: str | None
    commits: int
    answer: str | None


class Queued(msgspec.Struct, frozen=True):
    """A change that was put into the merge queue."""

    id: str
    version: int
    head: str
    waits_on: tuple[str, ...]


def tell_event(record: Record) -> LoggedEvent:
    shown = view_record(record)
    body = msgspec.json.decode(bytes(shown.body), type=dict[str, Any])
    return LoggedEvent(shown.seq, shown.at, shown.actor, shown.kind, shown.task, shown.attempt, body)


def tell_result(task: Task, answer: str | None) -> TaskResult:
    need, worker = need_of(task), task.worker
    return TaskResult(
        id=task.id,
        title=task.title,
        phase=task.phase.value,
        reason=task.reason,
        need=need.value if need is not None else "",
        branch=task.branch,
        head=task.head,
        commits=worker.commits if worker is not None else 0,
        answer=answer,
    )
