"""What is known of schedules. Frozen, bounded, and decoded only where somebody asks."""

from msgspec import Struct

from paddock.core.ids import TaskId
from paddock.core.schedules.events import CatchUp, Overlap, ScheduledWork, WhySkipped

MOST_SCHEDULES = 200
MOST_WAITING = 24
"""Times that one schedule may have waiting for their turn: a day of hours."""
FAILURES_IN_A_ROW = 3
LABEL = "schedule:"
"""Before the name of a schedule in the label and the series of its tasks."""


class Firing(Struct, frozen=True, array_like=True, gc=False):
    """See `ScheduleFired`. `at` is when it did."""

    due: float | None
    at: float
    tasks: tuple[TaskId, ...] = ()
    convoy: str | None = None
    missed: int = 0


class Skipped(Struct, frozen=True, array_like=True, gc=False):
    """See `ScheduleSkipped`. `in_a_row` counts since it last fired."""

    due: float
    why: WhySkipped
    behind: TaskId | None = None
    in_a_row: int = 1


class Failure(Struct, frozen=True, array_like=True, gc=False):
    at: float
    reason: str
    in_a_row: int = 1


class Schedule(Struct, frozen=True, array_like=True):
    """`settled`: whatever was due up to then has fired, was skipped or waits in `waiting`. `unfinished` are tasks of
    its firings that were not finished when it last fired. `paused` is why, None if it is not."""

    name: str
    cron: str
    zone: str
    work: ScheduledWork
    added: float
    by: str
    settled: float
    jitter_seconds: float = 0.0
    catch_up: CatchUp = CatchUp.ONCE
    overlap: Overlap = Overlap.SKIP
    budget_usd: float | None = None
    forced: str = ""
    waiting: tuple[float, ...] = ()
    unfinished: tuple[TaskId, ...] = ()
    firings: int = 0
    last: Firing | None = None
    skipped: Skipped | None = None
    failure: Failure | None = None
    paused: str | None = None
    paused_at: float = 0.0

    @property
    def label(self) -> str:
        """Of every task that it adds."""
        return f"{LABEL}{self.name}"


class Schedules(Struct, frozen=True, array_like=True):
    """In the order in which they were added."""

    by_name: dict[str, Schedule] = {}


def series_of(name: str, step: str = "") -> str:
    """What tasks of one step share from firing to firing: `schedule:nightly/tests`."""
    return f"{LABEL}{name}/{step}" if step else f"{LABEL}{name}"
