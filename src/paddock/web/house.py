"""What the server holds: the workspace as configured now, threads that read and the one that writes.

A board belongs to one thread, so each thread that reads keeps a log of its own open. Writes are done one after
another, each a complete transaction on a log that is opened for it, as by a command.
"""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from paddock.config.agents import FOLDERS
from paddock.config.load import FILE_NAME
from paddock.core.errors import Misuse, PaddockError
from paddock.fleet.workspace import Workspace
from paddock.store.protocol import LogUnusable, Store
from paddock.views.metrics import LiveMetrics
from paddock.web.channels import sight_of
from paddock.web.exchange import Endpoint, Visit, WorkThread
from paddock.web.gate import Doorway
from paddock.web.live import Live

READERS = 3
VIA = "web"
MOST_WAITING = 64
"""Requests that may wait for a thread."""
CONFIG_SECONDS = 1.0
"""How often the configuration is looked at, at most."""

T = TypeVar("T")


class Busy(PaddockError):
    """More is asked for at once than can be answered."""


class House:
    """`workspace` is as the server was started."""

    def __init__(self, workspace: Workspace, door: Doorway) -> None:
        self.door = door
        self._workspace = Workspace(workspace.repo, workspace.settings, via=VIA)
        self._config_is_of = self._config_stamp()
        self._config_checked = time.monotonic()
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="reader")
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="writer")
        self._own = threading.local()
        self._waiting = 0
        self._metrics, self._counting = LiveMetrics(), threading.Lock()
        self.live = Live(lambda: self.workspace)

    @property
    def workspace(self) -> Workspace:
        """Another one after the configuration was edited, unless that is wrong: then the former stays."""
        if time.monotonic() - self._config_checked > CONFIG_SECONDS:
            self._config_checked = time.monotonic()
            if (stamp := self._config_stamp()) != self._config_is_of:
                self._config_is_of = stamp
                fresh = Workspace(self._workspace.repo, self._workspace.settings, via=VIA)
                with suppress(Misuse):
                    fresh.load()
                    self._workspace = fresh
        return self._workspace

    def _config_stamp(self) -> tuple[object, ...]:
        top = self._workspace.top
        files = (path for folder in FOLDERS for path in sorted((top / folder).glob("*.md")))
        return tuple(map(_stamp, (top / FILE_NAME, *files)))

    async def serve(self, endpoint: Endpoint, visit: Visit) -> object:  # type: ignore[type-arg]
        if endpoint.thread is WorkThread.WRITER:
            return await self._in(self._writer, lambda: endpoint.handle(visit))
        return await self.read(lambda store: endpoint.handle(_with_store(visit, store)))

    async def read(self, use: Callable[[Store], T]) -> T:
        """In a thread, with its log."""
        return await self._in(self._readers, lambda: self._with_log(use))

    async def metrics(self) -> str:
        """What Prometheus is told. The log is counted once, then what is new."""
        return await self.read(self._count)

    def _count(self, store: Store) -> str:
        workspace, now = self.workspace, time.time()
        with self._counting:
            host = workspace.site.machine.sample(now)
            return self._metrics.look(sight_of(workspace, store, now), host)

    async def look(self, work: Callable[[], T]) -> T:
        """In a thread, without a log."""
        return await self._in(self._readers, work)

    def close(self) -> None:
        self.live.close()
        self._readers.shutdown(wait=False, cancel_futures=True)
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
        found = _identity(self.workspace.log)
        if store is not None and self._own.file != found:
            self._drop(store)  # another log is in its place
            store = None
        if store is None:
            store, self._own.file = self.workspace.read(), found
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


def _with_store(visit: Visit, store: Store) -> Visit:  # type: ignore[type-arg]
    return Visit(visit.workspace, visit.path, visit.query, visit.body, visit.now, store)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
