"""A dialog that waits for an answer, and the keys that give it.

The mark is moved with the arrow keys until the screen shows it on the chosen option; only then is Enter pressed.
"""

import hashlib
import time
from dataclasses import dataclass, field

from paddock.bridges.screen import Dialog
from paddock.core.trace import one_line
from paddock.sessions.mailbox import Letter

_KEY_SECONDS = 0.4
_MOST_KEYS = 60


@dataclass
class OpenDialog:
    """`request` is our name for it. `answered_by` is the message whose answer was typed."""

    request: str
    seen: Dialog
    answered_by: int | None = None
    _wanted: int | None = None
    _pressed_at: float = 0.0
    _keys: int = 0
    _letters: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, dialog: Dialog) -> "OpenDialog":
        digest = hashlib.blake2b(dialog.name.encode("utf-8", "replace"), digest_size=6).hexdigest()
        return cls(f"dialog-{digest}", dialog)

    def is_same(self, dialog: Dialog) -> bool:
        """Also where the words above the options move, such as a clock among them."""
        return dialog.options == self.seen.options

    def choose(self, letter: Letter) -> None:
        self._wanted = _find_option(letter.text, self.seen.options)
        self._letters.append(letter.number)

    def next_keys(self) -> tuple[str, ...]:
        """None while there is no answer, or the screen has yet to follow the last key."""
        if self._wanted is None or time.monotonic() - self._pressed_at < _KEY_SECONDS or self._keys >= _MOST_KEYS:
            return ()
        self._pressed_at = time.monotonic()
        self._keys += 1
        if self.seen.keys:
            return self._given(self.seen.keys[self._wanted])
        marked = self.seen.chosen
        if marked == self._wanted:
            return self._given("Enter")
        return ("Down",) if marked is None or marked < self._wanted else ("Up",)

    def _given(self, key: str) -> tuple[str, ...]:
        self.answered_by = self._letters[-1]
        return (key,)


def _find_option(answer: str, options: tuple[str, ...]) -> int | None:
    """By number, by name, or by a beginning that only one has."""
    wanted = " ".join(answer.split()).casefold()
    if wanted.isdecimal() and 1 <= int(wanted) <= len(options):
        return int(wanted) - 1
    names = [one_line(option, 2000).casefold() for option in options]
    if wanted in names:
        return names.index(wanted)
    near = [number for number, name in enumerate(names) if wanted and name.startswith(wanted)]
    return near[0] if len(near) == 1 else None
