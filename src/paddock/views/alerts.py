"""Alerts as readers get them: those that stand, those that ended last, and the rules that raise them."""

from collections.abc import Iterable

import msgspec

from paddock.core.alerts.model import Alert, AlertState, alert_number, by_urgency
from paddock.core.board import Board
from paddock.core.ids import printable
from paddock.views.document import Document, iso, iso_or_none, view_of

_SHOWN = (AlertState.OPEN, AlertState.ACKNOWLEDGED)


class AlertView(msgspec.Struct, frozen=True, kw_only=True):
    """`key` names the cause, and `episode` counts how often it came back within a day. `told` is when something new was
    last said of it. A `lasting` one is about something that has happened: it stays until somebody acknowledges it.
    `why` it was resolved, or has expired, at `ended`."""

    id: str
    key: str
    rule: str
    severity: str
    state: str
    title: str
    subject: str
    evidence: tuple[str, ...]
    run: str
    count: int
    episode: int
    lasting: bool
    raised: str
    told: str
    acknowledged_by: str
    acknowledged: str | None
    note: str
    ended: str | None
    why: str


class AlertsView(Document, frozen=True, kw_only=True):
    """`open` is how many wait for somebody; `alerts` are the gravest first, then those that were acknowledged."""

    seq: int
    open: int
    alerts: list[AlertView]


def view_alert(alert: Alert) -> AlertView:
    return view_of(
        AlertView,
        alert,
        severity=alert.severity.value,
        state=alert.state.value,
        title=printable(alert.title, 400),
        raised=iso(alert.raised),
        told=iso(alert.told),
        acknowledged_by=alert.by,
        acknowledged=iso_or_none(alert.acknowledged or None),
        ended=iso_or_none(alert.ended or None),
    )


def view_alerts(board: Board, *, show_all: bool = False) -> AlertsView:
    shown = shown_alerts(board, show_all=show_all)
    opened = sum(1 for alert in board.standing_alerts.values() if alert.is_open)
    return AlertsView(seq=board.seq, open=opened, alerts=[view_alert(alert) for alert in shown])


def shown_alerts(board: Board, *, show_all: bool = False) -> list[Alert]:
    """Open and acknowledged ones; with `show_all` also those that are over, the newest of these first."""
    standing = board.standing_alerts.values()
    shown = [alert for state in _SHOWN for alert in sorted(_in(standing, state), key=by_urgency)]
    if not show_all or board.alert_part.is_nothing:
        return shown
    over = [*_in(standing, AlertState.EXPIRED), *board.alerts.ended]
    return shown + sorted(over, key=lambda alert: (-alert.ended, -alert_number(alert.id)))


def _in(alerts: Iterable[Alert], state: AlertState) -> list[Alert]:
    return [alert for alert in alerts if alert.state is state]
