"""Files that are laid over a sandbox's checkout, and files that commands leave there.

The checkout is of somebody's making: a folder of it may be a link to anywhere, and a process may still be at work in
it. So every step from the top down is taken by what is open, and no link is followed.
"""

import contextlib
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from paddock.core.events import AcceptFile
from paddock.git.sandboxes.tree import Sandbox

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_SCRIPT = "#!"


def lay_over(sandbox: Sandbox, files: Iterable[AcceptFile]) -> None:
    """Each takes the place of whatever is at its path. A script can be executed. Raises OSError."""
    for file in files:
        with _folder_of(sandbox.tree, file.path, make=True) as (folder, name):
            _clear(folder, name)
            mode = 0o755 if file.text.startswith(_SCRIPT) else 0o644
            with os.fdopen(os.open(name, _NEW_FILE, mode, dir_fd=folder), "wb") as written:
                written.write(file.text.encode())


def read_left(sandbox: Sandbox, path: str, most_bytes: int) -> bytes | None:
    """What a command has written to `path`: at most one byte more than `most_bytes`; None if there is no such file."""
    with contextlib.suppress(OSError), _folder_of(sandbox.tree, path) as (folder, name):
        opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        with os.fdopen(opened, "rb") as file:
            return file.read(most_bytes + 1) if stat.S_ISREG(os.fstat(opened).st_mode) else None
    return None


def clear_left(sandbox: Sandbox, path: str) -> None:
    """So that what is there afterwards is a command's own. Raises OSError."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError), _folder_of(sandbox.tree, path) as (folder, name):
        _clear(folder, name)


@contextlib.contextmanager
def _folder_of(top: Path, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
    """The folder that `path` is in, open, and the last part of the path."""
    *folders, name = path.split("/")
    with contextlib.ExitStack() as opened:
        current = _open_folder(opened, str(top), None)
        for part in folders:
            if make and not _is_folder(current, part):
                _clear(current, part)
                os.mkdir(part, 0o755, dir_fd=current)
            current = _open_folder(opened, part, current)
        yield current, name


def _open_folder(opened: contextlib.ExitStack, name: str, above: int | None) -> int:
    found = os.open(name, _FOLDER, dir_fd=above)
    opened.callback(os.close, found)
    return found


def _is_folder(above: int, name: str) -> bool:
    try:
        return stat.S_ISDIR(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False


def _clear(folder: int, name: str) -> None:
    if _is_folder(folder, name):
        shutil.rmtree(name, dir_fd=folder)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)
