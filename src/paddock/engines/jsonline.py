"""Reading JSON lines of unknown shape without ever raising.

An engine's format changes under our feet; a field of an unexpected type must cost that field, never the line.
"""

import hashlib
import json
import math
from collections.abc import Iterator
from typing import Any

import msgspec

from paddock.core.trace import ID_LIMIT, clip
from paddock.engines.protocol import MAX_LINE_BYTES


class Node:
    """A value somewhere in a JSON document. Every question has an answer; the wrong type answers as absent."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def at(self, *path: str) -> "Node":
        value = self.value
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        return Node(value)

    def text(self, *path: str, limit: int = 100_000) -> str:
        value = self.at(*path).value
        return clip(value, limit) if isinstance(value, str) else ""

    def word(self, *path: str) -> str:
        """A short text, such as an id or a model's name."""
        return self.text(*path, limit=ID_LIMIT)

    def flag(self, *path: str) -> bool:
        return self.at(*path).value is True

    def number(self, *path: str) -> float | None:
        value = self.at(*path).value
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        try:
            number = float(value)
        except OverflowError:
            return None
        return number if math.isfinite(number) else None

    def count(self, *path: str) -> int:
        """A count, such as tokens: never negative, never absurd."""
        number = self.number(*path)
        return 0 if number is None else int(min(max(number, 0), 2**53))

    def price(self, *path: str) -> float | None:
        """A cost in dollars. A CLI reports 0 for a model whose price it does not know, so 0 counts as not reported."""
        number = self.number(*path)
        return number if number is not None and number > 0 else None

    def whole(self, *path: str) -> int | None:
        number = self.number(*path)
        return None if number is None or abs(number) > 2**53 else int(number)

    def items(self, *path: str) -> Iterator["Node"]:
        value = self.at(*path).value
        if isinstance(value, list):
            yield from map(Node, value)

    def children(self, *path: str) -> Iterator["Node"]:
        """The values of an object, whatever its keys."""
        value = self.at(*path).value
        if isinstance(value, dict):
            yield from map(Node, value.values())

    def named(self, *path: str) -> Iterator[tuple[str, "Node"]]:
        """The members of an object with their names."""
        value = self.at(*path).value
        if isinstance(value, dict):
            for name, member in value.items():
                yield clip(name, ID_LIMIT), Node(member)

    def has(self, *path: str) -> bool:
        return self.at(*path).value is not None

    def digest(self, *path: str) -> str:
        """Equal for equal values, and hardly ever for others; empty where there is none."""
        value = self.at(*path).value
        if value is None:
            return ""
        try:
            text = msgspec.json.encode(value)
        except (msgspec.MsgspecError, UnicodeError, RecursionError, ValueError):
            return ""
        return hashlib.blake2b(text, digest_size=8).hexdigest()

    def brief(self, *path: str, limit: int) -> str:
        """The value as text: a string as it is, anything else as compact JSON."""
        value = self.at(*path).value
        if value is None:
            return ""
        if isinstance(value, str):
            return clip(value, limit)
        try:
            return clip(json.dumps(value, ensure_ascii=False), limit)
        except (ValueError, TypeError, RecursionError):
            return ""


def read_object(line: bytes) -> Node | None:
    """The JSON object on this line, or None for anything else."""
    if len(line) > MAX_LINE_BYTES:
        return None
    stripped = line.strip()
    if not stripped.startswith(b"{"):
        return None
    try:
        value = msgspec.json.decode(stripped)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        # Half a surrogate pair and NaN are refused above though node and python programs print them.
        try:
            value = json.loads(stripped)
        except (ValueError, RecursionError):
            return None
    return Node(value) if isinstance(value, dict) else None


def line_text(line: bytes, limit: int) -> str:
    """A line of plain output as text, cut to `limit` characters, without its newline."""
    return clip(line[: limit * 4].decode("utf-8", "replace").rstrip("\r\n"), limit)
