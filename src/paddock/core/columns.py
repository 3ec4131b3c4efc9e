"""How many columns of a terminal text takes: Chinese, Japanese and Korean letters and most emoji take two, marks none.

Terminals disagree on details. Where they do, the wider answer counts, so that a line never overflows; only a skin
tone after an emoji, which every terminal of today joins to it, takes none.
"""

from collections.abc import Iterator
from functools import cache

EMOJI_STYLE = "\ufe0f"
SKIN_TONES = range(0x1F3FB, 0x1F400)
# Vowels and final consonants of Korean that join the letter before them.
JOINING_JAMO = range(0x1160, 0x1200)


def columns(text: str) -> int:
    return len(text) if text.isascii() else sum(taken for _, taken in _steps(text))


def shorten(text: str, limit: int) -> str:
    """At most `limit` columns; what is cut off leaves an `…`, and no mark is separated from its letter."""
    if len(text) * 2 <= limit or columns(text) <= limit:
        return text
    kept = used = 0
    for length, taken in _steps(text):
        if used + taken > limit - 1:
            break
        kept, used = length, used + taken
    return text[:kept] + "…"


def _steps(text: str) -> Iterator[tuple[int, int]]:
    """For every character: the length of the text up to it, and the columns it adds."""
    before = 0
    for index, letter in enumerate(text, 1):
        if letter == EMOJI_STYLE:
            taken = 1 if before == 1 else 0  # the letter before it becomes a picture
        elif ord(letter) in SKIN_TONES and before == 2:
            taken = 0
        else:
            taken = _width(letter)
        yield index, taken
        before = taken or before


@cache
def _width(letter: str) -> int:
    if letter.isascii():
        return 1
    from unicodedata import category, east_asian_width

    if category(letter) in ("Mn", "Me", "Cf") or ord(letter) in JOINING_JAMO:
        return 0
    return 2 if east_asian_width(letter) in ("W", "F") else 1
