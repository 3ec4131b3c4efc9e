"""How long tasks were in each phase, counted on from where the last look at the log ended.

The log is folded from its beginning once; a page that is open for a day asks every minute.
"""

import heapq
import threading
from dataclasses import dataclass, field

from paddock.core.ids import TaskId
from paddock.core.tasks.task import SATISFIED
from paddock.insight.report.phase_times import MOST_RECORDS, PARTS, PhaseClock, TimeUse, time_use
from paddock.store.protocol import Query, Store

MOST_LONGEST = 3


@dataclass(frozen=True, slots=True)
class SpentTime:
    """`longest` has for each part of `use` the tasks that spent most time in it, in seconds. `problem` says why nothing
    is told."""

    use: TimeUse | None = None
    longest: dict[str, list[tuple[float, TaskId]]] = field(default_factory=dict)
    problem: str = ""


class RunningClock:
    """Shared by threads."""

    def __init__(self) -> None:
        self._clock = PhaseClock()
        self._lock = threading.Lock()
        self._log = ""

    def time_use(self, store: Store, since: float) -> SpentTime:
        """Of tasks that were finished since then."""
        board = store.board()
        head, log = board.seq, board.identity
        if head > MOST_RECORDS:
            return SpentTime(problem=f"the log has more than {MOST_RECORDS:,} records, so times are not counted")
        with self._lock:
            if head < self._clock.seq or log != self._log:
                self._clock, self._log = PhaseClock(), log
            for record in store.records(Query(after=self._clock.seq, until=head)):
                self._clock.apply(record)
            return SpentTime(time_use(self._clock, since), _longest(self._clock, since))


def _longest(clock: PhaseClock, since: float) -> dict[str, list[tuple[float, TaskId]]]:
    done = [name for name in clock.tasks if (task := clock.tasks[name]).phase in SATISFIED and task.since >= since]
    told = {}
    for part, _, phases in PARTS:
        times = ((sum(clock.spent.get(name, {}).get(phase, 0.0) for phase in phases), name) for name in done)
        told[part] = [one for one in heapq.nlargest(MOST_LONGEST, times) if one[0] > 0]
    return told
