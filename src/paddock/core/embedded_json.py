"""JSON in whatever an agent wraps around it: prose before and after, a fenced block, nothing at all."""

import json
import re
from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec

_FENCE = "```"
_LANGUAGE = re.compile(r"\w*")
_OPENING = re.compile(r"^[ \t]*\{", re.MULTILINE)
_POSITION = re.compile(r"^(?P<what>.*?) \(byte (?P<byte>\d+)\)$")
MOST_TRIED = 20


class NoJson(ValueError):
    """Its words are for the agent that is asked again."""


def find_object(text: str, wanted: str) -> dict[str, Any]:
    """The object in the text that has the field `wanted`: of several, the last in a fenced block, or else the last.

    Raises NoJson. An object without that field is returned where there is nothing better, for others to complain about.
    """
    tried: list[dict[str, Any] | str] = []
    for candidate in _candidates(text):
        found = _read(candidate)
        if isinstance(found, dict) and wanted in found:
            return found
        tried.append(found)
    first = tried[0] if tried else "there is no JSON in it; it must be one JSON object"
    if isinstance(first, str):
        raise NoJson(first)
    return first


def _candidates(text: str) -> Iterator[str]:
    """The most likely first: if none will do, that is what the complaint is about."""
    stripped = text.strip()
    if stripped[:1] in ("{", "["):
        yield stripped
    yield from reversed(deque(_fenced(text), MOST_TRIED))
    first, last = text.find("{"), text.rfind("}")
    if 0 <= first < last:
        yield text[first : last + 1]
    yield from reversed(list(_outermost(text)))


def _fenced(text: str) -> Iterator[str]:
    """What stands between a line that opens a block and the next one that closes it. Reads each line once."""
    lines = text.split("\n")
    begin: int | None = None
    for number, line in enumerate(lines):
        mark = line.strip(" \t\r")
        if not mark.startswith(_FENCE):
            continue
        if begin is None:
            begin = number + 1 if _LANGUAGE.fullmatch(mark.removeprefix(_FENCE).strip(" \t")) else None
        elif mark == _FENCE:
            yield "\n".join(lines[begin:number])
            begin = None


def _outermost(text: str) -> Iterator[str]:
    """Objects that begin a line and are not inside of another."""
    end = 0
    for match in islice(_OPENING.finditer(text), MOST_TRIED):
        start = match.end() - 1
        if start >= end and (found := _end_of(text, start)) is not None:
            end = found
            yield text[start:end]


def _read(candidate: str) -> dict[str, Any] | str:
    """The object, or what is wrong with it."""
    try:
        found = msgspec.json.decode(candidate.encode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError) as error:
        return _explain(candidate, error)
    return found if isinstance(found, dict) else f"it is {_name_of(found)}; it must be one JSON object"


def _end_of(text: str, start: int) -> int | None:
    try:
        return json.JSONDecoder().raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return None


def _explain(candidate: str, error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "the JSON is nested too deeply"
    match = _POSITION.match(str(error))
    if match is None:
        return f"the JSON cannot be read: {error}"
    before = candidate.encode("utf-8", "replace")[: int(match["byte"])].decode("utf-8", "replace")
    line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
    return f"line {line}, column {column} of the JSON: {match['what'].removeprefix('JSON is malformed: ')}"


def _name_of(value: object) -> str:
    names: dict[type, str] = {list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), "null")
