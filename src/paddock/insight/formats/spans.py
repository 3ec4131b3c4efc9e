"""Spans of OpenTelemetry in whatever way they were written down, as spans of one shape.

OTLP's JSON, trees with `child_spans`, the rows that Phoenix and Langfuse export, and flat records of all sorts.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from paddock.core.trace import clip
from paddock.insight.formats.bounds import as_json, name_text
from paddock.insight.formats.words import read_duration, read_number, read_time

VALUE_CHARS = 16_000
MOST_ATTRIBUTES = 400
_DEEPEST = 100
_TRACE = ("trace_id", "traceId", "context.trace_id", "traceID")
_SPAN = ("span_id", "spanId", "context.span_id", "spanID")
_PARENT = ("parent_span_id", "parentSpanId", "parent_id", "parentId", "parentObservationId")
_NAME = ("span_name", "name", "operationName")
_STARTED = ("start_time_unix_nano", "startTimeUnixNano", "start_time", "startTime", "timestamp", "start")
_ENDED = ("end_time_unix_nano", "endTimeUnixNano", "end_time", "endTime", "end")
_ATTRIBUTES = ("span_attributes", "attributes", "metadata")
_RESOURCE = ("resource_attributes", "resource")
_LANGFUSE = {"GENERATION": "LLM", "TOOL": "TOOL", "AGENT": "AGENT", "SPAN": "CHAIN", "CHAIN": "CHAIN"}
# Long, and nothing that a trace keeps.
_LEFT_OUT = ("llm.input_messages", "llm.tools", "llm.prompt", "gen_ai.input.messages", "gen_ai.prompt")


@dataclass(frozen=True, slots=True)
class Span:
    """`attributes` are flat: `llm.token_count.prompt`. `failed` is None where its status is not set."""

    trace: str
    id: str
    parent: str
    name: str
    started: float | None
    ended: float | None
    failed: bool | None
    message: str
    attributes: Mapping[str, object]
    resource: Mapping[str, object]

    @property
    def seconds(self) -> float | None:
        if self.started is None or self.ended is None or self.ended < self.started:
            return None
        return self.ended - self.started

    def text_of(self, names: tuple[str, ...]) -> str:
        """That of the first attribute of these that has one."""
        for name in names:
            value = self.attributes.get(name)
            if isinstance(value, str) and value:
                return value
        return ""


def looks_like_spans(record: Mapping[str, object]) -> bool:
    return looks_batched(record) or looks_whole(record) or _is_span(record)


def looks_batched(record: Mapping[str, object]) -> bool:
    return isinstance(record.get("resourceSpans", record.get("resource_spans")), list)


def looks_whole(record: Mapping[str, object]) -> bool:
    """All spans of one trace."""
    spans = record.get("spans", record.get("observations"))
    return isinstance(spans, list) and bool(spans) and isinstance(spans[0], dict) and _has_id(spans[0])


def _is_span(record: Mapping[str, object]) -> bool:
    context = record.get("context")
    nested = isinstance(context, dict) and "trace_id" in context
    return nested or (
        any(name in record for name in _TRACE) and (_has_id(record) or "traceId" in record) and "name" in record
    )


def _has_id(record: Mapping[str, object]) -> bool:
    return any(name in record for name in (*_SPAN, "context")) or ("id" in record and "startTime" in record)


def read_spans(record: Mapping[str, object]) -> Iterator[Span]:
    """All that are in it."""
    if looks_batched(record):
        yield from _of_batch(record)
    elif looks_whole(record):
        trace = name_text(_first(record, (*_TRACE, "id")))
        for span in _dicts(record.get("spans", record.get("observations"))):
            yield from _of_tree(span, trace, {}, 0)
    else:
        yield from _of_tree(record, "", {}, 0)


def _of_batch(record: Mapping[str, object]) -> Iterator[Span]:
    for batch in _dicts(record.get("resourceSpans", record.get("resource_spans"))):
        resource = batch.get("resource")
        held = flat_attributes(resource.get("attributes")) if isinstance(resource, dict) else {}
        scopes = batch.get("scopeSpans", batch.get("scope_spans", batch.get("instrumentationLibrarySpans")))
        for scope in _dicts(scopes):
            for span in _dicts(scope.get("spans")):
                yield from _of_tree(span, "", held, 0)


def _of_tree(told: Mapping[str, object], trace: str, resource: Mapping[str, object], depth: int) -> Iterator[Span]:
    span = _read(_of_jaeger(told) if "operationName" in told else told, trace, resource)
    yield span
    if depth < _DEEPEST:
        for child in _dicts(told.get("child_spans", told.get("children"))):
            yield from _of_tree(child, span.trace, span.resource, depth + 1)


def _read(told: Mapping[str, object], trace: str, resource: Mapping[str, object]) -> Span:
    context = told.get("context")
    told = (
        {**told, **{f"context.{key}": value for key, value in context.items()}} if isinstance(context, dict) else told
    )
    attributes = flat_attributes(_first(told, _ATTRIBUTES))
    attributes.update({key[11:]: value for key, value in told.items() if key.startswith("attributes.")})
    own = _first(told, _RESOURCE)
    own = own.get("attributes", own) if isinstance(own, dict) else None
    started, ended = read_time(_first(told, _STARTED)), read_time(_first(told, _ENDED))
    lasted = read_duration(told.get("duration"))
    if ended is None and started is not None and lasted is not None:
        ended = started + lasted
    failed, message = _status(told)
    _take_langfuse(told, attributes)
    return Span(
        trace=name_text(_first(told, _TRACE)) or trace,
        id=name_text(_first(told, (*_SPAN, "id"))),
        parent=name_text(_first(told, _PARENT)),
        name=name_text(_first(told, _NAME)),
        started=started,
        ended=ended,
        failed=failed,
        message=message or _exception(told),
        attributes=attributes,
        resource=flat_attributes(own) if own else resource,
    )


def _of_jaeger(told: Mapping[str, object]) -> Mapping[str, object]:
    """Jaeger's span as others have it: times and durations are microseconds, what is set is in `tags`."""
    tags = {str(tag.get("key")): tag.get("value") for tag in _dicts(told.get("tags"))}
    parents = [one.get("spanID") for one in _dicts(told.get("references")) if one.get("refType") == "CHILD_OF"]
    lasted = read_number(told.get("duration"))
    return {
        **told,
        "attributes": tags,
        "parent_id": parents[0] if parents else None,
        "duration": None if lasted is None else lasted / 1e6,
        "status_code": "ERROR" if tags.get("error") in (True, "true") else tags.get("otel.status_code"),
        "status_message": tags.get("otel.status_description"),
    }


