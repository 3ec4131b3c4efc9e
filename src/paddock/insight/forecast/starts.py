"""How often a schedule's tasks start on a day, and which of them find the cache of their engine warm."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from paddock.core.schedules.timetable import DAY, Timetable
from paddock.insight.forecast.evidence import Evidence
from paddock.insight.forecast.warmth import CACHE_SECONDS

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
    """Each schedule finds warm only what it has read itself, so another beside it never makes it cheaper."""
    due, fired, starts = dict[str, list[float]](), dict[str, list[float]](), Counter[StartKey]()
    for plan in plans:
        times = due[plan.name] = due_on(day, plan.timetable)
        fired[plan.name] = drop_overlaps(times, plan.seconds)
        for number, task in enumerate(plan.tasks):
            cold = count_cold(times, plan.seconds, task.seconds + CACHE_SECONDS)
            starts[StartKey(plan.name, number)] += cold
            starts[StartKey(plan.name, number, is_warm=True)] += len(fired[plan.name]) - cold
    return DayStarts(day, _counts(due), _counts(fired), +starts)


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


def count_cold(times: Iterable[float], seconds: float, life: float) -> int:
    """How many firings could be so far apart that each finds the cache of the one before gone; `life` is how long it
    lasts.

    Firings in between may keep it warm for those as well. That is not counted on: else more firings of the same work
    would be forecast to cost less than fewer.
    """
    count, last = 0, float("-inf")
    for at in times:
        if at - last > life and at - last >= seconds:
            count, last = count + 1, at
    return count
