"""The threads in which requests are answered: some that read, one that writes, and some for what takes long.

Each kind has its own queue, so that a log which cannot be written is still read.

A board belongs to one thread, so each thread that reads keeps a log of its own open. Writes are done one after
another, each a complete transaction on a log that is opened for it, as by a command.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

from paddock.core.errors import PaddockError
from paddock.fleet.workspace import Workspace
from paddock.store.location import identity_of
from paddock.store.protocol import LogUnusable, Store

READERS = 3
MOST_WAITING = 64
"""Requests that may wait for threads of one kind."""
READ_PATIENCE_SECONDS = 3.0
"""With a log that another program has locked: few read at a time, and the others wait for them."""
WRITE_SECONDS = 25.0
"""For an answer to what writes. A page waits a little longer, and is told what has become of it."""

LABOURERS = 6
LONGEST_SECONDS = 100.0
"""For an answer to what takes long: it may go on by itself, but nobody waits for it any longer."""
CHECK_SECONDS = 2.0

T = TypeVar("T")


class Busy(PaddockError):
    """More is asked for at once than can be answered."""


class Unfinished(PaddockError):
    """What was asked for takes longer than anybody waits."""


@dataclass(slots=True)
class RequestThreads:
    """Threads of one kind, and how many requests are with them."""

    name: str
    threads: int
    asked: int = 0
    pool: ThreadPoolExecutor = field(init=False)

    def __post_init__(self) -> None:
        self.pool = ThreadPoolExecutor(self.threads, thread_name_prefix=self.name)

    async def do(self, work: Callable[[], T]) -> T:
        """Raises Busy. What has not begun when nobody waits for it any longer is dropped."""
        if self.asked >= MOST_WAITING + self.threads:
            raise Busy(f"{self.asked} requests are waiting already", "ask again in a moment")
        self.asked += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self.pool, work)
        finally:
            self.asked -= 1

    async def do_within(self, seconds: float, name: str, work: Callable[[], T]) -> T:
        """Raises Unfinished: what has begun goes on."""
        begun = threading.Event()

        def begin() -> T:
            begun.set()
            return work()

        try:
            async with asyncio.timeout(seconds) as due:
                return await self.do(begin)
        except TimeoutError:
            if not due.expired():
                raise  # the work's own
            after = f"`{name}` is not done after {seconds:.0f} s"
            if begun.is_set():
                raise Unfinished(f"{after}: it goes on by itself", "`paddock log` tells what it has done") from None
            words = f"{after}: others that take long come first, so it has not begun and will not"
            raise Unfinished(words, "ask again in a moment") from None


class LogThreads:
    """`workspace_of` gives the workspace as it is configured now. Whatever is asked for may raise Busy."""

    def __init__(self, workspace_of: Callable[[], Workspace]) -> None:
        self._workspace_of = workspace_of
        self._doorman, self._checker = RequestThreads("doorman", 1), RequestThreads("checker", 1)
        self._readers, self._writer = RequestThreads("reader", READERS), RequestThreads("writer", 1)
        self._labourers = RequestThreads("labourer", LABOURERS)
        self._check: asyncio.Task[bool] | None = None
        self._own = threading.local()

    async def read(self, use: Callable[[Store], T]) -> T:
        """With the log of a thread that reads."""
        return await self._readers.do(lambda: self._with_log(use))

    async def judge(self, work: Callable[[], T]) -> T:
        """Who asks: by a thread for that alone, because it takes long among many processes."""
        return await self._doorman.do(work)

    async def write(self, name: str, work: Callable[[], T]) -> T:
        """Raises Unfinished."""
        return await self._writer.do_within(WRITE_SECONDS, name, work)

    async def labour(self, name: str, work: Callable[[], T]) -> T:
        """Where nobody who reads or writes waits for it. Raises Unfinished."""
        return await self._labourers.do_within(LONGEST_SECONDS, name, work)

    async def can_read(self) -> bool:
        """Told soon, however many read and write, and however many ask: one look is for all who wait for it."""
        if self._check is None or self._check.done():
            self._check = asyncio.ensure_future(self._try_reading())
        done, _ = await asyncio.wait({check := self._check}, timeout=CHECK_SECONDS)
        return bool(done) and check.result()

    async def _try_reading(self) -> bool:
        try:
            await self._checker.do(lambda: self._with_log(lambda store: store.head()))
        except (PaddockError, OSError):
            return False
        return True

    def close(self) -> None:
        """What is being written is written."""
        for crew in (self._readers, self._labourers, self._checker, self._doorman):
            crew.pool.shutdown(wait=False, cancel_futures=True)
        self._writer.pool.shutdown(wait=True, cancel_futures=True)

    def _with_log(self, use: Callable[[Store], T]) -> T:
        store: Store | None = getattr(self._own, "store", None)
        found = identity_of(self._workspace_of().log)
        if store is not None and self._own.file != found:
            self._drop(store)  # another log is in its place
            store = None
        if store is None:
            store, self._own.file = self._workspace_of().read(READ_PATIENCE_SECONDS), found
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
