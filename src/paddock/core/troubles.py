"""What could not be done and is tried again: one book, with pauses that grow and an end at which a person is asked.

The log is told once, because telling it wakes the very loop that failed; again when the problem has changed, and then
ever more rarely. Whoever succeeds heals the trouble, and the book forgets it.
"""

from dataclasses import dataclass

import msgspec

MOST_OPEN = 256
"""More at once are one trouble with many faces; the one that was heard of longest ago is dropped."""
MOST_CHANGES_TOLD = 5
"""A problem that reads differently each time (a pid, a time) is told as rarely as one that stays, from then on."""
TOLD_AGAIN_SECONDS = 3600.0
LONGEST_SILENCE_SECONDS = 86400.0


@dataclass(frozen=True, slots=True)
class Patience:
    """Pauses double from `first_seconds` to `longest_seconds`; after `tries` failures in a row a person is asked."""

    first_seconds: float = 1.0
    longest_seconds: float = 60.0
    tries: int = 8

    def pause(self, times: int) -> float:
        return min(self.longest_seconds, self.first_seconds * 2.0 ** min(times - 1, 30))


PATIENT = Patience()
BRISK = Patience(longest_seconds=3.0)
"""For what a person who watches is waiting for: they are told within twenty seconds."""


class Trouble(msgspec.Struct, frozen=True, omit_defaults=True):
    """`problem` is the last one, `times` counts the failures in a row, `told` how often the log was told."""

    what: str
    whose: str
    problem: str
    since: float
    times: int = 1
    retry_at: float = 0.0
    told: int = 1
    told_at: float = 0.0
    hopeless: bool = False

    @property
    def title(self) -> str:
        return f"{self.what} {self.whose}" if self.whose else self.what

    def is_due(self, now: float) -> bool:
        """Whether to try again. No pause is longer than PATIENT's longest: one that is was set by another time."""
        return not now < self.retry_at <= now + PATIENT.longest_seconds


@dataclass(frozen=True, slots=True)
class Noted:
    trouble: Trouble
    to_tell: bool


class TroubleBook:
    """Open troubles by what was being done and whose it was. Time is the caller's."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, str], Trouble] = {}

    @property
    def open(self) -> tuple[Trouble, ...]:
        """The one heard of last comes last."""
        return tuple(self._open.values())

    def find(self, what: str, whose: str = "") -> Trouble | None:
        return self._open.get((what, whose))

    def note(self, what: str, whose: str, problem: str, now: float, patience: Patience = PATIENT) -> Noted:
        """It failed (again)."""
        before = self._open.pop((what, whose), None)
        times = before.times + 1 if before is not None else 1
        to_tell = before is None or _is_news(before, problem, now)
        trouble = Trouble(
            what,
            whose,
            problem,
            since=before.since if before is not None else now,
            times=times,
            retry_at=now + patience.pause(times),
            told=(before.told if before is not None else 0) + to_tell,
            told_at=now if before is None or to_tell else before.told_at,
            hopeless=times >= patience.tries,
        )
        self._open[what, whose] = trouble
        while len(self._open) > MOST_OPEN:
            del self._open[next(iter(self._open))]
        return Noted(trouble, to_tell)

    def heal(self, what: str, whose: str = "") -> bool:
        """It worked; whether there had been a trouble."""
        return self._open.pop((what, whose), None) is not None


def _is_news(before: Trouble, problem: str, now: float) -> bool:
    if problem != before.problem and before.told < MOST_CHANGES_TOLD:
        return True
    silence = min(LONGEST_SILENCE_SECONDS, TOLD_AGAIN_SECONDS * 2.0 ** min(before.told - 1, 30))
    return now - before.told_at >= silence
