"""Waiting until tasks have come to rest, by the log's wake-ups."""

import time
from collections.abc import Collection, Iterator
from contextlib import closing
from enum import StrEnum

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import Record
from paddock.core.ids import TaskId, some_names
from paddock.core.tasks.needs import need_of
from paddock.core.tasks.task import FINISHED, Phase, Task
from paddock.fleet.workspace import Workspace
from paddock.store.protocol import Query

LOOK_SECONDS = 2.0
"""Between two looks at the log where no wake-up came."""
_UNDER_WAY = frozenset({Phase.WAITING, Phase.READY, Phase.RUNNING, Phase.REVIEWING, Phase.QUEUED})


class WaitTimedOut(PaddockError):
    """The time is over, and some of the tasks are not where they were waited for."""


class Until(StrEnum):
    """`SETTLED`: nothing more happens to it without a person. `FINISHED`: it landed, is done, failed, was cancelled or
    needed no change."""

    SETTLED = "settled"
    FINISHED = "finished"

    def holds(self, task: Task) -> bool:
        if self is Until.FINISHED:
            return task.phase in FINISHED or task.phase is Phase.FAILED
        return task.phase not in _UNDER_WAY or need_of(task) is not None


def wait_for(workspace: Workspace, names: Collection[TaskId], until: Until, timeout_seconds: float | None) -> Board:
    """The first board on which it holds for all of them. Raises WaitTimedOut."""
    give_up_at = None if timeout_seconds is None else time.monotonic() + timeout_seconds
    with closing(workspace.read()) as store, store.listen() as listener:
        while True:
            board = store.board()
            missing = [name for name in names if not until.holds(board.task(name))]
            if not missing:
                return board
            left = LOOK_SECONDS if give_up_at is None else give_up_at - time.monotonic()
            if left <= 0:
                raise WaitTimedOut(
                    f"not {until.value} after {timeout_seconds:g}s: {some_names(tuple(missing))}",
                    "`paddock status` shows what they wait for",
                )
            listener.wait(min(left, LOOK_SECONDS))


def follow_log(workspace: Workspace, query: Query, timeout_seconds: float | None) -> Iterator[Record]:
    """The records of the query, then each new one, until the time is over."""
    give_up_at = None if timeout_seconds is None else time.monotonic() + timeout_seconds
    seen = query.after
    with closing(workspace.read()) as store, store.listen() as listener:
        while True:
            head = store.head()
            for record in store.records(Query(seen, None, query.task, query.kind)):
                seen = max(seen, record.seq)
                yield record
            seen = max(seen, head)
            left = LOOK_SECONDS if give_up_at is None else give_up_at - time.monotonic()
            if left <= 0:
                return
            listener.wait(min(left, LOOK_SECONDS))