def _take_langfuse(told: Mapping[str, object], attributes: dict[str, object]) -> None:
    kind = told.get("type")
    if isinstance(kind, str) and kind in _LANGFUSE and "traceId" in told:
        attributes.setdefault("openinference.span.kind", _LANGFUSE[kind])
        attributes.setdefault("llm.model_name", told.get("model") or "")
        attributes.setdefault("input.value", told.get("input"))
        usage = told.get("usageDetails") or told.get("usage")
        if isinstance(usage, dict):
            attributes.update({key: value for key, value in usage.items() if isinstance(key, str)})


def _status(told: Mapping[str, object]) -> tuple[bool | None, str]:
    status = told.get("status")
    code, message = told.get("status_code", told.get("level")), told.get("status_message", told.get("statusMessage"))
    if isinstance(status, dict):
        code, message = status.get("code", status.get("status_code", code)), status.get("message", message)
    word = str(code).rpartition("_")[2].rpartition(".")[2].lower()
    failed = True if word in ("error", "2") else False if word in ("ok", "1") else None
    return failed, clip(message, VALUE_CHARS) if isinstance(message, str) else ""


def _exception(told: Mapping[str, object]) -> str:
    for event in _dicts(told.get("events")):
        attributes = flat_attributes(event.get("attributes", event.get("Attributes")))
        if (kind := attributes.get("exception.type")) or "exception.message" in attributes:
            return clip(f"{kind or 'exception'}: {attributes.get('exception.message', '')}", VALUE_CHARS)
    return ""


def flat_attributes(told: object) -> dict[str, object]:
    """Of OTLP's list of keys and values, or of objects in objects; lists of values as JSON."""
    flat: dict[str, object] = {}
    if isinstance(told, list):
        for pair in _dicts(told):
            if isinstance(pair.get("key"), str):
                _flatten(pair["key"], _otlp_value(pair.get("value"), 0), flat, 0)  # type: ignore[arg-type]
    elif isinstance(told, dict):
        for key, value in told.items():
            _flatten(key, value, flat, 0)
    return flat


def _flatten(key: str, value: object, flat: dict[str, object], depth: int) -> None:
    if len(flat) >= MOST_ATTRIBUTES or key.startswith(_LEFT_OUT):
        return
    if isinstance(value, dict) and depth < 5 and not key.endswith(("arguments", "value", "parameters")):
        for inner, one in value.items():
            _flatten(f"{key}.{inner}", one, flat, depth + 1)
    elif isinstance(value, dict):
        flat[key] = value
    elif isinstance(value, str):
        flat[key] = value if len(value) <= VALUE_CHARS else clip(value, VALUE_CHARS)
    elif isinstance(value, list):
        flat[key] = as_json(value, VALUE_CHARS)
    elif value is not None:
        flat[key] = value


def _otlp_value(value: object, depth: int) -> object:
    if not isinstance(value, dict) or depth > 10:
        return value
    for name in (
        "stringValue",
        "intValue",
        "doubleValue",
        "boolValue",
        "string_value",
        "int_value",
        "double_value",
        "bool_value",
    ):
        if name in value:
            return value[name]
    array = value.get("arrayValue", value.get("array_value"))
    if isinstance(array, dict):
        values = array.get("values")
        return [_otlp_value(one, depth + 1) for one in values] if isinstance(values, list) else []
    pairs = value.get("kvlistValue", value.get("kvlist_value"))
    if isinstance(pairs, dict):
        return {str(pair.get("key")): _otlp_value(pair.get("value"), depth + 1) for pair in _dicts(pairs.get("values"))}
    return None


def _first(told: Mapping[str, object], names: tuple[str, ...]) -> object:
    return next((value for name in names if (value := told.get(name)) not in (None, "")), None)


def _dicts(value: object) -> Iterator[dict[str, object]]:
    if isinstance(value, list):
        yield from (one for one in value if isinstance(one, dict))
