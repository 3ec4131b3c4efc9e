"""The play-list a prompt carries: which step answers which request, and which faults stand before it.

    <<MOCK [{"status": 429, "times": 1}, {"shell": "make"}, {"text": "done"}] MOCK>>

Steps answer one request each: `shell`, `commit`, `tool` call a tool, `text` ends the turn. Faults answer no
round of their own: those written before a step strike first when that step is due, `times` times each (for
ever when left out) or until the gate that `until` names is open. A conversation's position is read off the
request, so nothing is remembered but how often a fault has struck.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

OPENING, CLOSING = "<<MOCK", "MOCK>>"


class BadPlaylist(ValueError):
    """The prompt holds a play-list that cannot be played; the message says why."""


@dataclass(frozen=True, slots=True)
class Say:
    text: str


@dataclass(frozen=True, slots=True)
class Shell:
    command: str


@dataclass(frozen=True, slots=True)
class Commit:
    """Write one file and commit it: a shell call where tools exist, an edit block where they do not (aider)."""

    path: str
    content: str
    message: str


@dataclass(frozen=True, slots=True)
class UseTool:
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Refuse:
    status: int
    headers: tuple[tuple[str, str], ...] = ()
    message: str = ""


@dataclass(frozen=True, slots=True)
class Silence:
    """Hold the connection without a word; `midway` sends the head of the stream first."""

    seconds: float
    midway: bool = False


@dataclass(frozen=True, slots=True)
class CutStream:
    """Drop the connection in the middle of the answer."""


@dataclass(frozen=True, slots=True)
class StreamError:
    """Report `kind` as an error event inside a stream that began with status 200."""

    kind: str


@dataclass(frozen=True, slots=True)
class AwaitGate:
    """Hold the answer until the test opens the gate, then answer as if nothing had happened."""

    gate: str


Step = Say | Shell | Commit | UseTool
Fault = Refuse | Silence | CutStream | StreamError | AwaitGate


@dataclass(frozen=True, slots=True)
class FaultEntry:
    fault: Fault
    key: str
    times: int | None
    until: str = ""


@dataclass(frozen=True, slots=True)
class Due:
    """What the play-list holds for one round: `step` is None once the list is played out."""

    faults: tuple[FaultEntry, ...]
    step: Step | None


def play(*steps: dict[str, Any]) -> str:
    """The text to put into a prompt."""
    return f"{OPENING} {json.dumps(list(steps))} {CLOSING}"


def find_playlist(prompt: str) -> str | None:
    """The last play-list in `prompt`, as JSON text."""
    start = prompt.rfind(OPENING)
    if start < 0:
        return None
    end = prompt.find(CLOSING, start)
    if end < 0:
        raise BadPlaylist(f"`{OPENING}` without `{CLOSING}`")
    return prompt[start + len(OPENING) : end].strip()


def due_at(playlist: str, round_number: int) -> Due:
    """The step that answers tool round `round_number` (from 0) and the faults written right before it."""
    faults: list[FaultEntry] = []
    seen = 0
    for entry in _entries(playlist):
        if isinstance(entry, FaultEntry):
            faults.append(entry)
            continue
        if seen == round_number:
            return Due(tuple(faults), entry)
        seen += 1
        faults.clear()
    return Due(tuple(faults), None)


def steps_of(playlist: str) -> tuple[Step, ...]:
    return tuple(entry for entry in _entries(playlist) if not isinstance(entry, FaultEntry))


def _entries(playlist: str) -> Iterator[Step | FaultEntry]:
    for position, raw in enumerate(_decode(playlist)):
        if not isinstance(raw, dict):
            raise BadPlaylist(f"entry {position} is not an object: {raw!r}")
        fault = _fault(raw)
        if fault is None:
            yield _step(raw, position)
            continue
        digest = hashlib.sha256(f"{position} {playlist}".encode()).hexdigest()
        times = raw.get("times")
        key, until = str(raw.get("key", digest)), str(raw.get("until", ""))
        yield FaultEntry(fault, key, None if times is None else int(times), until)


def _decode(playlist: str) -> list[Any]:
    # opencode wraps the prompt in quotes and escapes the inner ones, and nothing else, before it sends it.
    for candidate in (playlist, playlist.replace('\\"', '"')):
        try:
            entries = json.loads(candidate, strict=False)
        except ValueError:
            continue
        if isinstance(entries, list):
            return entries
    raise BadPlaylist(f"not a JSON list: {playlist[:200]}")


def _step(raw: dict[str, Any], position: int) -> Step:
    match raw:
        case {"shell": str(command)}:
            return Shell(command)
        case {"commit": {"path": str(path), "content": str(content), **rest}}:
            return Commit(path, content, str(rest.get("message", f"Write {path}")))
        case {"tool": str(name), "input": dict(arguments)}:
            return UseTool(name, arguments)
        case {"text": str(text)}:
            return Say(text)
    raise BadPlaylist(f"entry {position} is neither a step nor a fault: {raw!r}")


def _fault(raw: dict[str, Any]) -> Fault | None:
    match raw:
        case {"status": int(status)}:
            headers = tuple((str(k), str(v)) for k, v in raw.get("headers", {}).items())
            return Refuse(status, headers, str(raw.get("message", "")))
        case {"silence": int() | float() as seconds}:
            return Silence(float(seconds))
        case {"stall": int() | float() as seconds}:
            return Silence(float(seconds), midway=True)
        case {"cut": True}:
            return CutStream()
        case {"stream_error": str(kind)}:
            return StreamError(kind)
        case {"gate": str(gate)}:
            return AwaitGate(gate)
    return None
