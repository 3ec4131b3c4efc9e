"""What became of tasks that somebody waited for, as JSON."""

import msgspec

from paddock.core.ids import printable
from paddock.core.tasks.awaited import GoalStanding, WaitStatus
from paddock.core.tasks.needs import need_of
from paddock.core.tasks.task import Task
from paddock.views.document import Document

_WORDS = {WaitStatus.REACHED: "reached", WaitStatus.ELSEWHERE: "elsewhere", WaitStatus.TIMED_OUT: "timeout"}


class AwaitedTask(msgspec.Struct, frozen=True):
    """`standing` is `reached`, `elsewhere` or `under way`; `unblock` is the command that it needs."""

    id: str
    title: str
    phase: str
    need: str | None
    reason: str
    unblock: str
    standing: str


class AwaitedView(Document, frozen=True, kw_only=True):
    """`status` is `reached`, `elsewhere` or `timeout`."""

    status: str
    tasks: tuple[AwaitedTask, ...]


def view_awaited(status: WaitStatus, tasks: list[tuple[Task, GoalStanding]]) -> AwaitedView:
    return AwaitedView(status=_WORDS[status], tasks=tuple(_row(*one) for one in tasks))


def _row(task: Task, standing: GoalStanding) -> AwaitedTask:
    need = need_of(task)
    return AwaitedTask(
        id=task.id,
        title=printable(task.title, 300),
        phase=task.phase.value,
        need=need.value if need is not None else None,
        reason=printable(task.reason, 300),
        unblock=task.unblock,
        standing=standing.value,
    )
