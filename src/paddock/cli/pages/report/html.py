"""The report as one page that needs nothing else: no script, no request to anywhere, the look of `paddock web`."""

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files

from paddock.cli.pages.report.charts import landings_chart, share_bar, time_bar
from paddock.cli.pages.report.html_money import cost_panel, offenders_panel
from paddock.cli.pages.report.markup import Child, Markup, element, join
from paddock.cli.pages.report.parts import dim, key, panel, table
from paddock.cli.pages.report.words import (
    CAUSE_STATES,
    batch_words,
    drift_words,
    duration,
    evidence_lines,
    failures_words,
    money,
    percent,
    self_test_words,
    span_words,
    test_words,
    time_words,
)
from paddock.cli.terminal.text import plural
from paddock.views.insight.findings import BatchView, ClusterCard
from paddock.views.insight.report import ReportView

OWN_STYLE = """
.report { max-width: 1120px; } .report .panel { margin-bottom: var(--s4); break-inside: avoid; }
.report td { overflow-wrap: break-word; }
.report .tw { overflow-x: auto; } .report .in > * + * { margin-top: var(--s3); }
.report .key { display: inline-block; width: 10px; height: 10px; margin-right: 6px; border-radius: 2px;
  background: var(--c); }
.report .lines { display: grid; gap: 2px; margin-top: 4px; font: 11.5px/17px var(--mono); color: var(--ink2); }
.report .figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(140px, 1fr)); gap: var(--s3); }
.report .chart { max-width: 780px; min-width: 560px; } .report .key { margin-left: 1px; }
.report .keys { display: flex; gap: var(--s4); }
.report .figures b { display: block; font-size: var(--t5); line-height: 28px; }
.report .figures span { color: var(--ink3); font-size: var(--t2); }
"""


def report_page(report: ReportView) -> str:
    style = f"{files('paddock.web').joinpath('static/paddock.css').read_text('utf-8')}{OWN_STYLE}"
    digest = b64encode(sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    title = f"{report.repository}, {span_words(report)}"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        Markup(f"<style>{style}</style>"),
    )
    return f"<!doctype html>\n{element('html', head, element('body', _main(report)), lang='en')}\n"


def _main(report: ReportView) -> Markup:
    lede = element("p", report.words, class_="lede")
    span = element("p", span_words(report), class_="dim")
    parts: tuple[Markup | None, ...] = (
        element(
            "div", element("div", element("h1", f"{report.repository}: what the fleet did"), lede, span), class_="head"
        ),
        _figures(report),
        _landed(report),
        cost_panel(report),
        _time(report),
        _failures(report),
        _drift(report),
        _alerts(report),
        _checks(report),
        offenders_panel(report),
    )
    return element("main", parts, class_="page report")


def _figures(report: ReportView) -> Markup:
    landings, split = report.landings, report.costs.split
    cost = money(split.cost_usd)
    figures = (
        (f"{landings.landed:,}", f"of {plural(landings.decided, 'decided task')} landed"),
        (money(report.costs.per_landed_usd), "a landed change"),
        (cost, f"in all, for {plural(split.attempts, 'attempt')}"),
        (money(split.thrown_usd) if split.cost_usd is not None else "unknown", "thrown away"),
        (f"{landings.failed:,}", "task failed" if landings.failed == 1 else "tasks failed"),
        (f"{landings.unfinished:,}", "not finished"),
    )
    cells = [element("div", element("b", figure), element("span", words)) for figure, words in figures]
    return element("section", element("div", element("div", cells, class_="figures"), class_="in"), class_="panel")


def _landed(report: ReportView) -> Markup:
    landings = report.landings
    if not landings.landed and not landings.failed:
        return panel("Landed", "", dim("Nothing landed, and nothing failed."))
    end = f"{landings.landed:,} landed, {landings.failed:,} failed, {landings.cancelled:,} cancelled"
    keys = element("p", key("landed", "landed"), key("failed", "failed"), class_="dim keys")
    return panel("Landed", end, element("div", landings_chart(landings.bars), class_="tw"), keys)


