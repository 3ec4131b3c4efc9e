"""The token that opens the page: made once for each repository and kept, so that open pages survive a restart."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from paddock.sessions.regular import open_regular

FILE = "web.token"
_BYTES = 16
"""Enough against guessing, and the address still fits on a line of a terminal."""


def token_of(state_dir: Path, *, new: bool = False) -> str:
    """The token that is kept; another one if there is none, if others could have read it, or if `new`."""
    path = state_dir / FILE
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
    """Of two servers that start at once, the one that links its token first decides for both."""
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
