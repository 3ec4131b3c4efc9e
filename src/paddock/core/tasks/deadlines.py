"""How long a turn may take to say its first word, how long it may be silent, how long it may last.

A tool that runs has a deadline of its own: a test suite may be silent for a quarter of an hour, a model may not.
Pure: every time is seconds on one clock of the caller's choice. That of the wall is set by people, and counts the hours
a laptop slept; `Steady` puts what is known by it on one that does neither.
"""

from dataclasses import dataclass

from paddock.core.tasks.vocabulary import EndedBy


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """In seconds; `None` means no deadline."""

    startup_seconds: float | None
    silence_seconds: float | None
    turn_seconds: float | None
    tool_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class TurnTimes:
    """`last_output_at` is when the last byte came, whole line or not. `tool_runs`: the engine waits for a tool, and
    `tool_ran_at` is when one was last seen at it."""

    started_at: float
    has_output: bool
    last_output_at: float | None
    tool_runs: bool = False
    tool_ran_at: float | None = None


class Steady:
    """Moments of the wall clock, on the clock by which time is measured while somebody watches.

    How long ago something was can only be asked of the wall clock when it is first seen; what happens from then on is
    dated when it is seen. A clock that is set meanwhile, and hours of sleep, so change no span. One that was set back
    before the first look makes what lies in its future happen now.
    """

    def __init__(self) -> None:
        self._seen: dict[str, tuple[object, float]] = {}
        self._watched: set[str] = set()

    def moment(self, what: str, wall_at: float, wall: float, steady: float, sign: object = None) -> float:
        """When `what` happened, at `wall_at` by the wall, which now shows `wall`.

        `sign` changes when it happens again.
        """
        mark = (wall_at, sign)
        before = self._seen.get(what)
        if before is None or before[0] != mark:
            known = before is not None or what in self._watched
            self._seen[what] = mark, steady if known else steady - max(0.0, wall - wall_at)
        return self._seen[what][1]

    def watch(self, what: str) -> None:
        """It has not happened yet: when it does, that is then."""
        self._watched.add(what)


@dataclass(frozen=True, slots=True)
class Expiry:
    """Which deadline comes first, and when."""

    deadline: EndedBy
    at: float


def next_expiry(limits: TurnLimits, times: TurnTimes) -> Expiry | None:
    """The first deadline that will pass if nothing more happens; `None` when there is none.

    Silence counts from the start until the first output, and after a tool from its end.
    """
    spoke_at = max(times.started_at, times.last_output_at or times.started_at)
    silence = (
        (EndedBy.TOOL, spoke_at, limits.tool_seconds)
        if times.tool_runs
        else (EndedBy.SILENCE, max(spoke_at, times.tool_ran_at or spoke_at), limits.silence_seconds)
    )
    due = [
        (EndedBy.TURN, times.started_at, limits.turn_seconds),
        (EndedBy.STARTUP, times.started_at, None if times.has_output else limits.startup_seconds),
        silence,
    ]
    expiries = [Expiry(deadline, since + limit) for deadline, since, limit in due if limit is not None]
    return min(expiries, key=lambda expiry: expiry.at, default=None)


def passed_deadline(limits: TurnLimits, times: TurnTimes, now: float) -> EndedBy | None:
    """The deadline that has passed at `now`, the earliest if several have."""
    expiry = next_expiry(limits, times)
    return expiry.deadline if expiry is not None and now >= expiry.at else None
