"""Traces as text: runs and batches as tables, and one run with its path and its steps."""

from collections.abc import Iterator, Sequence
from itertools import groupby

import click

from paddock.cli.pages.costs import money, tokens
from paddock.cli.terminal.text import cut, paint, plural, width
from paddock.core.durations import rough_duration
from paddock.insight.dataset.dataset import Dataset
from paddock.views.insight.traces import LabelsView, StepView, TraceRow, TracesView, TraceView, UsageView

OUTCOME_COLOURS = {"success": "green", "failure": "red"}
BAD_STATUS = frozenset({"error", "denied"})
PATH_CHARS = 4_000
TAIL_LINES = 12
ERROR_LINES = 4
_SOURCES = {"told": "told by the engine", "priced": "by the table of prices", "estimated": "estimated"}


def warn_lacks(dataset: Dataset) -> None:
    if dataset.behind:
        click.echo(f"warning: what the fleet did lately is missing: {dataset.behind}", err=True)
    if dataset.lack:
        click.echo(f"warning: {dataset.lack}", err=True)


def row_lines(found: TracesView) -> list[str]:
    if not found.runs:
        return ["no runs; `paddock traces list --labels` shows what there is, `paddock traces import` brings others in"]
    wide = max(4, min(40, width() // 3, max(len(row.name) for row in found.runs)))
    head = f"{'run':<{wide}}  {'outcome':<8} {'ended as':<10} {'steps':>6} {'calls':>6} {'cost':>10} {'took':>6}  of"
    return [head, *(_row(row, wide) for row in found.runs)]


def _row(row: TraceRow, wide: int) -> str:
    outcome = paint(f"{row.outcome:<8}", OUTCOME_COLOURS.get(row.outcome))
    calls = "-" if row.model_calls is None else f"{row.model_calls:,}"
    cost = "-" if row.usage is None else money(row.usage.cost_usd)
    took = "-" if row.seconds is None else rough_duration(row.seconds)
    numbers = f"{row.steps:>6,} {calls:>6} {cost:>10} {took:>6}"
    told = " · ".join(filter(None, (row.task, row.kind, row.agent, row.engine, row.model, row.error)))
    end = row.end_state.replace("_", " ")
    return f"{cut(row.name, wide):<{wide}}  {outcome} {end:<10} {numbers}  {cut(told, max(20, width() - wide - 56))}"


def label_lines(found: LabelsView) -> list[str]:
    if not found.labels:
        return ["there are no traces yet; `paddock traces import` brings in runs from elsewhere"]
    wide = max(5, min(50, max(len(one.label) for one in found.labels)))
    lines = [f"{'label':<{wide}}  {'runs':>8} {'steps':>11} {'failed':>7}  from        to"]
    for one in found.labels:
        days = "  ".join(day[:10] if day else "-         " for day in (one.first, one.last))
        old = f"  {plural(one.outdated, 'run')} by an older extractor" if one.outdated else ""
        lines.append(f"{cut(one.label, wide):<{wide}}  {one.runs:>8,} {one.steps:>11,} {one.failed:>7,}  {days}{old}")
    return lines


def trace_lines(trace: TraceView) -> Iterator[str]:
    row = trace.row
    end = f"ended as {row.end_state.replace('_', ' ')}" if row.end_state != "unknown" else ""
    outcome = paint(row.outcome, OUTCOME_COLOURS.get(row.outcome))
    yield "  ".join(filter(None, (paint(cut(row.name, 120), bold=True), outcome, end)))
    for name, words in _header(trace):
        if words:
            yield f"  {name:<9} {cut(words, max(30, width() - 12))}"
    yield from _error(trace)
    yield from _path(trace.path)
    yield from _steps(trace)
    yield from _calls(trace)


def _header(trace: TraceView) -> Iterator[tuple[str, str]]:
    row = trace.row
    yield (
        "task",
        "  ".join(filter(None, (row.task, trace.attributes.get("title", ""), row.kind and f"kind {row.kind}"))),
    )
    engine = " ".join(filter(None, (row.engine, trace.engine_version)))
    yield "by", ", ".join(filter(None, (row.agent, engine, row.model, trace.host and f"on {trace.host}")))
    took = f", took {rough_duration(row.seconds)}" if row.seconds is not None else ""
    yield "when", f"{(row.started or row.ended or '')[:19].replace('T', ' ')}{took}" if row.started or row.ended else ""
    yield "usage", _usage(row.usage, row.model_calls)
    start = "" if trace.startup_tokens is None else f"{trace.startup_tokens:,} tokens before the first step"
    cached = f", {trace.startup_cached:,} of them cached" if trace.startup_cached else ""
    yield "start-up", start + cached
    waited = trace.waited_seconds
    yield "waited", f"{rough_duration(waited)} for the provider" if waited else ""
    silent = "no call of a model was seen" if trace.model_spoke is False else ""
    yield "model", silent
    yield "work", ", ".join(_facts(trace.facts))
    failed = [name for name, passed in trace.tests.items() if not passed]
    yield "tests", f"{len(trace.tests) - len(failed):,} of {len(trace.tests):,} pass" if trace.tests else ""
    yield "source", trace.source


def _usage(usage: UsageView | None, calls: int | None) -> str:
    told = "" if calls is None else plural(calls, "call")
    if usage is None:
        return told
    cached = f" ({usage.cache_read / usage.input:.0%} cached)" if usage.input and usage.cache_read else ""
    source = _SOURCES.get(usage.source, "")
    cost = f"{money(usage.cost_usd)}{f' {source}' if source and usage.cost_usd is not None else ''}"
    return ", ".join(filter(None, (told, f"{tokens(usage.input)} tokens in{cached}, {tokens(usage.output)} out", cost)))


def _facts(facts: dict[str, object]) -> Iterator[str]:
    """In the order of what a reviewer wants to know first."""
    if facts["gate"]:
        yield f"gate {facts['gate']}"
    files = facts["files"]
    if isinstance(files, tuple):
        yield f"{plural(len(files), 'file')} (+{facts['insertions'] or 0} −{facts['deletions'] or 0})"
    for name, words in (
        ("tests_added", "test added"),
        ("tests_deleted", "test deleted"),
        ("tests_skipped", "test skipped"),
        ("asserts_removed", "assertion removed"),
    ):
        count = facts[name]
        if isinstance(count, int) and count:
            noun, _, verb = words.partition(" ")
            yield f"{plural(count, noun)} {verb}"
    if facts["verified_last_edit"] is not None:
        yield "tested after the last edit" if facts["verified_last_edit"] else "not tested after the last edit"
    for name, words in (
        ("no_verify", "--no-verify"),
        ("force_push", "a forced push"),
        ("new_dependency", "a new dependency"),
        ("outside", "files outside of its paths"),
        ("ci", "changes what defines CI"),
    ):
        if facts[name]:
            yield words


def _error(trace: TraceView) -> Iterator[str]:
    if trace.row.outcome == "success":
        return
    if trace.error:
        lines = trace.error.strip().splitlines()[:ERROR_LINES]
        yield f"  {'error':<9} {paint(cut(lines[0], max(30, width() - 12)), 'red')}" if lines else ""
        yield from (f"  {'':<9} {cut(line, max(30, width() - 12))}" for line in lines[1:])
    if trace.tail:
        yield ""
        yield paint("last lines", bold=True)
        yield from (f"  {cut(line, width() - 2)}" for line in trace.tail[-TAIL_LINES:])


def _path(path: Sequence[str]) -> Iterator[str]:
    """Wrapped at the terminal's width; one that is too long is cut in the middle."""
    if not path:
        return
    yield ""
    yield paint("path", bold=True)
    most = PATH_CHARS // 12
    shown = (
        list(path) if len(path) <= most else [*path[: most // 2], f"… {len(path) - most:,} more …", *path[-most // 2 :]]
    )
    line, used = "", 0
    for symbol in shown:
        piece = cut(symbol, 60)
        if used and used + len(piece) + 3 > width() - 2:
            yield f"  {line}"
            line, used = "", 0
        coloured = paint(piece, "red" if piece.endswith("!") else None)
        line += f" → {coloured}" if used else coloured
        used += len(piece) + (3 if used else 0)
    yield f"  {line}"


def _steps(trace: TraceView) -> Iterator[str]:
    if not trace.steps:
        return
    yield ""
    yield paint(f"{plural(trace.row.steps, 'step')}", bold=True)
    for step in trace.steps:
        yield _step(step)
        if step.status in BAD_STATUS and step.error:
            for line in step.error.strip().splitlines()[:ERROR_LINES]:
                yield paint(f"{'':>26} {cut(line, max(20, width() - 28))}", dim=True)
    left = trace.row.steps - len(trace.steps)
    if left > 0:
        yield f"  … and {plural(left, 'more step')}: use --all, or --json"


def _step(step: StepView) -> str:
    at = "" if step.offset is None else f"+{rough_duration(max(0.0, step.offset))}"
    took = "" if step.seconds is None else f"{step.seconds:.1f}s"
    symbol = paint(f"{cut(step.symbol, 18):<18}", "red" if step.status in BAD_STATUS else None)
    code = f" exit {step.exit}" if step.exit else ""
    status = (
        f"  {step.status}{code}"
        if step.status not in ("ok", "unknown")
        else "  no result"
        if step.status != "ok"
        else ""
    )
    told = cut(step.target or step.tool, max(20, width() - 54))
    agent = f"  by {cut(step.agent, 30)}" if step.agent else ""
    return f"{step.number:>5} {at:>7} {took:>8}  {symbol}  {told}{agent}{status}"


def _calls(trace: TraceView) -> Iterator[str]:
    """By model, and those that a provider refused."""
    if not trace.calls:
        return
    yield ""
    yield paint(f"{plural(len(trace.calls), 'call')} of a model", bold=True)
    answered = sorted((call for call in trace.calls if call.status is None), key=lambda call: call.model)
    for model, group in groupby(answered, key=lambda call: call.model):
        calls = list(group)
        used = [call.usage for call in calls if call.usage is not None]
        read, wrote = sum(one.input for one in used), sum(one.output for one in used)
        yield f"  {cut(model or 'unnamed', 50):<34} {len(calls):>6,}  {tokens(read)} tokens in, {tokens(wrote)} out"
    refused = [call for call in trace.calls if call.status is not None]
    for status, group in groupby(sorted(refused, key=lambda call: call.status or 0), key=lambda call: call.status):
        count = len(list(group))
        yield paint(f"  refused with {status:<21} {count:>6,}", "red")
