"""How long tasks were in each phase, counted by folding the log once more, from its beginning.

A phase is never written down: it follows from what happened. So this is the only way to know how long ones took that
are over.
"""

from collections.abc import Iterable
from statistics import median

import msgspec

from paddock.core.board import Board
from paddock.core.events import Record
from paddock.core.ids import TaskId
from paddock.core.tasks.task import SATISFIED, Phase, Task

MOST_RECORDS = 400_000
"""About half a minute of folding; of a longer log nobody counts it."""

PARTS: tuple[tuple[str, str, frozenset[Phase]], ...] = (
    ("waiting for other tasks", "waiting", frozenset({Phase.WAITING})),
    ("waiting for a free agent", "ready", frozenset({Phase.READY})),
    ("running", "running", frozenset({Phase.RUNNING})),
    ("reviewing", "reviewing", frozenset({Phase.REVIEWING})),
    ("waiting for you", "approval", frozenset({Phase.APPROVAL, Phase.BLOCKED, Phase.FAILED})),
    ("in the merge queue", "queued", frozenset({Phase.QUEUED})),
)
"""What a part is called, whose colour it has, and the phases that it is made of."""


class TimePart(msgspec.Struct, frozen=True):
    """`seconds` of all tasks together, and the median of a task."""

    name: str
    state: str
    seconds: float
    median_seconds: float


class TimeUse(msgspec.Struct, frozen=True):
    """Of tasks that were finished in the time asked about: their whole lives, from when they were added."""

    tasks: int
    seconds: float
    median_seconds: float
    parts: tuple[TimePart, ...]


class PhaseClock(Board):
    """A board that remembers how long each task was in each phase."""

    def __init__(self) -> None:
        super().__init__()
        self.spent: dict[TaskId, dict[Phase, float]] = {}

    def put(self, task: Task, before: Task) -> None:
        super().put(task, before)
        if task.phase is not before.phase:
            mine = self.spent.setdefault(task.id, {})
            mine[before.phase] = mine.get(before.phase, 0.0) + max(0.0, task.since - before.since)


def clock_phases(records: Iterable[Record]) -> PhaseClock:
    """`records` are all of the log, in order."""
    board = PhaseClock()
    for record in records:
        board.apply(record)
    return board


def time_use(clock: PhaseClock, since: float = 0.0) -> TimeUse | None:
    """None if nothing was finished since then."""
    done = [
        clock.spent.get(name, {})
        for name in clock.tasks
        if (task := clock.tasks[name]).phase in SATISFIED and task.since >= since
    ]
    if not done:
        return None
    lives = [sum(spent.values()) for spent in done]
    parts = tuple(_part(name, state, phases, done) for name, state, phases in PARTS)
    return TimeUse(len(done), sum(lives), median(lives), parts)


def _part(name: str, state: str, phases: frozenset[Phase], done: list[dict[Phase, float]]) -> TimePart:
    times = [sum(spent.get(phase, 0.0) for phase in phases) for spent in done]
    return TimePart(name, state, sum(times), median(times))
