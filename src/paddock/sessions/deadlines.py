"""How long a turn may take to say its first word, how long it may be silent, how long it may last.

Pure: every time is seconds on one clock of the caller's choice. Wall-clock time survives a restart of the
daemon but counts the hours a laptop slept, so a caller that has seen a jump should move `last_event_at`.
"""

from dataclasses import dataclass
from enum import Enum


class Deadline(Enum):
    STARTUP = "startup"
    SILENCE = "silence"
    TURN = "turn"


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """In seconds; `None` means as long as it likes."""

    startup_seconds: float | None
    silence_seconds: float | None
    turn_seconds: float | None


@dataclass(frozen=True, slots=True)
class TurnTimes:
    """`last_event_at` is the last *structured* event; for an engine that has none, its last output."""

    started_at: float
    has_output: bool
    last_event_at: float | None


@dataclass(frozen=True, slots=True)
class Expiry:
    """Which deadline comes first, and when."""

    deadline: Deadline
    at: float


def next_expiry(limits: TurnLimits, times: TurnTimes) -> Expiry | None:
    """The first deadline that will pass if nothing more happens; `None` when there is none.

    Silence counts from the start until the first event: output without events is silence.
    """
    silent_since = max(times.started_at, times.last_event_at or times.started_at)
    due = [
        (Deadline.TURN, times.started_at, limits.turn_seconds),
        (Deadline.STARTUP, times.started_at, None if times.has_output else limits.startup_seconds),
        (Deadline.SILENCE, silent_since, limits.silence_seconds),
    ]
    expiries = [Expiry(deadline, since + limit) for deadline, since, limit in due if limit is not None]
    return min(expiries, key=lambda expiry: expiry.at, default=None)


def passed_deadline(limits: TurnLimits, times: TurnTimes, now: float) -> Deadline | None:
    """The deadline that has passed at `now`, the earliest if several have."""
    expiry = next_expiry(limits, times)
    return expiry.deadline if expiry is not None and now >= expiry.at else None
