"""Spans in OTLP's JSON: ids in hexadecimal, whole numbers of 64 bits as strings, `camelCase`."""

from collections.abc import Mapping, Sequence

import msgspec

from paddock import __version__
from paddock.insight.exports.spans import SCHEMA_URL, Span, SpanStatus, Value

CONTENT_TYPE = "application/json"


def encode_spans(groups: Sequence[tuple[Mapping[str, Value], Sequence[Span]]]) -> bytes:
    """One request, or one line of a file; of each group the resource comes first."""
    return msgspec.json.encode({"resourceSpans": [_group(resource, spans) for resource, spans in groups]})


def _group(resource: Mapping[str, Value], spans: Sequence[Span]) -> dict[str, object]:
    scope = {"name": "paddock", "version": __version__}
    return {
        "resource": {"attributes": _attributes(resource)},
        "scopeSpans": [{"scope": scope, "spans": [_span(span) for span in spans], "schemaUrl": SCHEMA_URL}],
        "schemaUrl": SCHEMA_URL,
    }


def _span(span: Span) -> dict[str, object]:
    told: dict[str, object] = {
        "traceId": span.trace_id.hex(),
        "spanId": span.span_id.hex(),
        "name": span.name,
        "kind": int(span.kind),
        "startTimeUnixNano": str(span.start),
        "endTimeUnixNano": str(span.end),
        "attributes": _attributes(span.attributes),
    }
    if span.parent_id:
        told["parentSpanId"] = span.parent_id.hex()
    if span.status is not SpanStatus.UNSET or span.message:
        told["status"] = {"code": int(span.status), **({"message": span.message} if span.message else {})}
    return told


def _attributes(attributes: Mapping[str, Value]) -> list[dict[str, object]]:
    return [{"key": name, "value": _value(value)} for name, value in attributes.items()]


def _value(value: Value) -> dict[str, object]:
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    return {"arrayValue": {"values": [_value(one) for one in value]}}
