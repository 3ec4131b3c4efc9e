"""The writers' queue: an flock taken before BEGIN IMMEDIATE.

SQLite's own busy handler lets a writer starve for seconds among eight; queueing outside keeps the
worst wait at tens of milliseconds. It is polled, because a blocking flock cannot be given up.
"""

import fcntl
import os
import time
from pathlib import Path

from paddock.store.protocol import LogUnusable
from paddock.store.trouble import quote

_POLL_SECONDS = (0.0002, 0.0005, 0.001, 0.002, 0.004)
_TRY = fcntl.LOCK_EX | fcntl.LOCK_NB


class WritersLock:
    """Held in a `with`, again and again, by the process that opened it. Raises LogUnusable after `timeout_seconds`."""

    __slots__ = ("_descriptor", "_log", "_process", "_timeout_seconds")

    def __init__(self, log: Path, timeout_seconds: float) -> None:
        self._log = log
        self._timeout_seconds = timeout_seconds
        self._process = os.getpid()
        self._descriptor = os.open(log.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def __enter__(self) -> None:
        self.require_own()
        try:
            fcntl.flock(self._descriptor, _TRY)
        except BlockingIOError:
            self._wait()

    def __exit__(self, *_: object) -> None:
        fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def require_own(self) -> None:
        """Raises LogUnusable in a forked process: it shares the lock with its parent, so it would not wait."""
        if os.getpid() != self._process:
            raise LogUnusable(
                f"the log `{self._log}` was opened by process {self._process}, not by this one",
                "open it again after a fork",
            )

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _wait(self) -> None:
        deadline = time.monotonic() + self._timeout_seconds
        tries = 0
        while time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS[min(tries, len(_POLL_SECONDS) - 1)])
            try:
                fcntl.flock(self._descriptor, _TRY)
            except BlockingIOError:
                tries += 1
            else:
                return
        raise LogUnusable(
            f"another writer has held the log for more than {self._timeout_seconds:g} s",
            f"find it with `fuser -v {quote(self._log)}`, then run this again",
        )
