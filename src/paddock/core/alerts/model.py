"""The alerts as they stand, and those that ended last. Frozen, and bounded: older ones are only in the log."""

from enum import StrEnum

from msgspec import Struct

from paddock.core.alerts.events import AlertSeverity

KEPT_ENDED = 100
MOST_STANDING = 200
"""Open, acknowledged and expired ones together."""


class AlertState(StrEnum):
    OPEN = "open"
    ACKNOWLEDGED = "acknowledged"
    EXPIRED = "expired"
    RESOLVED = "resolved"


class Alert(Struct, frozen=True, array_like=True, gc=False):
    """`told` is when an event last said something new of it. `by` is who has acknowledged it, at `acknowledged`, with
    which `note`; `ended` and `why` are of its resolution, or of its expiry."""

    id: str
    key: str
    rule: str
    severity: AlertSeverity
    title: str
    raised: float
    told: float
    state: AlertState = AlertState.OPEN
    subject: str = ""
    evidence: tuple[str, ...] = ()
    run: str = ""
    count: int = 1
    episode: int = 1
    lasting: bool = False
    by: str = ""
    acknowledged: float = 0.0
    note: str = ""
    ended: float = 0.0
    why: str = ""

    @property
    def is_open(self) -> bool:
        """Whether it waits for somebody."""
        return self.state is AlertState.OPEN


class StandingAlerts(Struct, frozen=True, array_like=True):
    """Only those that stand; decodes from all of them, encoded."""

    standing: dict[str, Alert] = {}


class Alerts(Struct, frozen=True, array_like=True):
    """`standing` are by key, those that are not resolved; `ended` the resolved ones, the newest last. `newest` is the
    highest number given."""

    standing: dict[str, Alert] = {}
    ended: tuple[Alert, ...] = ()
    newest: int = 0

    def find(self, name: str) -> Alert | None:
        """By its id."""
        known = (*self.standing.values(), *reversed(self.ended))
        return next((alert for alert in known if alert.id == name), None)


def standing_of(alerts: Alerts) -> StandingAlerts:
    return StandingAlerts(alerts.standing)


def alert_id(number: int) -> str:
    return f"a{number}"


def alert_number(name: str) -> int:
    """0 for what is no id of an alert."""
    number = name[1:]
    return int(number) if name[:1] == "a" and number.isascii() and number.isdecimal() and len(number) <= 9 else 0


def by_urgency(alert: Alert) -> tuple[int, float, int]:
    """The gravest first, then the oldest."""
    return alert.severity.rank, alert.raised, alert_number(alert.id)
