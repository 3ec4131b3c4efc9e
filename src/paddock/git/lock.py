"""flock on a file, passed on to child processes so that a straggler keeps what its dead parent held."""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from paddock.core.errors import PaddockError

_FIRST_PAUSE_SECONDS = 0.002
_LONGEST_PAUSE_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Lock:
    """Proof that a lock is held. Give `inherit` to every child that works on what the lock guards."""

    path: Path
    descriptor: int

    @property
    def inherit(self) -> tuple[int, ...]:
        return (self.descriptor,)

    def close(self) -> None:
        # Never LOCK_UN: that would also unlock for a child that inherited the descriptor.
        os.close(self.descriptor)


@contextlib.contextmanager
def hold(path: Path, timeout_seconds: float = 60.0) -> Iterator[Lock]:
    """Hold the lock at `path`; PaddockError when others keep it for longer than `timeout_seconds`."""
    deadline = time.monotonic() + timeout_seconds
    pause = _FIRST_PAUSE_SECONDS
    while (lock := try_lock(path)) is None:
        if time.monotonic() > deadline:
            raise PaddockError(
                f"another process has held `{path}` for more than {timeout_seconds:g} s",
                f"`fuser {path}` names it; run the command again when it is done",
            )
        time.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)
    with contextlib.closing(lock):
        yield lock


def try_lock(path: Path) -> Lock | None:
    """The lock, to be closed, or None while another process holds it or removes what it guards."""
    try:
        descriptor = _open(path)
    except (FileNotFoundError, FileExistsError):
        if path.parent.is_file():
            raise
        return None  # whoever held the lock is just removing the folder
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    if not _is_still_at(path, descriptor):
        os.close(descriptor)
        return None
    return Lock(path, descriptor)


def _open(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    try:
        return os.open(path, flags, 0o644)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, flags, 0o644)


def _is_still_at(path: Path, descriptor: int) -> bool:
    """False when the file was removed between our open and our flock: then the lock guards nothing."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False
