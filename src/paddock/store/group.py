"""Group commit: the writers of one event loop share a transaction and its sync to disk.

Everything submitted in one turn of the loop is written together. The commit runs on the loop itself:
handing it to a thread costs more than the commit, and with one thread there is one board that the
daemon reads and writes. Each writer gets its own records or its own refusal, once they are durable.

Where the disk is full the writers wait, and are written when there is room. A second after a write it is put to rest.
"""

import asyncio
from collections.abc import Callable

from paddock.core.errors import PaddockError
from paddock.core.events import Record
from paddock.store.protocol import Author, Decide, LogFull, Store

LARGEST_GROUP = 256
SETTLE_SECONDS = 1.0
FIRST_PAUSE_SECONDS = 0.25
LONGEST_PAUSE_SECONDS = 5.0

_Job = tuple[Decide, Author, "asyncio.Future[list[Record]]"]


class GroupWriter:
    """`tell` hears why nothing can be written for now, and an empty word when that is over."""

    def __init__(self, store: Store, tell: Callable[[str], None] = lambda _problem: None) -> None:
        self.tell = tell
        self._store = store
        self._waiting: list[_Job] = []
        self._pause_seconds = 0.0
        self._retry: asyncio.TimerHandle | None = None
        self._settling: asyncio.TimerHandle | None = None
        self._patient = True
        self._unreadable: PaddockError | None = None

    async def append(self, decide: Decide, author: Author) -> list[Record]:
        """Raises what `decide` raises, or what kept the whole group from being written."""
        loop = asyncio.get_running_loop()
        result: asyncio.Future[list[Record]] = loop.create_future()
        self._waiting.append((decide, author, result))
        if len(self._waiting) == 1:
            loop.call_soon(self._write)
        return await result

    def stop_waiting(self) -> None:
        """Whoever waits for room is refused from now on."""
        self._patient = False
        if self._retry is not None:
            self._retry.cancel()
            self._write()

    def _write(self) -> None:
        loop = asyncio.get_running_loop()
        self._retry = None
        if self._pause_seconds:
            self._waiting = [job for job in self._waiting if not job[2].cancelled()]
        group, self._waiting = self._waiting[:LARGEST_GROUP], self._waiting[LARGEST_GROUP:]
        results: list[list[Record] | Exception]
        try:
            if self._unreadable is not None:
                raise self._unreadable
            results = list(self._store.append_all([(decide, author) for decide, author, _ in group]))
        except LogFull as full:
            if self._patient:
                self._wait_for_room(group, full)
                return
            results = [full] * len(group)
        except Exception as error:
            results = [error] * len(group)
        else:
            self._have_written()
        if self._waiting:
            loop.call_soon(self._write)
        for (_, _, future), result in zip(group, results, strict=True):
            if future.cancelled():
                continue
            if isinstance(result, Exception):
                future.set_exception(result)
            else:
                future.set_result(result)

    def _wait_for_room(self, group: list[_Job], full: LogFull) -> None:
        if not self._pause_seconds:
            self.tell(full.message)
        self._pause_seconds = min(LONGEST_PAUSE_SECONDS, max(FIRST_PAUSE_SECONDS, 2 * self._pause_seconds))
        self._waiting = [*group, *self._waiting]
        self._retry = asyncio.get_running_loop().call_later(self._pause_seconds, self._write)

    def _have_written(self) -> None:
        if self._pause_seconds:
            self._pause_seconds = 0.0
            self.tell("")
        if self._settling is None:
            self._settling = asyncio.get_running_loop().call_later(SETTLE_SECONDS, self._settle)

    def _settle(self) -> None:
        """What cannot be read back ends all writing: what came after it would be another history."""
        self._settling = None
        try:
            settled = self._store.settle()
        except LogFull:
            settled = False
        except PaddockError as error:
            self._unreadable = error
            return
        if not settled:
            self._settling = asyncio.get_running_loop().call_later(SETTLE_SECONDS, self._settle)
