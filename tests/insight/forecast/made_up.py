"""Past tasks and plans, made up."""

from random import Random

from paddock.core.schedules.timetable import timetable_of
from paddock.core.tasks.vocabulary import Role
from paddock.insight.forecast.evidence import Evidence, Wanted, find_evidence
from paddock.insight.forecast.past import PastWork, SortOfWork
from paddock.insight.forecast.starts import Plan

SORT = SortOfWork("claude", "fixer", "", "chore", Role.WORK, "schedule:watch")
NOW = 1_790_000_000.0


def past_work(usd: float, sort: SortOfWork = SORT, **more: object) -> PastWork:
    return PastWork(sort, NOW, usd, usd * 200_000, **more)  # type: ignore[arg-type]


def drawn(count: int, middle: float = 1.0, sort: SortOfWork = SORT, seed: int = 0, **more: object) -> list[PastWork]:
    """Log-normal, with a spread as real runs have it."""
    draw = Random(seed)
    return [past_work(middle * draw.lognormvariate(0.0, 0.7), sort, **more) for _ in range(count)]


def wanted(sort: SortOfWork = SORT, **more: object) -> Wanted:
    return Wanted(sort, guess_usd=1.3, guess_tokens=441_000.0, **more)  # type: ignore[arg-type]


def evidence(past: list[PastWork], **more: object) -> Evidence:
    return find_evidence(wanted(**more), past)  # type: ignore[arg-type]


def plan(cron: str, *tasks: Evidence, name: str = "watch", zone: str = "UTC") -> Plan:
    return Plan(name, timetable_of(cron, zone), tasks)
