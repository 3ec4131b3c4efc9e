"""Which runs have failed: those of which somebody says so, and those whose end says so where nobody does."""

from paddock.insight.trace import EndState, KeptTrace, Result, Trace

_BAD_ENDS = frozenset(EndState) - {EndState.OK, EndState.KILLED, EndState.UNKNOWN}
"""A run that was killed was ended by somebody, who knows why."""


def has_failed(kept: KeptTrace) -> bool:
    trace = kept.trace
    if trace.outcome is not Result.UNKNOWN:
        return trace.outcome is Result.FAILURE
    return trace.end_state in _BAD_ENDS or (trace.end_state is EndState.UNKNOWN and bool(trace.error.strip()))


def ended_at(trace: Trace) -> float | None:
    return trace.ended if trace.ended is not None else trace.started
