"""Traces as JSON: runs in a list, batches, and one run with all that it did."""

from collections.abc import Sequence

import msgspec

from paddock.core.trace import TokenUsage
from paddock.insight.dataset.dataset import LabelCount
from paddock.insight.dataset.names import name_of
from paddock.insight.paths import Symbols, symbol_of
from paddock.insight.trace import Facts, KeptTrace, ModelCall, Step, Trace
from paddock.views.document import Document, iso_or_none

ERROR_CHARS = 300


class UsageView(msgspec.Struct, frozen=True):
    """`input` is all that was read: `cache_read` and `cache_write` are parts of it. `source` says who tells the cost:
    the engine (`told`), the table of prices (`priced`) or a guess (`estimated`); without it the cost is None."""

    input: int
    cache_read: int
    cache_write: int
    output: int
    cost_usd: float | None
    source: str


class TraceRow(msgspec.Struct, frozen=True):
    """`name` is what `paddock traces show` takes. `odd_steps` are those whose activity no table knows."""

    name: str
    run: str
    label: str
    task: str
    kind: str
    agent: str
    engine: str
    model: str
    outcome: str
    end_state: str
    started: str | None
    ended: str | None
    seconds: float | None
    steps: int
    odd_steps: int
    model_calls: int | None
    usage: UsageView | None
    error: str


class LabelView(msgspec.Struct, frozen=True):
    """`outdated` are runs that an older extractor has made: `paddock traces rebuild` makes them again."""

    label: str
    runs: int
    steps: int
    failed: int
    outdated: int
    first: str | None
    last: str | None


class TracesView(Document, frozen=True, kw_only=True):
    """The latest last. `behind` is why what the fleet did lately is missing, None if it is not."""

    runs: list[TraceRow]
    behind: str | None


class LabelsView(Document, frozen=True, kw_only=True):
    labels: list[LabelView]
    behind: str | None


class StepView(msgspec.Struct, frozen=True, omit_defaults=True):
    """`symbol` is what the step counts as in the path; `offset` are seconds since the run began."""

    number: int
    symbol: str
    tool: str
    target: str
    status: str
    at: str | None = None
    offset: float | None = None
    seconds: float | None = None
    exit: int | None = None
    error: str = ""
    agent: str = ""
    turn: int = 0


class CallView(msgspec.Struct, frozen=True):
    id: str
    model: str
    usage: UsageView | None
    at: str | None
    seconds: float | None
    status: int | None
    retry_after: float | None


class TraceView(Document, frozen=True, kw_only=True):
    """`path` are the symbols of the steps, immediate repeats told once. Of `facts` null is what nobody knows. `steps`
    may be cut: `row.steps` counts all."""

    row: TraceRow
    host: str
    account: str
    engine_version: str
    model_spoke: bool | None
    startup_tokens: int | None
    startup_cached: int | None
    reasoning_tokens: int | None
    waited_seconds: float | None
    facts: dict[str, object]
    tests: dict[str, bool]
    path: list[str]
    steps: list[StepView]
    calls: list[CallView]
    error: str
    tail: list[str]
    source: str
    attributes: dict[str, str]
    behind: str | None


def view_row(kept: KeptTrace) -> TraceRow:
    trace = kept.trace
    return TraceRow(
        name=name_of(kept),
        run=trace.run,
        label=trace.label,
        task=trace.task,
        kind=trace.kind,
        agent=trace.agent,
        engine=trace.engine,
        model=trace.model,
        outcome=trace.outcome.value,
        end_state=trace.end_state.value,
        started=iso_or_none(trace.started),
        ended=iso_or_none(trace.ended),
        seconds=seconds_of(trace),
        steps=kept.step_count,
        odd_steps=kept.odd_steps,
        model_calls=trace.model_calls,
        usage=_view_usage(trace.usage, trace.cost_source.value),
        error=trace.error.strip().partition("\n")[0][:ERROR_CHARS],
    )


def seconds_of(trace: Trace) -> float | None:
    """None where one of the two times is not known, or clocks disagree."""
    if trace.started is None or trace.ended is None or trace.ended < trace.started:
        return None
    return round(trace.ended - trace.started, 3)


def view_traces(runs: Sequence[KeptTrace], behind: str = "") -> TracesView:
    return TracesView(runs=[view_row(kept) for kept in runs], behind=behind or None)


def view_labels(labels: Sequence[LabelCount], behind: str = "") -> LabelsView:
    rows = [
        LabelView(
            one.label, one.runs, one.steps, one.failed, one.outdated, iso_or_none(one.first), iso_or_none(one.last)
        )
        for one in labels
    ]
    return LabelsView(labels=rows, behind=behind or None)


def view_trace(
    kept: KeptTrace,
    symbols: Symbols,
    steps: Sequence[Step],
    calls: Sequence[ModelCall],
    *,
    most_steps: int | None = None,
    behind: str = "",
) -> TraceView:
    trace = kept.trace
    return TraceView(
        row=view_row(kept),
        host=trace.host,
        account=trace.account,
        engine_version=trace.engine_version,
        model_spoke=trace.model_spoke,
        startup_tokens=trace.startup_tokens,
        startup_cached=trace.startup_cached,
        reasoning_tokens=trace.reasoning_tokens,
        waited_seconds=trace.waited_seconds,
        facts=view_facts(trace.facts),
        tests=trace.tests,
        path=[symbols.text(code) for code in kept.path],
        steps=[view_step(step, number, trace.started) for number, step in enumerate(steps[:most_steps], 1)],
        calls=[_view_call(call) for call in calls],
        error=trace.error,
        tail=trace.tail.split("\n") if trace.tail else [],
        source=trace.source,
        attributes=trace.attributes,
        behind=behind or None,
    )


def view_facts(facts: Facts) -> dict[str, object]:
    return {name: getattr(facts, name) for name in Facts.__struct_fields__}


def view_step(step: Step, number: int, began: float | None) -> StepView:
    offset = round(step.at - began, 3) if step.at is not None and began is not None else None
    return StepView(
        number=number,
        symbol=symbol_of(step),
        tool=step.tool,
        target=step.target,
        status=step.status.value,
        at=iso_or_none(step.at),
        offset=offset,
        seconds=step.seconds,
        exit=step.exit,
        error=step.error,
        agent=step.agent,
        turn=step.turn,
    )


def _view_call(call: ModelCall) -> CallView:
    usage = _view_usage(call.usage, "")
    return CallView(call.id, call.model, usage, iso_or_none(call.at), call.seconds, call.status, call.retry_after)


def _view_usage(usage: TokenUsage | None, source: str) -> UsageView | None:
    if usage is None:
        return None
    return UsageView(usage.input_total, usage.cache_read, usage.cache_write, usage.output, usage.cost_usd, source or "")
