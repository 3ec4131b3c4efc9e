"""What a bridge of ours says in a turn's output: trace entries as they are, one a line.

A bridge is the process of a turn that drives a CLI which cannot be driven by its arguments alone: over the Agent Client
Protocol, in a terminal, or through standard input. It may pass on the CLI's own lines as well; the two are told apart
by how a line begins. An agent can write to the same output, so a line of ours is believed no more than a CLI's.
"""

import math
from collections.abc import Iterable
from typing import TypeVar

import msgspec

from paddock.core.trace import TEXT_LIMIT, Progress, TokenUsage, TraceEntry, clip
from paddock.engines.protocol import MAX_LINE_BYTES, Engine, Parser, Source
from paddock.engines.trouble import read_complaint

_BEGINNING = b'{"paddock":'
_MOST_ITEMS = 10_000
_MOST = 2**53

T = TypeVar("T")


class _Said(msgspec.Struct, frozen=True):
    entry: TraceEntry = msgspec.field(name="paddock")


_decode = msgspec.json.Decoder(_Said).decode
_encode = msgspec.json.Encoder().encode


def bridge_line(entry: TraceEntry) -> bytes:
    """With its newline."""
    return _encode(_Said(entry)) + b"\n"


class BridgeParser(Parser):
    """Reads a bridge's own lines, and leaves others to the parser of the CLI behind it, where there is one."""

    def __init__(self, inner: Parser | None = None) -> None:
        self._inner = inner

    def feed(self, line: bytes, source: Source = Source.STDOUT) -> Iterable[TraceEntry]:
        if source is Source.STDOUT and line.startswith(_BEGINNING):
            return (_read(line),)
        if self._inner is not None:
            return self._inner.feed(line, source)
        if source is Source.STDOUT:
            return (Progress("unreadable line"),) if line.strip() else ()
        return read_complaint(line)

    def close(self) -> Iterable[TraceEntry]:
        return self._inner.close() if self._inner is not None else ()


def reading_parser(engine: Engine) -> Parser:
    """For the output of any turn of the engine. Only one that listens has a bridge, or tells what it takes itself:
    what others print may be the words of a file that they show."""
    return BridgeParser(engine.parser()) if engine.capabilities.listens else engine.parser()


def _read(line: bytes) -> TraceEntry:
    try:
        if len(line) <= MAX_LINE_BYTES:
            return _bounded(_decode(line).entry)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    return Progress("unreadable line of the bridge")


def _bounded(value: T) -> T:
    """With texts, lists and numbers of a size that some engine's may have."""
    match value:
        case str():
            found: object = clip(value, TEXT_LIMIT)
        case int() if not isinstance(value, bool):
            found = min(max(value, -_MOST), _MOST)
        case float():
            found = min(max(value, -_MOST), _MOST) if math.isfinite(value) else 0.0
        case tuple():
            found = tuple(map(_bounded, value[:_MOST_ITEMS]))
        case msgspec.Struct():
            fields = {name: _bounded(getattr(value, name)) for name in value.__struct_fields__}
            bounded = msgspec.structs.replace(value, **fields)
            # What was used is never less than nothing.
            found = bounded.minus(TokenUsage()) if isinstance(bounded, TokenUsage) else bounded
        case _:
            found = value
    return found  # type: ignore[return-value]
