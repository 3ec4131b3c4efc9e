"""Secrets that are made once and kept in a file of the user's alone."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from paddock.sessions.regular import open_regular

_BYTES = 16
"""Enough against guessing, and an address with it still fits on a line of a terminal."""


def kept_secret(path: Path, *, new: bool = False) -> str:
    """The one that is kept; another one if there is none, if others could have read it, or if `new`."""
    kept = "" if new else _read(path)
    return kept or _write(path, new=new)


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


def _write(path: Path, *, new: bool) -> str:
    """Of two processes that start at once, the one that links its secret first decides for both."""
    token = secrets.token_hex(_BYTES)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    with suppress(FileNotFoundError):
        os.unlink(draft)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "w", encoding="ascii") as file:
        file.write(token)
    try:
        os.link(draft, path)
    except FileExistsError:
        if not new and (kept := _read(path)):
            token = kept
        else:
            os.replace(draft, path)
    with suppress(FileNotFoundError):
        os.unlink(draft)
    return token
