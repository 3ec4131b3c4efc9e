"""How often a schedule's tasks start on a day, and which of them find the cache of their engine warm."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from paddock.core.schedules.timetable import DAY, Timetable
from paddock.insight.forecast.evidence import Evidence
from paddock.insight.forecast.past import SortOfWork

CACHE_SECONDS = 300.0
"""How long a provider keeps what it was not asked for again."""
MOST_FIRINGS = 1_440
"""A cron time has no seconds."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A schedule as it is forecast: what each firing adds, one piece of evidence a task."""

    name: str
    timetable: Timetable
    tasks: tuple[Evidence, ...]

    @property
    def seconds(self) -> float:
        """How long the agents of one firing are at work at least: those of its longest task."""
        return max((one.seconds for one in self.tasks), default=0.0)


@dataclass(frozen=True, slots=True, order=True)
class StartKey:
    """A task of a plan, by its place there, and how its start is."""

    plan: str
    task: int
    is_warm: bool = False


@dataclass(frozen=True, slots=True)
class DayStarts:
    """`day` is when it begins, `due` how often the schedules are due on it, `firings` how often each really fires: not
    while the tasks of its last firing are at work."""

    day: float
    due: Mapping[str, int]
    firings: Mapping[str, int]
    starts: Mapping[StartKey, int]

    @property
    def pattern(self) -> tuple[tuple[StartKey, int], ...]:
        """Days with the same one have the same forecast."""
        return tuple(sorted(self.starts.items()))


def day_after(moment: float) -> float:
    """When the next day begins. Days are in UTC, as those of budgets are."""
    return (moment // DAY + 1.0) * DAY


def starts_on(day: float, plans: Iterable[Plan]) -> DayStarts:
    """Of all plans together: one may find warm what another has read."""
    planned = list(plans)
    due = {plan.name: due_on(day, plan.timetable) for plan in planned}
    fired = {plan.name: drop_overlaps(due[plan.name], plan.seconds) for plan in planned}
    firings = sorted((at, index) for index, plan in enumerate(planned) for at in fired[plan.name])
    starts, read = Counter[StartKey](), dict[SortOfWork, float]()
    for at, index in firings:
        plan = planned[index]
        for number, task in enumerate(plan.tasks):
            sort = cache_of(task)
            starts[StartKey(plan.name, number, at <= read.get(sort, float("-inf")))] += 1
        # Those that start at the same moment read it at the same time: none of them finds it there.
        read |= {cache_of(task): at + task.seconds + CACHE_SECONDS for task in plan.tasks}
    return DayStarts(day, _counts(due), _counts(fired), starts)


def _counts(found: Mapping[str, Sequence[float]]) -> dict[str, int]:
    return {name: len(times) for name, times in found.items()}


def due_on(day: float, timetable: Timetable) -> list[float]:
    times = takewhile(lambda at: at < day + DAY, timetable.after(day - 1.0))
    return list(times)[:MOST_FIRINGS]


def drop_overlaps(times: Sequence[float], seconds: float) -> list[float]:
    kept = list[float]()
    for at in times:
        if not kept or at - kept[-1] >= seconds:
            kept.append(at)
    return kept


def cache_of(task: Evidence) -> SortOfWork:
    """What shares a cache: the same agent, with the same engine and model."""
    sort = task.wanted.sort
    return SortOfWork(sort.engine, sort.agent, sort.model)
