"""The turn's side of a mailbox (sessions/mailbox.py) and its receipts (bridge_lines.py). Some of the programs that read
letters start by the hundred, so it needs nothing but light parts of the standard library.
"""

import json
import os
import stat

MAILBOX_VARIABLE = "PADDOCK_MAILBOX"
_WAKE = "wake"
_ENDING = ".letter"
_MOST_BYTES = 4 * 1024 * 1024


class ReceivedLetter:
    """`number` is that of the message's record. `now`: what is being done is to be dropped for it. `request` is the
    dialog that it answers, if it does."""

    __slots__ = ("now", "number", "request", "text")

    def __init__(self, number: int, text: str, *, now: bool = False, request: str = "") -> None:
        self.number = number
        self.text = text
        self.now = now
        self.request = request


class LetterBox:
    """Wait until `fileno()` is readable, then look at `waiting()`. A letter waits until it is taken."""

    def __init__(self, folder: str) -> None:
        """Raises OSError where there is no mailbox."""
        self._folder = folder
        self._taken: set[int] = set()
        # For writing too, so that the pipe never ends when a writer leaves.
        self._wake = os.open(os.path.join(folder, _WAKE), os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
        if not stat.S_ISFIFO(os.fstat(self._wake).st_mode):
            os.close(self._wake)
            raise OSError(f"{folder} is not a mailbox")

    def fileno(self) -> int:
        return self._wake

    def waiting(self) -> list[ReceivedLetter]:
        """In the order they were sent. Does not block."""
        try:
            while os.read(self._wake, 4096):
                pass
        except BlockingIOError:
            pass
        names = (name[: -len(_ENDING)] for name in os.listdir(self._folder) if name.endswith(_ENDING))
        new = sorted({int(name) for name in names if name.isdecimal()} - self._taken)
        return [letter for number in new if (letter := self._read(number)) is not None]

    def take(self, letter: ReceivedLetter) -> None:
        self._taken.add(letter.number)

    def take_all(self) -> list[ReceivedLetter]:
        """All that are waiting, in the order they were sent. Does not block."""
        letters = self.waiting()
        self._taken.update(letter.number for letter in letters)
        return letters

    def _read(self, number: int) -> ReceivedLetter | None:
        try:
            with open(os.path.join(self._folder, f"{number}{_ENDING}"), "rb") as file:
                told = json.loads(file.read(_MOST_BYTES))
            text, request = told["text"], told.get("request", "")
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        if told.get("number") != number or not isinstance(text, str) or not isinstance(request, str):
            return None
        return ReceivedLetter(number, text, now=told.get("now") is True, request=request)


def receipt(numbers: list[int], evidence: str) -> bytes:
    """The line that says that these messages are with the engine."""
    return said({"type": "taken", "messages": numbers, "evidence": evidence})


def said(entry: dict[str, object]) -> bytes:
    """A trace entry as a line of the turn's output."""
    return b'{"paddock":' + json.dumps(entry, separators=(",", ":")).encode() + b"}\n"
