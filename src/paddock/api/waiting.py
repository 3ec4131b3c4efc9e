"""Waiting until tasks have come to rest, by the log's wake-ups."""

import time
from collections.abc import Collection, Iterator
from contextlib import closing

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import Record
from paddock.core.ids import TaskId, some_names
from paddock.core.tasks.awaited import Until
from paddock.fleet.workspace import Workspace
from paddock.store.protocol import Query

LOOK_SECONDS = 2.0
"""Between two looks at the log where no wake-up came."""


class WaitTimedOut(PaddockError):
    """The time is over, and some of the tasks are not where they were waited for."""


def wait_for(workspace: Workspace, names: Collection[TaskId], until: Until, timeout_seconds: float | None) -> Board:
    """The first board on which it holds for all of them. Raises WaitTimedOut."""
    missing: tuple[TaskId, ...] = ()
    for board in boards(workspace, timeout_seconds):
        missing = tuple(name for name in names if not until.holds(board.task(name)))
        if not missing:
            return board
    raise WaitTimedOut(
        f"not {until.value} after {timeout_seconds:g}s: {some_names(missing)}",
        "`paddock status` shows what they wait for",
    )


def boards(workspace: Workspace, timeout_seconds: float | None) -> Iterator[Board]:
    """The board, then again after every change, until the time is over: the last one is as it is then. Each is good
    until the next is asked for."""
    give_up_at = None if timeout_seconds is None else time.monotonic() + timeout_seconds
    with closing(workspace.read()) as store, store.listen() as listener:
        while True:
            yield store.board()
            left = LOOK_SECONDS if give_up_at is None else give_up_at - time.monotonic()
            if left <= 0:
                return
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
