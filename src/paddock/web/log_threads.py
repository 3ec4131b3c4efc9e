"""The threads in which requests are answered: some that read, one that writes, and some for what takes long.

A board belongs to one thread, so each thread that reads keeps a log of its own open. Writes are done one after
another, each a complete transaction on a log that is opened for it, as by a command.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from paddock.core.errors import PaddockError
from paddock.fleet.workspace import Workspace
from paddock.store.protocol import LogUnusable, Store

READERS = 3
MOST_WAITING = 64
"""Requests that may wait for a thread."""

LABOURERS = 6
LONGEST_SECONDS = 100.0
"""For an answer to what takes long: it may go on by itself, but nobody waits for it any longer."""

T = TypeVar("T")


class Busy(PaddockError):
    """More is asked for at once than can be answered."""


class Unfinished(PaddockError):
    """What was asked for takes longer than anybody waits."""


class LogThreads:
    """`workspace_of` gives the workspace as it is configured now. Whatever is asked for may raise Busy."""

    def __init__(self, workspace_of: Callable[[], Workspace]) -> None:
        self._workspace_of = workspace_of
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="reader")
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="writer")
        self._labourers = ThreadPoolExecutor(LABOURERS, thread_name_prefix="labourer")
        self._own = threading.local()
        self._waiting = 0

    async def read(self, use: Callable[[Store], T]) -> T:
        """With the log of a thread that reads."""
        return await self._in(self._readers, lambda: self._with_log(use))

    async def look(self, work: Callable[[], T]) -> T:
        """In a thread that reads, without a log."""
        return await self._in(self._readers, work)

    async def write(self, work: Callable[[], T]) -> T:
        return await self._in(self._writer, work)

    async def labour(self, name: str, work: Callable[[], T]) -> T:
        """Where nobody who reads or writes waits for it. Raises Unfinished: what has begun goes on, what has not is
        dropped."""
        begun = threading.Event()

        def begin() -> T:
            begun.set()
            return work()

        try:
            async with asyncio.timeout(LONGEST_SECONDS) as due:
                return await self._in(self._labourers, begin)
        except TimeoutError:
            if not due.expired():
                raise  # the work's own
            after = f"`{name}` is not done after {LONGEST_SECONDS:.0f} s"
            if begun.is_set():
                raise Unfinished(f"{after}: it goes on by itself", "`paddock log` tells what it has done") from None
            words = f"{after}: {LABOURERS} others that take long are under way, so it has not begun"
            raise Unfinished(words, "ask again in a moment") from None

    def close(self) -> None:
        """What is being written is written."""
        self._readers.shutdown(wait=False, cancel_futures=True)
        self._labourers.shutdown(wait=False, cancel_futures=True)
        self._writer.shutdown(wait=True, cancel_futures=True)

    async def _in(self, pool: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        if self._waiting >= MOST_WAITING:
            raise Busy(f"{self._waiting} requests are waiting already", "ask again in a moment")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, work)
        finally:
            self._waiting -= 1

    def _with_log(self, use: Callable[[Store], T]) -> T:
        store: Store | None = getattr(self._own, "store", None)
        found = _identity(self._workspace_of().log)
        if store is not None and self._own.file != found:
            self._drop(store)  # another log is in its place
            store = None
        if store is None:
            store, self._own.file = self._workspace_of().read(), found
            self._own.store = store
        try:
            return use(store)
        except LogUnusable:
            self._drop(store)
            raise

    def _drop(self, store: Store) -> None:
        self._own.store = None
        with suppress(PaddockError, OSError):
            store.close()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
