"""A trace as a neutral line, from which exactly the same trace is read."""

import msgspec

from paddock.core.trace import TokenUsage
from paddock.insight.trace import ModelCall, Step, StepStatus, Trace


def to_neutral(trace: Trace) -> bytes:
    """Without the end of the line."""
    record = msgspec.to_builtins(trace)
    record["as_exported"] = True
    if trace.usage is not None:
        record["usage"] = _usage(trace.usage)
    if trace.steps:
        record["steps"] = [_step(step) for step in trace.steps]
    if trace.calls:
        record["calls"] = [_call(call) for call in trace.calls]
    return msgspec.json.encode(record)


def _step(step: Step) -> dict[str, object]:
    told: dict[str, object] = msgspec.to_builtins(step)
    if step.status is StepStatus.OK and (step.error or step.exit):
        told["status"] = step.status.value
    return told


def _call(call: ModelCall) -> dict[str, object]:
    told: dict[str, object] = msgspec.to_builtins(call)
    if call.usage is not None:
        told["usage"] = _usage(call.usage)
    return told


def _usage(usage: TokenUsage) -> dict[str, object]:
    """All figures, zeros too: what is left out is not known."""
    return {name: value for name in usage.__struct_fields__ if (value := getattr(usage, name)) is not None}
