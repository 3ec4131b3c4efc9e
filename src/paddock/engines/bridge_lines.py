"""What a bridge of ours says in a turn's output: trace entries as they are, one a line.

A bridge is the process of a turn that drives a CLI which cannot be driven by its arguments alone: over the Agent Client
Protocol, in a terminal, or through standard input. It may pass on the CLI's own lines as well; the two are told apart
by how a line begins.
"""

from collections.abc import Iterable

import msgspec

from paddock.core.trace import Progress, TraceEntry
from paddock.engines.protocol import Engine, Parser, Source
from paddock.engines.trouble import read_complaint

_BEGINNING = b'{"paddock":'


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


def reading_parser(engine: Engine) -> BridgeParser:
    """For the output of any turn of the engine, whether a bridge ran it or not."""
    return BridgeParser(engine.parser())


def _read(line: bytes) -> TraceEntry:
    try:
        return _decode(line).entry
    except msgspec.DecodeError:
        return Progress("unreadable line of the bridge")
