"""What follows from the rest of a trace, where its source does not say so itself."""

from msgspec.structs import replace

from paddock.core.trace import TokenUsage
from paddock.insight.formats.assembly import most_of
from paddock.insight.trace import CostSource, EndState, ModelCall, Trace


def complete(trace: Trace) -> Trace:
    """What follows from the rest, where nobody says so: whether the model spoke, and figures that calls add up to."""
    first = next((call.usage for call in trace.calls if call.usage is not None), None)
    usage = trace.usage
    if usage is None and first is not None:
        usage = _sum_of_calls(trace.calls)
    calls = trace.model_calls
    if calls is None and trace.calls:
        calls = len({call.id or number for number, call in enumerate(trace.calls) if not _is_refusal(call)})
    waits = [call.retry_after for call in trace.calls if call.retry_after is not None]
    source = trace.cost_source
    if source is CostSource.UNKNOWN and usage is not None and usage.cost_usd is not None:
        source = CostSource.TOLD
    return replace(
        trace,
        usage=usage,
        cost_source=source,
        model_calls=calls,
        model_spoke=_spoke(trace, usage, calls),
        startup_tokens=trace.startup_tokens or (first.input_total or None if first is not None else None),
        waited_seconds=sum(waits) if trace.waited_seconds is None and waits else trace.waited_seconds,
    )


def _spoke(trace: Trace, usage: TokenUsage | None, calls: int | None) -> bool | None:
    """A run that is said to have made no call at all did not speak; one of which nothing is said, nobody knows."""
    if trace.model_spoke is not None:
        return trace.model_spoke
    if trace.steps or calls or (usage is not None and usage.output > 0):
        return True
    return False if calls == 0 or trace.end_state is EndState.NEVER_RAN else None


def _is_refusal(call: ModelCall) -> bool:
    return call.status is not None and call.status >= 400


def _sum_of_calls(calls: tuple[ModelCall, ...]) -> TokenUsage | None:
    """Each message once, with the most that was told of it."""
    by_message: dict[object, TokenUsage] = {}
    for number, call in enumerate(calls):
        if call.usage is not None:
            name = call.id or number
            known = by_message.get(name)
            by_message[name] = call.usage if known is None else most_of(known, call.usage)
    total: TokenUsage | None = None
    for usage in by_message.values():
        total = usage if total is None else total.plus(usage)
    priced = all(usage.cost_usd is not None for usage in by_message.values())
    return total if priced or total is None else replace(total, cost_usd=None)
