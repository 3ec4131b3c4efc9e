"""Waking those who watch the log: a datagram to every listener's socket after a commit.

A nudge carries nothing; who is woken reads the log. A lost nudge costs a listener its slow clock,
never an event. Sockets live in a short private folder because their paths may not exceed ~100 bytes;
it does not depend on TMPDIR and the like, which agents are given of their own.
"""

import contextlib
import os
import stat
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from paddock.store.digest import blake2b
from paddock.store.protocol import Listener

_ROOT = Path("/tmp")
_TRIES = 100
_POLL_SECONDS = 0.2


@lru_cache(maxsize=64)
def socket_folder(log: Path) -> Path:
    digest = blake2b(os.fsencode(log.resolve()), digest_size=8).hexdigest()
    return _ROOT / f"paddock-{os.getuid()}" / digest


def nudge(log: Path) -> None:
    """Never fails and never blocks; sockets nobody reads any more are removed."""
    folder = socket_folder(log)
    if not os.access(folder, os.F_OK):
        return
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


def listen(log: Path) -> Listener:
    try:
        return SocketListener(log)
    except OSError:
        return Poll()


class Poll(Listener):
    """For one who cannot be woken, and looks often instead. A daemon looks by its own slow clock."""

    def wait(self, timeout_seconds: float) -> bool:
        time.sleep(min(timeout_seconds, _POLL_SECONDS))
        return True

    def tell(self, heard: Callable[[], None]) -> None:
        pass

    def close(self) -> None:
        pass


class SocketListener(Listener):
    """A socket that becomes readable after commits. Raises OSError where none can be made."""

    def __init__(self, log: Path) -> None:
        import socket

        folder = socket_folder(log)
        folder.parent.mkdir(mode=0o700, exist_ok=True)
        if not _is_ours(folder):
            raise PermissionError(f"{folder.parent} belongs to another user")
        self._path = str(folder / f"{os.getpid()}-{os.urandom(3).hex()}")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._stop_telling: Callable[[], object] = lambda: None
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

    def wait(self, timeout_seconds: float) -> bool:
        import select

        readable, _, _ = select.select([self._socket], [], [], timeout_seconds)
        self._drain()
        return bool(readable)

    def tell(self, heard: Callable[[], None]) -> None:
        import asyncio

        def read() -> None:
            self._drain()
            heard()

        loop = asyncio.get_running_loop()
        loop.add_reader(self._socket, read)
        self._stop_telling = lambda: loop.remove_reader(self._socket)

    def _drain(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                self._socket.recv(16)

    def close(self) -> None:
        self._stop_telling()
        self._socket.close()
        with contextlib.suppress(OSError):
            os.unlink(self._path)
            os.rmdir(os.path.dirname(self._path))


def _is_ours(folder: Path) -> bool:
    found = os.lstat(folder.parent)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022