def _time(report: ReportView) -> Markup:
    time = report.time
    if time is None:
        return panel("Where time went", "", dim(time_words(report)))
    rows = [
        (key(part.state, part.name), percent(part.share), duration(part.seconds), duration(part.median_seconds))
        for part in time.parts
        if part.seconds
    ]
    told = table(("", "share", "all tasks", "median of a task"), rows, numbers=(1, 2, 3))
    return panel("Where time went", "", element("p", time_words(report), class_="soft"), time_bar(time), told)


def _failures(report: ReportView) -> Markup:
    part = report.failures
    body: Child = None
    if part.top:
        body = join(
            table(("cause", "attempts", ""), _cause_rows(report), numbers=(1,)),
            [_group(one) for one in part.top],
        )
    more = part.clusters - len(part.top)
    rest = dim(f"{plural(more, 'smaller cluster')}: paddock failures") if more > 0 else None
    return panel("Why things failed", "", element("p", failures_words(report), class_="soft"), body, rest)


def _cause_rows(report: ReportView) -> list[tuple[Child, ...]]:
    most = float(max(one.runs for one in report.failures.causes))
    return [
        (key(state, one.cause), f"{one.runs:,}", share_bar([(state, float(one.runs))], most, one.cause))
        for one in report.failures.causes
        for state in (CAUSE_STATES.get(one.cause, "plain"),)
    ]


def _group(group: ClusterCard) -> Markup:
    tied = f", could also be {' or '.join(group.tied)}" if group.tied else ""
    named = f"{', '.join(group.runs[:6])}{' …' if group.count > 6 else ''}"
    state = CAUSE_STATES.get(group.cause, "plain")
    lines = evidence_lines(group)
    return element(
        "div",
        element("p", element("b", f"{group.count:,}× "), element("code", group.symptom)),
        element("p", element("span", group.cause, class_=f"st {state}"), f" {group.title}{tied}", class_="soft"),
        element("div", [element("div", line) for line in lines], class_="lines") if lines else None,
        [element("p", words, class_="soft") for words in group.done],
        element("p", f"{plural(group.tasks, 'task')}, attempts {named}", class_="dim"),
        class_="top-gap",
    )


def _drift(report: ReportView) -> Markup:
    drift = report.drift
    state = "failed" if drift.drifted else "landed"
    words = drift_words(report)
    said = element("span", words, class_=f"st {state}") if drift.drifted else element("p", words, class_="soft")
    test = self_test_words(report)
    return panel("Did an agent change?", "", said, [_batch(one) for one in drift.batches], dim(test) if test else None)


def _batch(batch: BatchView) -> Markup:
    edges = [
        (
            element("code", f"{edge.first} → {edge.then}"),
            percent(edge.baseline),
            percent(edge.batch),
            percent(edge.share),
        )
        for edge in batch.edges
    ]
    cases = [(case.rule, case.run, element("code", case.evidence)) for case in batch.hard_cases]
    is_drift = batch.verdict == "drift"
    return element(
        "div",
        element("h3", f"{batch.name}: {batch.verdict}"),
        element("p", batch_words(batch), class_="dim"),
        [element("p", test_words(test), class_="soft") for test in batch.tests],
        table(("step to step", "before", "now", "of the difference"), edges, numbers=(1, 2, 3))
        if edges and is_drift
        else None,
        table(("hard rule", "attempt", "evidence"), cases) if cases else None,
        class_="top-gap",
    )


def _alerts(report: ReportView) -> Markup | None:
    alerts = report.alerts
    if not alerts.raised and not alerts.standing:
        return None
    rows = [(one.id, one.severity, one.state, one.title, one.raised[:16].replace("T", " ")) for one in alerts.standing]
    told = table(("", "severity", "state", "alert", "since"), rows) if rows else dim("None stands now.")
    return panel("Alerts", f"{alerts.raised:,} raised in this time", told)


def _checks(report: ReportView) -> Markup:
    if not report.checks:
        return panel("Slowest checks", "", dim("Too little data: no check was run."))
    rows = [
        (
            element("code", row.name),
            row.kind,
            f"{row.runs:,}",
            duration(row.median_seconds),
            f"{duration(row.longest_seconds)} in {row.slowest}",
            duration(row.seconds),
            f"{row.failed:,}",
            f"{row.flaked:,}",
        )
        for row in report.checks
    ]
    head = ("check", "of", "runs", "median", "longest", "in all", "failed", "flaked")
    return panel("Slowest checks", "", table(head, rows, numbers=(2, 3, 5, 6, 7)))
