"""A run as OpenTelemetry spans, with the names of its conventions for generative AI.

One `invoke_agent` span with an `execute_tool` span for each step and a `chat` span for each call of a model. What the
conventions have no name for is Paddock's own: `paddock.*`. The same run has the same ids whenever it is exported.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from hashlib import blake2b

from paddock.core.trace import TokenUsage
from paddock.insight.model_provider import provider_of
from paddock.insight.trace import Facts, ModelCall, Result, Step, StepStatus, Trace

SCHEMA_URL = "https://opentelemetry.io/schemas/1.41.0"
"""The conventions for generative AI are in development: this is the version whose names these are."""
OTHER_PROVIDER = "_OTHER"

Value = str | bool | int | float | Sequence[str]


class SpanKind(IntEnum):
    INTERNAL = 1
    CLIENT = 3


class SpanStatus(IntEnum):
    UNSET = 0
    OK = 1
    ERROR = 2


@dataclass(frozen=True, slots=True)
class Span:
    """Times are nanoseconds since the epoch."""

    trace_id: bytes
    span_id: bytes
    parent_id: bytes
    name: str
    kind: SpanKind
    start: int
    end: int
    attributes: Mapping[str, Value]
    status: SpanStatus = SpanStatus.UNSET
    message: str = ""


def resource_of(trace: Trace) -> dict[str, Value]:
    return _known({"service.name": "paddock", "host.name": trace.host, "paddock.label": trace.label})


def spans_of(trace: Trace) -> list[Span]:
    """The root first. Empty for a run of which no time is known: a span cannot be without one."""
    times = [at for at in (trace.started, *_times(trace), trace.ended) if at is not None]
    if not times:
        return []
    begin = trace.started if trace.started is not None else min(times)
    end = max(begin, trace.ended if trace.ended is not None else max(times))
    identity = blake2b(
        f"{trace.label}\0{trace.run}\0{trace.started}".encode("utf-8", "replace"), digest_size=16
    ).digest()
    root = _span_id(identity, "run", 0)
    spans = [_root(trace, identity, root, _ns(begin), _ns(end))]
    at = begin
    for number, step in enumerate(trace.steps):
        at = max(at, step.at) if step.at is not None else at
        spans.append(_tool(step, identity, root, number, at))
    at = begin
    for number, call in enumerate(trace.calls):
        at = max(at, call.at) if call.at is not None else at
        spans.append(_chat(call, trace, identity, root, number, at))
    return spans


def _times(trace: Trace) -> Iterator[float | None]:
    yield from (step.at for step in trace.steps)
    yield from (call.at for call in trace.calls)


def _root(trace: Trace, identity: bytes, span: bytes, start: int, end: int) -> Span:
    name = trace.agent or trace.engine
    failed = trace.outcome is Result.FAILURE
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": provider_of(trace.model) or OTHER_PROVIDER,
        "gen_ai.agent.name": name,
        "gen_ai.agent.version": trace.engine_version,
        "gen_ai.request.model": trace.model,
        **_usage(trace.usage),
        "gen_ai.usage.reasoning.output_tokens": trace.reasoning_tokens,
        "error.type": trace.end_state.value if failed else "",
        "paddock.run": trace.run,
        "paddock.task": trace.task,
        "paddock.task.kind": trace.kind,
        "paddock.engine": trace.engine,
        "paddock.account": trace.account,
        "paddock.outcome": trace.outcome.value,
        "paddock.end_state": trace.end_state.value,
        "paddock.cost_usd": trace.usage.cost_usd if trace.usage is not None else None,
        "paddock.cost_source": trace.cost_source.value,
        "paddock.startup_tokens": trace.startup_tokens,
        "paddock.waited_seconds": trace.waited_seconds,
        "paddock.model_calls": trace.model_calls,
        **_facts(trace.facts),
    }
    status = SpanStatus.ERROR if failed else SpanStatus.OK if trace.outcome is Result.SUCCESS else SpanStatus.UNSET
    named = f"invoke_agent {name}".strip()
    told = _known(attributes)
    return Span(identity, span, b"", named, SpanKind.INTERNAL, start, end, told, status, trace.error if failed else "")


def _tool(step: Step, identity: bytes, root: bytes, number: int, at: float) -> Span:
    bad = step.status in (StepStatus.ERROR, StepStatus.DENIED)
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": step.tool,
        "error.type": ("tool_error" if step.status is StepStatus.ERROR else "denied") if bad else "",
        "process.exit.code": step.exit,
        "paddock.step": number + 1,
        "paddock.activity": step.activity,
        "paddock.target": step.target,
        "paddock.subagent": step.agent,
        "paddock.turn": step.turn or None,
    }
    status = SpanStatus.ERROR if bad else SpanStatus.UNSET
    named = f"execute_tool {step.tool}".strip()
    start, end = _ns(at), _ns(at + max(0.0, step.seconds or 0.0))
    span = _span_id(identity, "step", number)
    return Span(identity, span, root, named, SpanKind.INTERNAL, start, end, _known(attributes), status, step.error)


def _chat(call: ModelCall, trace: Trace, identity: bytes, root: bytes, number: int, at: float) -> Span:
    model = call.model or trace.model
    refused = call.status is not None and call.status >= 400
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider_of(model) or OTHER_PROVIDER,
        "gen_ai.request.model": model,
        "gen_ai.response.model": call.model,
        "gen_ai.response.id": call.id,
        **_usage(call.usage),
        "http.response.status_code": call.status,
        "error.type": str(call.status) if refused else "",
        "paddock.retry_after": call.retry_after,
        "paddock.cost_usd": call.usage.cost_usd if call.usage is not None else None,
    }
    status = SpanStatus.ERROR if refused else SpanStatus.UNSET
    start, end = _ns(at), _ns(at + max(0.0, call.seconds or 0.0))
    span = _span_id(identity, "call", number)
    return Span(identity, span, root, f"chat {model}".strip(), SpanKind.CLIENT, start, end, _known(attributes), status)


def _usage(usage: TokenUsage | None) -> dict[str, int | None]:
    """By the conventions `input_tokens` is all that was read, what came from a cache included."""
    if usage is None:
        return {}
    return {
        "gen_ai.usage.input_tokens": usage.input_total,
        "gen_ai.usage.output_tokens": usage.output,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write,
    }


def _facts(facts: Facts) -> dict[str, object]:
    told = {name: getattr(facts, name) for name in facts.__struct_fields__}
    return {f"paddock.facts.{name}": list(value) if isinstance(value, tuple) else value for name, value in told.items()}


def _known(attributes: Mapping[str, object]) -> dict[str, Value]:
    """Without what nobody knows."""
    return {name: value for name, value in attributes.items() if value is not None and value not in ("", [])}  # type: ignore[misc]


def _span_id(identity: bytes, what: str, number: int) -> bytes:
    return blake2b(identity + f"{what}{number}".encode(), digest_size=8).digest()


def _ns(at: float) -> int:
    """To the microsecond: a number of seconds since the epoch is not more exact."""
    return max(0, round(at * 1_000_000)) * 1_000
