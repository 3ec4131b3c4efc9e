"""JSON of any size as values of a bounded one.

What is small is decoded as it is. Of what is large, the text is walked and only as much is made of it as fits a budget:
long texts lose their middle, long lists their end.
"""

import json
import re
from typing import Any

import msgspec

PLAIN_BYTES = 4 * 1024 * 1024
LENIENT_BYTES = 16 * 1024 * 1024
BUDGET_BYTES = 32 * 1024 * 1024
LONGEST_TEXT = 256 * 1024
_DEEPEST = 60
_PLACE = re.compile(r" \(byte \d+\)\Z")
_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])
_ANY = msgspec.json.Decoder()


class NotJson(Exception):
    """Why it is not."""


class _Budget:
    def __init__(self, left: int) -> None:
        self.left = left


def decode_json(data: bytes) -> Any:
    """Raises NotJson. NaN, infinities and halves of surrogate pairs are taken as programs print them."""
    try:
        if len(data) <= PLAIN_BYTES:
            return _ANY.decode(data)
        return _bounded(data, _Budget(BUDGET_BYTES), 0)
    except RecursionError:
        raise NotJson("is nested too deeply") from None
    except (msgspec.MsgspecError, UnicodeError) as error:
        return _leniently(data, str(error))


def _leniently(data: bytes, problem: str) -> Any:
    why = _PLACE.sub("", problem.removeprefix("JSON is malformed: "))[:120]
    if "truncated" in why:
        why = "it was cut"
    if len(data) > LENIENT_BYTES:
        raise NotJson(f"is not JSON: {why}")
    try:
        return json.loads(data.decode("utf-8", "replace"))
    except RecursionError:
        raise NotJson("is nested too deeply") from None
    except (ValueError, MemoryError):
        raise NotJson(f"is not JSON: {why}") from None


def _bounded(data: bytes | msgspec.Raw, budget: _Budget, depth: int) -> Any:
    raw = memoryview(data)
    if depth >= _DEEPEST:
        return None
    if len(raw) <= LONGEST_TEXT:
        budget.left -= len(raw)
        return _ANY.decode(raw)
    # Whatever is as long as this has its kind in its first byte, since white space around it was taken off.
    match bytes(raw[:1]):
        case b"{":
            return _members(raw, budget, depth)
        case b"[":
            items: list[Any] = []
            for item in _ITEMS.decode(raw):
                if budget.left <= 0:
                    break
                items.append(_bounded(item, budget, depth + 1))
            return items
        case _:
            # A single text costs what is kept of it.
            text = _ANY.decode(raw)
            budget.left -= LONGEST_TEXT
            return f"{text[: LONGEST_TEXT // 2]} … {text[-LONGEST_TEXT // 2 :]}" if isinstance(text, str) else text


def _members(raw: memoryview, budget: _Budget, depth: int) -> dict[str, Any]:
    """The short ones first, so that a list without end costs nothing but its own end."""
    members = _MEMBERS.decode(raw)
    found: dict[str, Any] = dict.fromkeys(members)
    for key, value in sorted(members.items(), key=lambda member: len(memoryview(member[1]))):
        if budget.left > 0 or bytes(memoryview(value)[:1]) == b'"':
            found[key] = _bounded(value, budget, depth + 1)
    return found
