"""Whether a text fits a pattern in which `*` is any text and `?` any character, in time that no pattern blows up."""

import re
from functools import lru_cache


def matches_glob(pattern: str, text: str) -> bool:
    """The whole text, letter by letter: who wants the case not to matter lowers both."""
    first, *others = pattern.split("*")
    if not others:
        return len(first) == len(text) and _fits(first, text, 0)
    *middle, last = others
    end = len(text) - len(last)
    if end < len(first) or not _fits(first, text, 0) or not _fits(last, text, end):
        return False
    at = len(first)
    for part in middle:
        found = _find(part, text, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True


def _find(part: str, text: str, start: int, end: int) -> int:
    """Where the part fits first, and ends by `end`; -1 if nowhere."""
    if "?" not in part:
        return text.find(part, start, end)
    found = _expression(part).search(text, start, max(start, end))
    return found.start() if found is not None else -1


def _fits(part: str, text: str, at: int) -> bool:
    if "?" not in part:
        return text.startswith(part, at)
    return _expression(part).match(text, at) is not None


@lru_cache(maxsize=128)
def _expression(part: str) -> re.Pattern[str]:
    """Of a fixed length, with nothing to go back to."""
    return re.compile(".".join(map(re.escape, part.split("?"))), re.DOTALL)
