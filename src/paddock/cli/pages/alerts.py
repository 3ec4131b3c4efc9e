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
    yield f"{_head(alert)}  {cut(alert.title, max(30, width() - 20))}"
    back = [f"came back {plural(alert.episode - 1, 'time')} within a day"] if alert.episode > 1 else []
    for line in (*alert.evidence, *back):
        yield paint(f"{'':<20}{cut(line, max(30, width() - 20))}", dim=True)
    if alert.run:
        yield paint(f"{'':<20}run: {cut(alert.run, max(30, width() - 25))}", dim=True)


def _line(alert: Alert) -> str:
    by = f"{alert.by}{f': {alert.note}' if alert.note else ''}" if alert.by else ""
    ended = f"{alert.why}, {age(alert.ended)} ago" if alert.ended else ""
    after = " · ".join(filter(None, (ended, by)))
    room = max(30, width() - 24 - min(len(after), 60))
    return f"{_head(alert)}  {cut(alert.title, room)}  {paint(cut(after, 60), dim=True)}".rstrip()


def rule_lines(view: AlertRulesView) -> Iterator[str]:
    for rule in view.rules:
        severity = paint(f"{rule.severity:<7}", COLOURS[rule.severity]) if rule.on else paint("off    ", dim=True)
        yield f"{rule.name:<16} {severity} {cut(rule.about, max(30, width() - 26))}{_marks(rule)}"
    yield ""
    yield paint("to set one: [alerts.NAME] in paddock.toml with on, severity, limit or window", dim=True)


def _marks(rule: AlertRuleView) -> str:
    return paint("  (set)", dim=True) if rule.changed else ""


def trial_lines(view: AlertsTrialView) -> Iterator[str]:
    yield f"{plural(view.runs, 'ended attempt')} of the last days, {time.strftime('%H:%M:%S')}"
    for rule in view.rules:
        yield from _trial(rule)


def _trial(rule: RuleTrialView) -> Iterator[str]:
    verdict = paint(f"{rule.verdict:<11}", VERDICTS.get(rule.verdict), dim=rule.verdict == "off")
    yield f"{rule.rule:<16} {verdict} {cut(rule.sees, max(30, width() - 30))}"
    for one in rule.conditions:
        yield from _condition(one)


def _condition(one: ConditionView) -> Iterator[str]:
    severity = paint(one.severity, COLOURS[one.severity])
    told = f"{one.alert} is {one.state}" if one.alert else "would be raised"
    yield f"{'':<17}{severity}: {cut(one.title, max(30, width() - 45))}  {paint(told, dim=True)}"
    for line in one.evidence:
        yield paint(f"{'':<19}{cut(line, max(30, width() - 20))}", dim=True)
