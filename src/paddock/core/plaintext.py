"""Tool output without terminal control: colours, titles, lines that were overwritten."""

import re

_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # a title, a link
    r"|\x1b[\[][0-?]*[ -/]*[@-~]"  # a colour, a move of the cursor
    r"|\x1b[ -/]*[0-~]"  # anything shorter
)
_UNSAFE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\udc80-\udc9f]|\r(?!\n)")
"""All that a terminal would obey or show in another order; a carriage return only where it is no end of a line."""
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def defuse(data: bytes) -> bytes:
    """Bytes that are harmless to a terminal: what it would obey becomes `�`, all else stays as it is, UTF-8 or not."""
    text = data.decode("utf-8", "surrogateescape")
    return _UNSAFE.sub("\ufffd", text).encode("utf-8", "surrogateescape") if _UNSAFE.search(text) else data


def plain_lines(text: str) -> list[str]:
    """Its lines; for one that a progress bar rewrote, only the last state."""
    return [plain_line(line) for line in text.split("\n")] if not text.endswith("\n") else plain_lines(text[:-1])


def plain_line(line: str) -> str:
    """Without escape sequences and control characters; tabs stay."""
    drawn = _ESCAPES.sub("", line).rstrip("\r")
    return _CONTROLS.sub("", drawn.rpartition("\r")[2])
