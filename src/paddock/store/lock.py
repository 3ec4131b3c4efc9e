"""The writers' queue: an flock taken before BEGIN IMMEDIATE.

SQLite's own busy handler lets a writer starve for seconds among eight; queueing outside keeps the
worst wait at tens of milliseconds. It is polled, because a blocking flock cannot be given up.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from paddock.store.protocol import LogUnusable
from paddock.store.trouble import quote

_POLL_SECONDS = (0.0002, 0.0005, 0.001, 0.002, 0.004)


@contextmanager
def locked(descriptor: int, path: Path, timeout_seconds: float) -> Iterator[None]:
    """Holds the lock on an open file; raises LogUnusable after `timeout_seconds`."""
    if not _try_lock(descriptor):
        _wait(descriptor, path, timeout_seconds)
    try:
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


def open_lock(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _wait(descriptor: int, path: Path, timeout_seconds: float) -> None:
    deadline = time.monotonic() + timeout_seconds
    tries = 0
    while time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS[min(tries, len(_POLL_SECONDS) - 1)])
        if _try_lock(descriptor):
            return
        tries += 1
    raise LogUnusable(
        f"another writer has held the log for more than {timeout_seconds:g} s",
        f"find it with `fuser -v {quote(path)}`, then run this again",
    )
