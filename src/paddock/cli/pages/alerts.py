"""Alerts, their rules, and what each rule sees, as text."""

import time
from collections.abc import Iterable, Iterator

from paddock.cli.terminal.text import age, cut, paint, plural, width
from paddock.core.alerts.events import AlertSeverity
from paddock.core.alerts.model import Alert, AlertState
from paddock.views.alert_rules import AlertRulesView, AlertRuleView, AlertsTrialView, ConditionView, RuleTrialView

COLOURS = {AlertSeverity.PAGE.value: "red", AlertSeverity.TICKET.value: "yellow", AlertSeverity.NOTICE.value: "cyan"}
VERDICTS = {"raises": "red", "quiet": "green", "cannot tell": "yellow"}
_STATES = (
    (AlertState.ACKNOWLEDGED, "acknowledged"),
    (AlertState.EXPIRED, "expired: they still hold, and nobody is told any more"),
    (AlertState.RESOLVED, "resolved"),
)


def alert_lines(alerts: Iterable[Alert]) -> Iterator[str]:
    """Those that wait for somebody in full, the others a line each."""
    shown = list(alerts)
    for alert in shown:
        if alert.is_open:
            yield from _in_full(alert)
    for state, heading in _STATES:
        if found := [alert for alert in shown if alert.state is state]:
            yield paint(heading, dim=True)
            yield from (_line(alert) for alert in found)


def _head(alert: Alert) -> str:
    severity = paint(f"{alert.severity.value:<7}", COLOURS[alert.severity.value])
    return f"{alert.id:<5} {severity} {age(alert.raised):>4}"


def _in_full(alert: Alert) -> Iterator[str]:
    first, *rest = _wrapped(alert.title, 20)
    yield f"{_head(alert)}  {first}"
    yield from (f"{'':<20}{line}" for line in rest)
    back = [f"came back {plural(alert.episode - 1, 'time')} within a day"] if alert.episode > 1 else []
    for line in (*alert.evidence, *back):
        yield from (paint(f"{'':<20}{part}", dim=True) for part in _wrapped(line, 20))
    if alert.run:
        yield paint(f"{'':<20}run: {cut(alert.run, max(30, width() - 25))}", dim=True)


def _line(alert: Alert) -> str:
    by = f"{alert.by}{f': {alert.note}' if alert.note else ''}" if alert.by else ""
    ended = f"{alert.why}, {age(alert.ended)} ago" if alert.ended else ""
    after = cut(" · ".join(filter(None, (ended, by))), min(60, (width() - 22) // 2))
    room = width() - 22 - len(after)
    return f"{_head(alert)}  {cut(alert.title, room)}  {paint(after, dim=True)}".rstrip()


def _wrapped(text: str, before: int, most: int = 4) -> list[str]:
    """On as many lines as it takes, but no more than `most`, behind so many columns."""
    import textwrap

    room = max(30, width() - before)
    return textwrap.wrap(cut(text, room * most), room, break_on_hyphens=False)[:most] or [""]


def rule_lines(view: AlertRulesView) -> Iterator[str]:
    for rule in view.rules:
        severity = paint(f"{rule.severity:<7}", COLOURS[rule.severity]) if rule.on else paint("off    ", dim=True)
        first, *rest = _wrapped(f"{rule.about}{_marks(rule)}", 25)
        yield f"{rule.name:<16} {severity} {first}"
        yield from (f"{'':<25}{line}" for line in rest)
    yield ""
    yield paint("to set one: [alerts.NAME] in paddock.toml with on, severity, limit or window", dim=True)


def _marks(rule: AlertRuleView) -> str:
    return "  (set)" if rule.changed else ""


def trial_lines(view: AlertsTrialView) -> Iterator[str]:
    yield f"{plural(view.runs, 'ended attempt')} of the last days, {time.strftime('%H:%M:%S')}"
    for rule in view.rules:
        yield from _trial(rule)


def _trial(rule: RuleTrialView) -> Iterator[str]:
    verdict = paint(f"{rule.verdict:<11}", VERDICTS.get(rule.verdict), dim=rule.verdict == "off")
    first, *rest = _wrapped(rule.sees, 29)
    yield f"{rule.rule:<16} {verdict} {first}"
    yield from (f"{'':<29}{line}" for line in rest)
    for one in rule.conditions:
        yield from _condition(one)


def _condition(one: ConditionView) -> Iterator[str]:
    severity = paint(one.severity, COLOURS[one.severity])
    told = f"{one.alert} is {one.state}" if one.alert else "would be raised"
    first, *rest = _wrapped(f"{told}: {one.title}", 18 + len(one.severity))
    yield f"{'':<17}{severity} {first}"
    yield from (f"{'':<19}{line}" for line in rest)
    for line in one.evidence:
        yield from (paint(f"{'':<19}{part}", dim=True) for part in _wrapped(line, 19))
