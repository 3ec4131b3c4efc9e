"""How errors read: phrases that are looked for word by word, in time linear in the length of a line.

A line is reduced to its words: lower case, everything but ASCII letters and digits is a gap. So `RATE_LIMIT`,
`rate-limit` and `"rate limit"` are the same, and `429` is never found within a longer number. No regular expression
meets a text that an agent may have chosen.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from paddock.insight.failures.vocabulary import FailureCause

THEN = "…"
"""In a phrase: anything may stand between what is before and what is after, in this order."""


def listed(text: str) -> tuple[str, ...]:
    """Phrases with semicolons between them."""
    return tuple(" ".join(phrase.split()) for phrase in text.split(";") if phrase.strip())


_LETTERS = b"abcdefghijklmnopqrstuvwxyz0123456789"
_TABLE = bytes(code if code in _LETTERS else 32 for code in range(256))


def words_in(line: str) -> bytes:
    """The words of a line, each with a space before and after it."""
    flat = line.lower().encode("ascii", "replace").translate(_TABLE)
    return b" " + b" ".join(flat.split()) + b" "


@dataclass(frozen=True, slots=True)
class Sign:
    """What one kind of trouble is recognised by: any of the phrases in a line, with one of the words `near` in the same
    line, where there are any, and none of the phrases `unless`.

    `strength` says how much it tells: 3 cannot be mistaken, 2 is usual, 1 follows from many causes, 0 only repeats how
    the run ended. `title` is what people call it. `settles`: what else such a line says is what somebody expected or
    quoted.
    """

    name: str
    cause: FailureCause
    strength: int
    title: str
    phrases: tuple[str, ...]
    near: frozenset[str] = frozenset()
    unless: tuple[str, ...] = ()
    settles: bool = False


@dataclass(frozen=True, slots=True)
class _Phrase:
    parts: tuple[bytes, ...]
    sign: Sign
    near: tuple[bytes, ...]
    unless: tuple[bytes, ...]

    def is_in(self, words: bytes) -> bool:
        at = 0
        for part in self.parts:
            found = words.find(part, at)
            if found < 0:
                return False
            at = found + len(part) - 1
        if self.near and not any(word in words for word in self.near):
            return False
        return not any(phrase in words for phrase in self.unless)


class SignBook:
    """All signs, by the longest word of each phrase's beginning."""

    def __init__(self, signs: Iterable[Sign]) -> None:
        self._phrases: dict[bytes, list[_Phrase]] = {}
        for sign in signs:
            near = tuple(words_in(word) for word in sorted(sign.near))
            unless = tuple(words_in(phrase) for phrase in sign.unless)
            for text in sign.phrases:
                phrase = _Phrase(tuple(words_in(part) for part in text.split(THEN)), sign, near, unless)
                anchor = max(phrase.parts[0].split(), key=len)
                self._phrases.setdefault(anchor, []).append(phrase)
        self._anchors = frozenset(self._phrases)

    def signs_in(self, words: bytes) -> Iterator[Sign]:
        """Each at most once for each of its phrases, in no order that matters."""
        for anchor in self._anchors.intersection(words.split()):
            for phrase in self._phrases[anchor]:
                if phrase.is_in(words):
                    yield phrase.sign

    def strongest(self, words: bytes) -> Sign | None:
        """Where several are as strong, the one of the class that is asked for first, then by name."""
        return max(self.signs_in(words), key=_weight, default=None)


_ORDER = {cause: place for place, cause in enumerate(FailureCause)}


def _weight(sign: Sign) -> tuple[bool, int, int, str]:
    return sign.settles, sign.strength, -_ORDER[sign.cause], sign.name
