"""The texts within an error that is written as JSON, or as Python prints its values."""

import msgspec

MOST_TEXTS = 200
DEEPEST = 8


def texts_within(text: str) -> list[str]:
    """The lines of all its strings, in order; of any other text its lines."""
    stripped = text.strip()
    if stripped[:1] in "{[" and stripped[-1:] in "}]":
        try:
            found = _strings(msgspec.json.decode(stripped), DEEPEST)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            found = []
        if found:
            return [line for one in found[:MOST_TEXTS] for line in one.splitlines()]
    if "\n" not in stripped and "\\n" in stripped:
        return text.replace("\\r", "").split("\\n")
    return text.splitlines()


def _strings(value: object, depth: int) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for one in inner for text in _strings(one, depth - 1)] if depth else []
