"""A dialog that waits for an answer, and the keys that give it.

The mark is moved with the arrow keys until the screen shows it on the chosen option; only then is Enter pressed, once.
Dialogs follow each other with the same options and other words, and an answer is never for words that nobody has read.
"""

import hashlib
import re
import time
from dataclasses import dataclass, field

from paddock.bridges.screen import Dialog
from paddock.core.tasks.questions import recorded_option
from paddock.engines.letters import ReceivedLetter

_KEY_SECONDS = 0.4
_MOST_KEYS = 60
_VAIN_SECONDS = 5.0
_CLOCK = re.compile(r"\d+(?::\d\d)+|\d+ ?(?:ms|s|secs?|seconds?|m|mins?|minutes?)\b")


@dataclass
class OpenDialog:
    """`request` is our name for it, `asked` what people were asked. `answered_by` is the message whose answer was
    typed."""

    request: str
    asked: Dialog
    seen: Dialog
    answered_by: int | None = None
    _wanted: int | None = None
    _pressed_at: float = 0.0
    _keys: int = 0
    _letters: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, dialog: Dialog, number: int = 1) -> "OpenDialog":
        """`number` tells it from earlier ones with the same words."""
        digest = hashlib.blake2b(dialog.name.encode("utf-8", "replace"), digest_size=6).hexdigest()
        return cls(f"dialog-{digest}-{number}", dialog, dialog)

    @property
    def has_answer(self) -> bool:
        return self._wanted is not None

    @property
    def was_in_vain(self) -> bool:
        """The answer was typed and it still stands there: it asks again, or another asks the same."""
        return self.answered_by is not None and time.monotonic() - self._pressed_at > _VAIN_SECONDS

    def is_same(self, dialog: Dialog) -> bool:
        return dialog.options == self.asked.options

    def reads_as_asked(self, dialog: Dialog) -> bool:
        """Also where a clock runs in the words above the options."""
        return self.is_same(dialog) and _CLOCK.sub("", dialog.text) == _CLOCK.sub("", self.asked.text)

    def choose(self, letter: ReceivedLetter) -> None:
        chosen = recorded_option(self.asked.options, letter.text)
        self._wanted = self.asked.options.index(chosen) if chosen is not None else None
        self._letters.append(letter.number)

    def next_keys(self) -> tuple[str, ...]:
        """Empty while there is no answer, or the screen has yet to follow the last key."""
        if self._wanted is None or self.answered_by is not None or not self.reads_as_asked(self.seen):
            return ()
        if time.monotonic() - self._pressed_at < _KEY_SECONDS or self._keys >= _MOST_KEYS:
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
