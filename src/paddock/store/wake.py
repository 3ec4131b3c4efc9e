"""Waking those who watch the log: a datagram to every listener's socket after a commit.

A nudge carries nothing; who is woken reads the log. A lost nudge costs a listener its slow clock,
never an event. Sockets live in a short private folder because their paths may not exceed ~100 bytes;
it does not depend on TMPDIR and the like, which agents are given of their own.
"""

import contextlib
import os
import stat
from functools import lru_cache
from pathlib import Path

from paddock.store.digest import blake2b

_ROOT = Path("/tmp")
_TRIES = 100


@lru_cache(maxsize=64)
def socket_folder(log: Path) -> Path:
    digest = blake2b(os.fsencode(log.resolve()), digest_size=8).hexdigest()
    return _ROOT / f"paddock-{os.getuid()}" / digest


def nudge(log: Path) -> None:
    """Never fails and never blocks; sockets nobody reads any more are removed."""
    folder = socket_folder(log)
    try:
        listeners = os.listdir(folder)
    except OSError:
        return
    if not listeners or not _is_ours(folder):
        return
    import socket  # here because most commands find nobody listening

    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.setblocking(False)
        for name in listeners:
            path = str(folder / name)
            try:
                sender.sendto(b"", path)
            except ConnectionRefusedError:
                with contextlib.suppress(OSError):
                    os.unlink(path)
            except OSError:
                continue


class Listener:
    """A socket that becomes readable after commits. Use as a context manager; raises OSError."""

    def __init__(self, log: Path) -> None:
        import socket

        folder = socket_folder(log)
        folder.parent.mkdir(mode=0o700, exist_ok=True)
        if not _is_ours(folder):
            raise PermissionError(f"{folder.parent} belongs to somebody else")
        self._path = str(folder / f"{os.getpid()}-{os.urandom(3).hex()}")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            self._socket.setblocking(False)
            self._bind(folder)
        except OSError:
            self._socket.close()
            raise

    def _bind(self, folder: Path) -> None:
        """Another listener that closes may remove the folder at any of these steps."""
        for _ in range(_TRIES):
            try:
                folder.mkdir(mode=0o700, exist_ok=True)
                self._socket.bind(self._path)
            except (FileNotFoundError, FileExistsError):
                continue
            return
        raise FileNotFoundError(f"{folder} keeps vanishing")

    def fileno(self) -> int:
        return self._socket.fileno()

    def drain(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                self._socket.recv(16)

    def wait(self, timeout_seconds: float) -> bool:
        """True if somebody nudged within the time."""
        import select

        readable, _, _ = select.select([self._socket], [], [], timeout_seconds)
        self.drain()
        return bool(readable)

    def close(self) -> None:
        self._socket.close()
        with contextlib.suppress(OSError):
            os.unlink(self._path)
            os.rmdir(os.path.dirname(self._path))

    def __enter__(self) -> "Listener":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _is_ours(folder: Path) -> bool:
    found = os.lstat(folder.parent)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022
