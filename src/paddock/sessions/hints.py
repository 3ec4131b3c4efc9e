"""Small JSON files that processes of a fleet leave for each other, where an agent without a fence can put anything.

They are hints, and every reader does without them. So whatever is no small regular file of the right form counts as
missing: a pipe holds nobody up, and no content of it is an error.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from paddock.sessions.regular import open_regular

MOST_BYTES = 16 * 2**20

T = TypeVar("T")


def read_hint(path: Path, kind: type[T]) -> T | None:
    try:
        with open(open_regular(path, os.O_RDONLY), "rb") as file:
            content = file.read(MOST_BYTES + 1)
        return msgspec.json.decode(content, type=kind) if len(content) <= MOST_BYTES else None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def write_hint(path: Path, content: object) -> None:
    """Renamed into place. Raises OSError. What is in the draft's place is removed, never opened."""
    draft = path.with_suffix(".new")
    with suppress(FileNotFoundError):
        os.unlink(draft)
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666), "wb") as file:
        file.write(msgspec.json.encode(content))
    os.replace(draft, path)
