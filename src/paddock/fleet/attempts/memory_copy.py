"""A copy of what is kept of a conversation, taken while its agent may be at work on it.

Its folder is of the agent's making: a name in it may become a link, a pipe or a folder at any moment, and a file may
say that it is larger than any disk. So every step is taken by what is open, no link is followed, and what is not a
plain file, cannot be read or does not fit is left out.
"""

import contextlib
import os
import stat
from pathlib import Path

MOST_BYTES = 1 << 30
MOST_FILES = 50_000
MOST_DEPTH = 60
_CHUNK_BYTES = 1 << 20


def copy_conversation(source: Path, target: Path, most_bytes: int = MOST_BYTES) -> None:
    """Of a log that its writer is adding to, whole lines only. `target` must not be there. Raises OSError where nothing
    can be written."""
    target.mkdir(mode=0o700)
    left, files = most_bytes, 0
    for folder, folders, names, opened in os.fwalk(source, follow_symlinks=False, onerror=None):
        below = target / os.path.relpath(folder, source)
        if len(below.parts) - len(target.parts) >= MOST_DEPTH:
            folders.clear()
        for name in folders:
            if not _copy_link(opened, name, below / name):
                (below / name).mkdir(mode=0o700)
        for name in names:
            files += 1
            if files > MOST_FILES:
                return
            if not _copy_link(opened, name, below / name):
                left -= _copy_file(opened, name, below / name, left)


def _copy_link(folder: int, name: str, target: Path) -> bool:
    """Whether it is a link."""
    try:
        leads_to = os.readlink(name, dir_fd=folder)
    except OSError:
        return False
    target.symlink_to(leads_to)
    return True


def _copy_file(folder: int, name: str, target: Path, most_bytes: int) -> int:
    """How many bytes were copied."""
    try:
        opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return 0
    with open(opened, "rb"):
        found = os.fstat(opened)
        if not stat.S_ISREG(found.st_mode) or found.st_size > most_bytes:
            return 0
        left = found.st_size
        with open(target, "xb") as copy:
            while left and (chunk := _read(opened, min(left, _CHUNK_BYTES))):
                copy.write(chunk)
                left -= len(chunk)
            copy.flush()
            if name.endswith(".jsonl"):
                copy.truncate(_end_of_lines(target, copy.tell()))
        os.chmod(target, stat.S_IMODE(found.st_mode) & 0o700 | 0o600)
        os.utime(target, ns=(found.st_atime_ns, found.st_mtime_ns))
    return found.st_size


def _read(opened: int, most_bytes: int) -> bytes:
    with contextlib.suppress(OSError):
        return os.read(opened, most_bytes)
    return b""


def _end_of_lines(path: Path, size: int) -> int:
    """Where the last whole line ends."""
    end = size
    with path.open("rb") as file:
        while size:
            begin = max(0, size - 65_536)
            file.seek(begin)
            newline = file.read(size - begin).rfind(b"\n")
            if newline >= 0:
                return begin + newline + 1
            size = begin
    return end
