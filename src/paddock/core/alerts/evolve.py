"""What each event makes of the alerts; what has no case here cannot happen."""

from collections.abc import Iterable
from typing import assert_never

from msgspec.structs import replace

from paddock.core import events as ev
from paddock.core.alerts import events as al
from paddock.core.alerts.model import KEPT_ENDED, MOST_STANDING, Alert, Alerts, AlertState, alert_number
from paddock.core.ids import printable
from paddock.core.tasks.task import illegal

TITLE_CHARS = 200
LINE_CHARS = 200
EVIDENCE_LINES = 6


def evolve(alerts: Alerts, event: al.AlertEvent, record: ev.Record) -> Alerts:
    """Raises IllegalTransition for what cannot happen."""
    match event:
        case al.AlertRaised():
            return _raise(alerts, event, record.at)
        case al.AlertGrown():
            alert = _find(alerts, event, AlertState.OPEN, AlertState.ACKNOWLEDGED)
            return _put(alerts, _retold(alert, event, record.at))
        case al.AlertEscalated():
            alert = _find(alerts, event, AlertState.OPEN, AlertState.ACKNOWLEDGED)
            if event.severity.rank >= alert.severity.rank:
                raise illegal(event.id, f"a {alert.severity} already", event)
            rule, run = event.rule or alert.rule, _line(event.run) or alert.run
            return _put(alerts, replace(_retold(alert, event, record.at), severity=event.severity, rule=rule, run=run))
        case al.AlertAcknowledged():
            alert = _find(alerts, event, AlertState.OPEN)
            by, note = _line(record.actor), _line(event.note)
            state = AlertState.ACKNOWLEDGED
            return _put(alerts, replace(alert, state=state, by=by, acknowledged=record.at, note=note))
        case al.AlertExpired():
            alert = _find(alerts, event, AlertState.OPEN, AlertState.ACKNOWLEDGED)
            expired = replace(alert, state=AlertState.EXPIRED, ended=record.at, why=_line(event.why), evidence=())
            return _put(alerts, expired)
        case al.AlertResolved():
            return _resolve(alerts, event, record.at)
        case _:
            assert_never(event)


def _raise(alerts: Alerts, event: al.AlertRaised, at: float) -> Alerts:
    number = alert_number(event.id)
    if number <= alerts.newest:
        raise illegal(event.id, "already used", event)
    if event.key in alerts.standing:
        raise illegal(event.key, f"raised already, as {alerts.standing[event.key].id}", event)
    if len(alerts.standing) >= MOST_STANDING:
        raise illegal(event.key, "one too many", event)
    alert = Alert(
        id=event.id,
        key=event.key,
        rule=event.rule,
        severity=event.severity,
        title=printable(event.title, TITLE_CHARS),
        raised=at,
        told=at,
        subject=_line(event.subject),
        evidence=_bounded(event.evidence),
        run=_line(event.run),
        count=event.count,
        episode=event.episode,
        lasting=event.lasting,
    )
    return replace(alerts, standing={**alerts.standing, event.key: alert}, newest=number)


def _retold(alert: Alert, event: al.AlertGrown | al.AlertEscalated, at: float) -> Alert:
    title, evidence = printable(event.title, TITLE_CHARS), _bounded(event.evidence)
    return replace(alert, count=event.count, title=title, evidence=evidence, told=at)


def _resolve(alerts: Alerts, event: al.AlertResolved, at: float) -> Alerts:
    alert = _find(alerts, event, *AlertState)
    standing = {key: one for key, one in alerts.standing.items() if key != alert.key}
    ended = replace(alert, state=AlertState.RESOLVED, ended=at, why=_line(event.why), evidence=())
    return replace(alerts, standing=standing, ended=(*alerts.ended, ended)[-KEPT_ENDED:])


def _find(alerts: Alerts, event: al.AlertEvent, *states: AlertState) -> Alert:
    """One that stands, in one of these states."""
    found = next((alert for alert in alerts.standing.values() if alert.id == event.id), None)
    if found is None or found.state not in states:
        raise illegal(event.id, "not standing" if found is None else found.state.value, event)
    return found


def _put(alerts: Alerts, alert: Alert) -> Alerts:
    return replace(alerts, standing={**alerts.standing, alert.key: alert})


def _bounded(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(_line(line) for line in list(lines)[:EVIDENCE_LINES])


def _line(said: str) -> str:
    return printable(" ".join(said.split()), LINE_CHARS)
