"""JSON of any size as values of a bounded one.

What is small is decoded as it is. Of what is large, the text is walked and only as much is made of it as fits a budget:
long texts lose their middle, long lists their end. Where there are more members than could ever fit, those beyond are
not even looked at.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec

PLAIN_BYTES = 4 * 1024 * 1024
LENIENT_BYTES = 16 * 1024 * 1024
BUDGET_BYTES = 64 * 1024 * 1024
LONGEST_TEXT = 256 * 1024
KEPT_TEXT = 1_000
_OVERHEAD = 150
MOST_MEMBERS = BUDGET_BYTES // _OVERHEAD
SAMPLE_BYTES = 1 << 20
_TRIES = 64
_DEEPEST = 60
_PLACE = re.compile(r" \(byte \d+\)\Z")
_SCANNER = json.JSONDecoder()
_SPACE = re.compile(r"[\s,]*")
_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])
_ANY = msgspec.json.Decoder()


class NotJson(Exception):
    """Why it is not. `goes_on`: it is, but more stands behind it."""

    def __init__(self, why: str, *, goes_on: bool = False) -> None:
        super().__init__(why)
        self.goes_on = goes_on


class _Budget:
    """How many more bytes may be kept of a text. `was_spent` once something was left out for that, and be it the middle
    of a long text."""

    def __init__(self, left: int) -> None:
        self.left = left
        self.was_spent = False


def decode_json(data: bytes) -> Any:
    """As `decode_bounded`, for those who need not know."""
    return decode_bounded(data)[0]


def decode_bounded(data: bytes) -> tuple[Any, bool]:
    """The value, and whether it is all of it. Raises NotJson. NaN, infinities and
    halves of surrogate pairs are taken as programs print them."""
    try:
        if len(data) <= PLAIN_BYTES:
            return _ANY.decode(data), True
        budget = _Budget(BUDGET_BYTES)
        return _bounded(data, budget, 0), not budget.was_spent
    except RecursionError:
        raise NotJson("is nested too deeply") from None
    except (msgspec.MsgspecError, UnicodeError) as error:
        return _leniently(data, str(error)), True


def _leniently(data: bytes, problem: str) -> Any:
    why = _PLACE.sub("", problem.removeprefix("JSON is malformed: "))[:120]
    if "truncated" in why:
        why = "it was cut"
    goes_on = "trailing characters" in why
    if len(data) > LENIENT_BYTES:
        raise NotJson(f"is not JSON: {why}", goes_on=goes_on)
    try:
        return json.loads(data.decode("utf-8", "replace"))
    except RecursionError:
        raise NotJson("is nested too deeply") from None
    except (ValueError, MemoryError) as error:
        goes_on = goes_on or str(error).startswith("Extra data")
        raise NotJson(f"is not JSON: {why}", goes_on=goes_on) from None


def split_documents(data: bytes) -> Iterator[tuple[bytes, int]]:
    """The pieces of JSON that stand one after the other, as `jq` prints them, with the line in which each begins. What
    is no JSON is the last piece."""
    text = data.decode("utf-8", "replace")
    at, line = 0, 1
    while at < len(text):
        try:
            _, end = _SCANNER.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = len(text)
        yield text[at:end].encode(), line
        space = _SPACE.match(text, end)
        following = end if space is None else space.end()
        line += text.count("\n", at, following)
        at = following


def _bounded(data: bytes | msgspec.Raw, budget: _Budget, depth: int) -> Any:
    raw = memoryview(data)
    if depth >= _DEEPEST:
        budget.was_spent = True
        return None
    if len(raw) <= LONGEST_TEXT:
        return _shortened(_ANY.decode(raw), budget)
    # Whatever is as long as this has its kind in its first byte, since white space around it was taken off.
    match bytes(raw[:1]):
        case b"{":
            return _members(raw, budget, depth)
        case b"[":
            items: list[Any] = []
            for item in _all_or_first(raw, _ITEMS, b"]", budget):
                if budget.left <= 0:
                    budget.was_spent = True
                    break
                items.append(_bounded(item, budget, depth + 1))
            return items
        case _:
            return _shortened(_ANY.decode(raw), budget, LONGEST_TEXT)


_Parts = TypeVar("_Parts", list[msgspec.Raw], dict[str, msgspec.Raw])


def _all_or_first(raw: memoryview, decoder: msgspec.json.Decoder[_Parts], end: bytes, budget: _Budget) -> _Parts:
    """A member takes 2 bytes of text, and thirty times as much once it is decoded."""
    if len(raw) <= 2 * MOST_MEMBERS or (sample := _first(raw, SAMPLE_BYTES, decoder, end)) is None:
        return decoder.decode(raw)
    wanted = MOST_MEMBERS * SAMPLE_BYTES // max(1, len(sample))
    if wanted >= len(raw):
        return decoder.decode(raw)
    budget.was_spent = True
    return sample if (found := _first(raw, wanted, decoder, end)) is None else found


def _first(raw: memoryview, length: int, decoder: msgspec.json.Decoder[_Parts], end: bytes) -> _Parts | None:
    """Those in so many bytes, None where one alone is about as long. What follows a comma may be within one of them."""
    text = bytes(raw[:length])
    at = len(text)
    for _ in range(_TRIES):
        at = text.rfind(b",", 0, at)
        if at < 0:
            return None
        try:
            return decoder.decode(text[:at] + end)
        except msgspec.MsgspecError:
            continue
    return None


def _members(raw: memoryview, budget: _Budget, depth: int) -> dict[str, Any]:
    """The short ones first, so that a list without end costs nothing but its own end."""
    members = _all_or_first(raw, _MEMBERS, b"}", budget)
    found: dict[str, Any] = dict.fromkeys(members)
    for key, value in sorted(members.items(), key=lambda member: len(memoryview(member[1]))):
        if budget.left > 0 or bytes(memoryview(value)[:1]) == b'"':
            found[key] = _bounded(value, budget, depth + 1)
        else:
            budget.was_spent = True
    return found


def _shortened(value: Any, budget: _Budget, longest: int = KEPT_TEXT) -> Any:
    """What is small enough to be decoded at once, with its texts cut in their middle."""
    if isinstance(value, str):
        budget.left -= min(len(value), longest) + _OVERHEAD
        if len(value) <= longest:
            return value
        budget.was_spent, half = True, longest // 2
        return f"{value[:half]} … {value[-half:]}"
    if isinstance(value, dict):
        return {key: _shortened(one, budget) for key, one in value.items()}
    if isinstance(value, list):
        return [_shortened(one, budget) for one in value]
    budget.left -= _OVERHEAD
    return value
