"""Alerts on the screen: how many wait for somebody, all of them in a dialog, and the keys that say that you know."""

from collections.abc import Sequence

from rich.text import Text

from paddock.core.alerts.events import AlertAcknowledged, AlertSeverity
from paddock.core.durations import rough_duration
from paddock.core.intent.alerts import acknowledge_alerts
from paddock.fleet.workspace import Workspace
from paddock.tui.order import moment
from paddock.tui.style import safe
from paddock.views.alerts import AlertView

COLOURS = {AlertSeverity.PAGE.value: "red", AlertSeverity.TICKET.value: "yellow", AlertSeverity.NOTICE.value: "cyan"}
ALL = "a"
MOST_NUMBERED = 9


def count_words(alerts: Sequence[AlertView]) -> Text:
    """In the colour of the gravest."""
    words = f"{len(alerts)} alert{'s' if len(alerts) != 1 else ''}"
    return Text(words, f"bold {COLOURS[alerts[0].severity]}")


def alert_lines(alerts: Sequence[AlertView], now: float) -> list[Text]:
    """Numbered as the keys are that acknowledge them."""
    lines = []
    for number, alert in enumerate(alerts, 1):
        key = str(number) if number <= MOST_NUMBERED else " "
        age = rough_duration(now - moment(alert.raised))
        head = Text.assemble((f"{key}  ", "bold"), (f"{alert.severity:<7}", COLOURS[alert.severity]))
        lines += [head + Text(f"{alert.id:<5} {age:>4}  {safe(alert.title)}")]
        lines += [Text(f"   {safe(line)}", "dim") for line in alert.evidence]
        lines += [Text(f"   run: {safe(alert.run)}", "dim")] if alert.run else []
    return lines or [Text("No alert needs attention.", "dim")]


def offered_keys(alerts: Sequence[AlertView]) -> dict[str, str]:
    """What each key of the dialog does."""
    if not alerts:
        return {}
    if len(alerts) == 1:
        return {ALL: f"acknowledge {alerts[0].id}"}
    last = min(len(alerts), MOST_NUMBERED)
    offers = {ALL: "acknowledge all", "1": f"to {last}: one of them"}
    return {**offers, **{str(number): "" for number in range(2, last + 1)}}


def chosen_alerts(alerts: Sequence[AlertView], pressed: str) -> tuple[str, ...]:
    if pressed == ALL:
        return tuple(alert.id for alert in alerts)
    return (alerts[int(pressed) - 1].id,)


def acknowledge(workspace: Workspace, names: Sequence[str]) -> str:
    """What was done, in words. Raises PaddockError."""
    records = workspace.record(lambda board: acknowledge_alerts(board, names))
    done = [record.event.id for record in records if isinstance(record.event, AlertAcknowledged)]
    return f"acknowledged {', '.join(done)}" if done else "somebody has acknowledged that already"
