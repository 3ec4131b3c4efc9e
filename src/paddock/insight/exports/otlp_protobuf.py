"""Spans in OTLP's protobuf, opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest.

Its few messages are written by hand: numbers of fields are those of opentelemetry-proto 1.x, which never change.
"""

import struct
from collections.abc import Mapping, Sequence

from paddock import __version__
from paddock.insight.exports.spans import SCHEMA_URL, Span, SpanStatus, Value

CONTENT_TYPE = "application/x-protobuf"
_VARINT, _FIXED64, _BYTES = 0, 1, 2
_MASK = (1 << 64) - 1


def encode_spans(groups: Sequence[tuple[Mapping[str, Value], Sequence[Span]]]) -> bytes:
    """One request; of each group the resource comes first."""
    return b"".join(_message(1, _group(resource, spans)) for resource, spans in groups)


def _group(resource: Mapping[str, Value], spans: Sequence[Span]) -> bytes:
    scope = _text(1, "paddock") + _text(2, __version__)
    body = b"".join(_message(2, _span(span)) for span in spans)
    scoped = _message(1, scope) + body + _text(3, SCHEMA_URL)
    return _message(1, _attributes(1, resource)) + _message(2, scoped) + _text(3, SCHEMA_URL)


def _span(span: Span) -> bytes:
    parts = [
        _message(1, span.trace_id),
        _message(2, span.span_id),
        _message(4, span.parent_id) if span.parent_id else b"",
        _text(5, span.name),
        _key(6, _VARINT) + _varint(span.kind),
        _key(7, _FIXED64) + struct.pack("<Q", span.start & _MASK),
        _key(8, _FIXED64) + struct.pack("<Q", span.end & _MASK),
        _attributes(9, span.attributes),
    ]
    if span.status is not SpanStatus.UNSET or span.message:
        status = _text(2, span.message) + _key(3, _VARINT) + _varint(span.status)
        parts.append(_message(15, status))
    return b"".join(parts)


def _attributes(field: int, attributes: Mapping[str, Value]) -> bytes:
    return b"".join(_message(field, _text(1, name) + _message(2, _value(value))) for name, value in attributes.items())


def _value(value: Value) -> bytes:
    if isinstance(value, str):
        return _message(1, value.encode("utf-8", "replace"))
    if isinstance(value, bool):
        return _key(2, _VARINT) + _varint(value)
    if isinstance(value, int):
        return _key(3, _VARINT) + _varint(value & _MASK)
    if isinstance(value, float):
        return _key(4, _FIXED64) + struct.pack("<d", value)
    return _message(5, b"".join(_message(1, _value(one)) for one in value))


def _text(field: int, text: str) -> bytes:
    return _message(field, text.encode("utf-8", "replace")) if text else b""


def _message(field: int, body: bytes) -> bytes:
    return _key(field, _BYTES) + _varint(len(body)) + body


def _key(field: int, wire: int) -> bytes:
    return _varint(field << 3 | wire)


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)
