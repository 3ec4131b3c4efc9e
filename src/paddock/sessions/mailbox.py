"""Letters to a turn that is running: each a file in a folder of the turn's own, and a pipe that wakes its reader.

The writer renames a letter into place and then writes one byte to the pipe; the reader sleeps on the pipe and then
lists the folder. So a letter that is there is found whatever became of the byte, and one that is written twice is one
letter. Who reads says in the turn's output which letters it has taken; nothing in here is a receipt.
"""

import contextlib
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

MAILBOX_VARIABLE = "PADDOCK_MAILBOX"
_WAKE = "wake"
_ENDING = ".letter"
_MOST_BYTES = 4 * 1024 * 1024
_decode = msgspec.json.Decoder


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
    """Posting it again changes nothing. Nobody needs to be reading yet."""
    place = folder / f"{letter.number}{_ENDING}"
    if not place.exists():
        draft = place.with_suffix(".draft")
        draft.write_bytes(msgspec.json.encode(letter))
        draft.chmod(0o600)
        draft.rename(place)
    # No reader yet, or a full pipe, whose reader is awake anyway: the folder tells it all.
    with contextlib.suppress(OSError):
        wake = os.open(folder / _WAKE, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        try:
            if stat.S_ISFIFO(os.fstat(wake).st_mode):
                os.write(wake, b".")
        finally:
            os.close(wake)


@dataclass
class Mailbox:
    """The reader's side, in the turn's own process. Wait until `fileno()` is readable, then `take`."""

    folder: Path
    _taken: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        # For writing too, so that the pipe never ends when a writer leaves.
        self._wake = os.open(self.folder / _WAKE, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)

    def fileno(self) -> int:
        return self._wake

    def take(self) -> list[Letter]:
        """Those that were not taken yet, in the order they were sent. Does not block."""
        with contextlib.suppress(BlockingIOError):
            while os.read(self._wake, 4096):
                pass
        new = [number for number in self._numbers() if number not in self._taken]
        letters = [letter for number in sorted(new) if (letter := self._read(number)) is not None]
        self._taken.update(letter.number for letter in letters)
        return letters

    def close(self) -> None:
        os.close(self._wake)

    def _numbers(self) -> list[int]:
        names = (name.removesuffix(_ENDING) for name in os.listdir(self.folder) if name.endswith(_ENDING))
        return [int(name) for name in names if name.isdecimal()]

    def _read(self, number: int) -> Letter | None:
        try:
            with open(self.folder / f"{number}{_ENDING}", "rb") as file:
                return _decode(Letter).decode(file.read(_MOST_BYTES))
        except (OSError, msgspec.DecodeError):
            return None
