"""Letters to a turn that is running: each a file in a folder of the turn's own, and a pipe that wakes its reader.

The writer renames a letter into place and then writes one byte to the pipe; the reader sleeps on the pipe and then
lists the folder. So a letter that is there is found whatever became of the byte, and one that is written twice is one
letter. The reader (engines/letters.py) says in the turn's output which letters it has taken; nothing in here is a
receipt.
"""

import contextlib
import os
import secrets
import stat
from pathlib import Path

import msgspec

_WAKE = "wake"
_ENDING = ".letter"
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


class Letter(msgspec.Struct, frozen=True, omit_defaults=True):
    """`number` is that of the message's record. `now`: the engine is to drop what it does for it. `request` is what the
    engine waits for, where the letter answers that."""

    number: int
    text: str
    now: bool = False
    request: str = ""


def make_mailbox(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.mkfifo(folder / _WAKE, 0o600)


def post(folder: Path, letter: Letter) -> None:
    """Posting it again changes nothing. Nobody needs to be reading yet.

    An agent without a fence can put anything in here, or take the folder away: no link is followed, nothing that is
    there is opened, and what cannot be posted has no receipt, so that the next turn is told it.
    """
    with contextlib.suppress(OSError):
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            _lay(opened, letter)
            _wake(opened)
        finally:
            os.close(opened)


def _lay(folder: int, letter: Letter) -> None:
    name, draft = f"{letter.number}{_ENDING}", f"{letter.number}-{secrets.token_hex(4)}.draft"
    with contextlib.suppress(FileNotFoundError):
        os.stat(name, dir_fd=folder, follow_symlinks=False)
        return
    with open(os.open(draft, _NEW_FILE, 0o600, dir_fd=folder), "wb") as file:
        file.write(msgspec.json.encode(letter))
    os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)


def _wake(folder: int) -> None:
    """Raises OSError where there is no reader yet, or a full pipe, whose reader is awake anyway."""
    wake = os.open(_WAKE, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        if stat.S_ISFIFO(os.fstat(wake).st_mode):
            os.write(wake, b".")
    finally:
        os.close(wake)
