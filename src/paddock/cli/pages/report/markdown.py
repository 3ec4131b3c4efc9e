"""The report as Markdown, for chats: short tables, and what agents wrote as code that nothing in it can end."""

from collections.abc import Iterator, Sequence

from paddock.cli.pages.report.words import (
    batch_words,
    drift_words,
    duration,
    evidence_lines,
    failures_words,
    money,
    percent,
    self_test_words,
    span_words,
    split_parts,
    test_words,
    thrown_words,
    time_words,
)
from paddock.cli.terminal.text import plural
from paddock.core.ids import printable
from paddock.views.insight.report import ReportView

BAR_CHARS = 20
_MARKS = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_{}[]<>#|~!"})
MOST_GROUPS = 5


def report_markdown(report: ReportView) -> str:
    parts = (_head, _cost, _time, _failures, _drift, _alerts, _checks, _offenders)
    return "\n\n".join("\n".join(lines) for part in parts if (lines := list(part(report)))) + "\n"


def _head(report: ReportView) -> Iterator[str]:
    landings = report.landings
    yield f"# {_plain(report.repository)}: what the fleet did"
    yield ""
    yield f"{_plain(report.words)} _{span_words(report)}_"
    if landings.decided:
        yield ""
        yield from _table(
            ("landed", "failed", "cancelled", "without change", "not finished"),
            [
                (
                    str(landings.landed),
                    str(landings.failed),
                    str(landings.cancelled),
                    str(landings.without_change),
                    str(landings.unfinished),
                )
            ],
        )
    if landings.landed and len(landings.bars) > 1:
        most = max(bar.landed for bar in landings.bars)
        yield ""
        yield "```"
        for bar in landings.bars:
            name = bar.began[5:10] if bar.seconds >= 86400 else bar.began[5:16].replace("T", " ")
            yield f"{name}  {'█' * round(BAR_CHARS * bar.landed / most):<{BAR_CHARS}} {bar.landed}"
        yield "```"


def _cost(report: ReportView) -> Iterator[str]:
    split = report.costs.split
    yield "## What it cost"
    yield ""
    if not split.attempts:
        yield "No agent was at work."
        return
    yield f"**{money(report.costs.per_landed_usd)} a landed change**, {money(split.cost_usd)} in all."
    if split.cost_usd:
        rows = [(name, money(usd), percent(usd / split.cost_usd)) for name, _, usd in split_parts(split)]
        yield ""
        yield from _table(("where it went", "cost", "share"), rows)
    if report.costs.thrown_away:
        lost = [(thrown_words(row), str(row.lost), money(row.lost_usd)) for row in report.costs.thrown_away]
        yield ""
        yield from _table(("thrown away", "attempts", "cost"), lost)
    if len(report.weeks) > 1:
        weeks = [(f"from {week.began[:10]}", str(week.landed), money(week.per_landed_usd)) for week in report.weeks]
        yield ""
        yield from _table(("week", "landed", "a change"), weeks)
    if split.unpriced or split.unknown:
        yield ""
        yield f"Not included: {split.unpriced} turns without a price, {split.unknown} that told no tokens."


def _time(report: ReportView) -> Iterator[str]:
    yield "## Where time went"
    yield ""
    yield time_words(report)
    if report.time is not None:
        rows = [
            (part.name, percent(part.share), duration(part.median_seconds))
            for part in report.time.parts
            if part.seconds
        ]
        yield ""
        yield from _table(("", "share", "median of a task"), rows)


def _failures(report: ReportView) -> Iterator[str]:
    yield "## Why things failed"
    yield ""
    yield failures_words(report)
    for group in report.failures.top[:MOST_GROUPS]:
        yield ""
        tied = f", or {', or '.join(group.tied)}" if group.tied else ""
        yield f"- **{group.count}× {group.cause}**{tied}, {plural(group.tasks, 'task')}: {_code(group.symptom)}"
        yield from (f"  - {_code(line)}" for line in evidence_lines(group))
        yield from (f"  - {_plain(words)}" for words in group.done)
    if (more := report.failures.clusters - MOST_GROUPS) > 0:
        yield f"- {plural(more, 'smaller cluster')}: `paddock failures`"


def _drift(report: ReportView) -> Iterator[str]:
    yield "## Did an agent change?"
    yield ""
    yield _plain(drift_words(report))
    for batch in report.drift.batches:
        if batch.verdict != "drift" and not batch.hard_cases:
            continue
        yield ""
        yield f"- **{_plain(batch.name)}: {batch.verdict}** ({batch_words(batch)})"
        yield from (f"  - {_plain(test_words(test))}" for test in batch.tests)
        yield from (
            f"  - {_code(f'{edge.first} → {edge.then}')}: {percent(edge.baseline)} before, {percent(edge.batch)} now"
            for edge in batch.edges
            if batch.verdict == "drift"
        )
        yield from (f"  - {case.rule}: {_plain(case.run)}, {_code(case.evidence)}" for case in batch.hard_cases)
    if words := self_test_words(report):
        yield ""
        yield words


def _alerts(report: ReportView) -> Iterator[str]:
    alerts = report.alerts
    if not alerts.raised and not alerts.standing:
        return
    yield "## Alerts"
    yield ""
    yield f"{alerts.raised} raised in this time, {len(alerts.standing) + alerts.more} stand now."
    yield from (f"- {one.id} {one.severity}, {one.state}: {_plain(one.title)}" for one in alerts.standing)


def _checks(report: ReportView) -> Iterator[str]:
    yield "## Slowest checks"
    yield ""
    if not report.checks:
        yield "Too little data: no check was run."
        return
    rows = [
        (
            _code(row.name),
            row.kind,
            str(row.runs),
            duration(row.median_seconds),
            f"{duration(row.longest_seconds)} in {_plain(row.slowest)}",
            str(row.failed),
            str(row.flaked),
        )
        for row in report.checks
    ]
    yield from _table(("check", "of", "runs", "median", "longest", "failed", "flaked"), rows)


def _offenders(report: ReportView) -> Iterator[str]:
    offenders = report.offenders
    yield "## Worst offenders"
    yield ""
    if not offenders.tasks and not offenders.agents:
        yield "Nothing was thrown away."
        return
    if offenders.tasks:
        tasks = [
            (row.task, _plain(row.title), row.phase, f"{row.lost} of {row.attempts}", money(row.lost_usd))
            for row in offenders.tasks
        ]
        yield from _table(("task", "title", "now", "attempts lost", "cost"), tasks)
    if offenders.agents:
        agents = [(_plain(row.agent), f"{row.lost} of {row.attempts}", money(row.lost_usd)) for row in offenders.agents]
        yield ""
        yield from _table(("agent", "attempts lost", "cost"), agents)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def _plain(text: str) -> str:
    """As text: no link, no picture, no other markup, and nobody is mentioned by it."""
    return printable(text, 400).translate(_MARKS).replace("@", "@\u200b").replace("://", ":\u200b//")


def _code(text: str) -> str:
    """In a table too, where a bar would end the cell."""
    shown = printable(text, 160).replace("`", "'").replace("|", "¦").strip()
    return f"`{shown}`" if shown else ""
