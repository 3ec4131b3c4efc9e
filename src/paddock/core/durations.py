"""Durations as people write them: `90s`, `10m`, `1h30m`, `250ms`; and moments, by their age or as a time."""

import re

from paddock.core.errors import Misuse
from paddock.core.ids import printable

LONGEST_SECONDS = 366 * 86400.0

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_WHOLE = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+")


def parse_duration(text: str) -> float:
    """Seconds. Raises ValueError with a sentence for people."""
    word = text.strip().lower().replace(" ", "")
    if not _WHOLE.fullmatch(word):
        raise ValueError(f"`{text}` is not a duration; write it like `90s`, `10m` or `1h30m`")
    seconds = sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(word))
    if seconds > LONGEST_SECONDS:
        raise ValueError(f"`{text}` is longer than a year")
    return seconds


def parse_moment(text: str, now: float) -> float:
    """An age (`2h`) or a local or zoned ISO time. Raises Misuse."""
    from datetime import datetime

    try:
        return now - parse_duration(text)
    except ValueError:
        pass
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        shown = printable(text, 40)
        raise Misuse(f"`{shown}` is neither a time nor an age", "write `2h` or `2026-11-15T10:00`") from None


def format_duration(seconds: float) -> str:
    """The two largest units that matter: `1h30m`, `4m`, `12s`, `0.5s`."""
    if seconds < 10:
        return f"{seconds:.1f}".removesuffix(".0") + "s"
    whole = round(seconds)
    parts = []
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, whole = divmod(whole, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts[:2]) or "0s"


def rough_duration(seconds: float) -> str:
    """The largest unit alone, for how long something has been so: `4s`, `3m`, `2d`."""
    whole = max(0, int(seconds))
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if whole >= size:
            return f"{whole // size}{unit}"
    return f"{whole}s"
