"""The fleet that a server shows: its workspace as configured now, who answers requests, and what pages are told."""

import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import assert_never

from paddock.config.agents import FOLDERS
from paddock.config.load import FILE_NAME
from paddock.core.errors import Misuse
from paddock.fleet.workspace import Workspace
from paddock.store.location import identity_of
from paddock.store.protocol import Store
from paddock.views.metrics import LiveMetrics
from paddock.views.sight import sight_of
from paddock.web.broadcast import Broadcast
from paddock.web.endpoint import Endpoint, KnownViews, Visit, WorkThread
from paddock.web.log_threads import LogThreads
from paddock.web.remembered import Remembered

VIA = "web"
CHECK_SECONDS = 1.0
"""How often it is asked whether the configuration or the log is another one, at most."""


class ServedFleet:
    """`workspace` is as the server was started."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = Workspace(workspace.repo, workspace.settings, via=VIA)
        self._stamped = self._stamp_of_all()
        self._checked_at = time.monotonic()
        self._metrics, self._counting = LiveMetrics(), threading.Lock()
        self._own = threading.local()
        self.remembered = Remembered()
        self.threads = LogThreads(lambda: self.workspace)
        self.broadcast = Broadcast(lambda: self.workspace)

    @property
    def workspace(self) -> Workspace:
        """Another one after the configuration was edited, unless that is wrong: then the former stays. And after the
        log was replaced by another one, which marks its workers otherwise."""
        if time.monotonic() - self._checked_at > CHECK_SECONDS:
            self._checked_at = time.monotonic()
            if (stamp := self._stamp_of_all()) != self._stamped:
                self._stamped = stamp
                fresh = Workspace(self._workspace.repo, self._workspace.settings, via=VIA)
                with suppress(Misuse):
                    fresh.load()
                    self._workspace = fresh
        return self._workspace

    def _stamp_of_all(self) -> tuple[object, ...]:
        top = self._workspace.top
        files = (path for folder in FOLDERS for path in sorted((top / folder).glob("*.md")))
        return (identity_of(self._workspace.log), *map(_stamp, (top / FILE_NAME, *files)))

    async def answer(self, endpoint: Endpoint, visit: Visit) -> object:  # type: ignore[type-arg]
        name = endpoint.path.strip("/")
        match endpoint.thread:
            case WorkThread.READER:
                return await self.threads.read(lambda store: endpoint.handle(self._reading(visit, store)))
            case WorkThread.WRITER:
                return await self.threads.write(name, lambda: endpoint.handle(visit))
            case WorkThread.LABOURER:
                return await self.threads.labour(name, lambda: endpoint.handle(visit))
            case _:
                assert_never(endpoint.thread)

    def _reading(self, visit: Visit, store: Store) -> Visit:  # type: ignore[type-arg]
        """With what this thread knows of its log already."""
        if getattr(self._own, "store", None) is not store:
            self._own.store, self._own.known = store, KnownViews()
        return replace(visit, reading=store, known=self._own.known)

    async def metrics(self) -> str:
        """What Prometheus is told. The log is counted once, then what is new."""
        return await self.threads.read(self._count)

    def _count(self, store: Store) -> str:
        workspace, now = self.workspace, time.time()
        with self._counting:
            host = workspace.site.machine.sample(now)
            return self._metrics.look(sight_of(workspace, store, now), host)

    def close(self) -> None:
        self.broadcast.close()
        self.threads.close()


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
