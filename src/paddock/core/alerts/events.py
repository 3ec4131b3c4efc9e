"""What happens to an alert. Whoever acknowledges it is the record's actor.

A new field has a default; a new meaning is a new event, as in `core/events.py`.
"""

from enum import StrEnum
from typing import ClassVar, TypeAlias

from paddock.core.events import Event


class AlertSeverity(StrEnum):
    """How soon somebody should look: at once, during the day, or when they look anyway."""

    PAGE = "page"
    TICKET = "ticket"
    NOTICE = "notice"

    @property
    def rank(self) -> int:
        """0 for the gravest."""
        return list(AlertSeverity).index(self)


class AlertRaised(Event, frozen=True):
    """`key` names the cause: one alert stands for each. `episode` counts how often it came back within a day.
    `lasting`: it is about something that has happened, which does not go away by itself."""

    kind: ClassVar[str] = "alert.raised"
    id: str
    key: str
    rule: str
    severity: AlertSeverity
    title: str
    subject: str = ""
    evidence: tuple[str, ...] = ()
    run: str = ""
    count: int = 1
    episode: int = 1
    lasting: bool = False


class AlertGrown(Event, frozen=True):
    """Much more of the same has been seen since it was last told."""

    kind: ClassVar[str] = "alert.grown"
    id: str
    count: int
    title: str
    evidence: tuple[str, ...] = ()


class AlertEscalated(Event, frozen=True):
    """It is graver now, by the word of `rule`, with what that says to run. Both are empty where they stay."""

    kind: ClassVar[str] = "alert.escalated"
    id: str
    severity: AlertSeverity
    count: int
    title: str
    evidence: tuple[str, ...] = ()
    rule: str = ""
    run: str = ""


class AlertAcknowledged(Event, frozen=True):
    """Somebody knows. Nobody is told of it any more in this episode."""

    kind: ClassVar[str] = "alert.acknowledged"
    id: str
    note: str = ""


class AlertExpired(Event, frozen=True):
    """It still holds, and is no longer shown: everybody knows, or nobody cares."""

    kind: ClassVar[str] = "alert.expired"
    id: str
    why: str = ""


class AlertResolved(Event, frozen=True):
    """What it was about is gone."""

    kind: ClassVar[str] = "alert.resolved"
    id: str
    why: str = ""


AlertEvent: TypeAlias = AlertRaised | AlertGrown | AlertEscalated | AlertAcknowledged | AlertExpired | AlertResolved
