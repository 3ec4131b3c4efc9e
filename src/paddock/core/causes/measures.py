"""What is done at this moment about the causes that stand: for the host, for resources that were fought over."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from paddock.core.causes.model import Cause, Causes, how_to_clear
from paddock.core.causes.strikes import network_ends, saturation_ends, slots_borne, takes_turns
from paddock.core.causes.vocabulary import FailureCause
from paddock.core.ids import TaskId, printable

SEVERAL = 2
"""So many tasks must have failed for it before the whole host pays: one may have met trouble of its own making."""
SYMPTOM_CHARS = 80
TURNS = "turn:"
"""The lease on a turn is another than that on the resource, which an agent may take for itself meanwhile."""


@dataclass(frozen=True, slots=True)
class Measure:
    """At most so many `agents` on the host until `until`."""

    cause: str
    agents: int
    reason: str
    until: float

    @property
    def cure(self) -> str:
        return how_to_clear(self.cause)


def host_measures(causes: Causes, host: str, now: float) -> tuple[Measure, ...]:
    """All that are in force there."""
    return tuple(found for cause in causes.standing.values() if (found := _measure(cause, host, now)) is not None)


def _measure(cause: Cause, host: str, now: float) -> Measure | None:
    """A cause that struck in the future did so before somebody set the clock back: its measure is over."""
    if cause.host not in ("", host) or len(cause.tasks) < SEVERAL or now < cause.struck - 60.0:
        return None
    said = printable(cause.symptom, SYMPTOM_CHARS)
    if cause.cause is FailureCause.NETWORK and now < network_ends(cause):
        until = network_ends(cause)
        return Measure(cause.id, 0, f"network trouble ({cause.id}: {said}): starts pause until {_clock(until)}", until)
    slots = slots_borne(cause, now) if cause.cause is FailureCause.SATURATION else None
    if slots is not None:
        until = saturation_ends(cause)
        words = f"the host was saturated ({cause.id}: {said}): {slots} agents for now, all again at {_clock(until)}"
        return Measure(cause.id, slots, words, until)
    return None


def turns_of(causes: Causes, task: TaskId, now: float) -> Iterator[Cause]:
    """Those over which the task takes turns, each with its `resource`."""
    for cause in causes.standing.values():
        if task in cause.tasks and cause.resource and takes_turns(cause, now):
            yield cause


def turn_lease(resource: str) -> str:
    return f"{TURNS}{resource}"


def _clock(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%H:%M:%S UTC")
