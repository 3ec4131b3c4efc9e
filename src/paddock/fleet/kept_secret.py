"""Secrets that are made once and kept in a file of the user's alone."""

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from paddock.sessions.regular import open_regular

_BYTES = 16
"""Enough against guessing, and an address with it still fits on a line of a terminal."""


def kept_secret(path: Path, *, new: bool = False) -> str:
    """The one that is kept; another one if there is none, if others could have read it, or if `new`."""
    if not new and (kept := _read(path)):
        return kept
    with _folder_to_itself(path.parent):
        return (not new and _read(path)) or _write(path)


def _read(path: Path) -> str:
    try:
        descriptor = open_regular(path, os.O_RDONLY)
    except OSError:
        return ""
    with open(descriptor, encoding="ascii", errors="replace") as file:
        found = os.fstat(descriptor)
        if found.st_uid != os.getuid() or found.st_mode & 0o077:
            return ""
        text = file.read(200).strip()
    return text if len(text) >= 2 * _BYTES and text.isalnum() else ""


def _write(path: Path) -> str:
    """Whoever dies on the way leaves a draft and no secret: the next one to ask takes the draft's place."""
    token = secrets.token_hex(_BYTES)
    draft = path.with_name(f"{path.name}.new")
    with suppress(FileNotFoundError):
        os.unlink(draft)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "w", encoding="ascii") as file:
        file.write(token)
    os.replace(draft, path)
    return token


@contextmanager
def _folder_to_itself(folder: Path) -> Iterator[None]:
    """Of those that ask at once, in this process and others, the first decides for all."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # not every file system has locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
