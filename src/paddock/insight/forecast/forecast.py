"""What schedules will use a day, before they do."""

from collections.abc import Sequence

from paddock.core.schedules.timetable import DAY
from paddock.insight.forecast.evidence import Evidence
from paddock.insight.forecast.figures import DayForecast, EvidenceFigures, Forecast, ScheduleForecast
from paddock.insight.forecast.simulation import Played, Player
from paddock.insight.forecast.starts import DayStarts, Plan, StartKey, day_after, starts_on

DAYS = 7
MOST_DAYS = 366


def forecast_plans(plans: Sequence[Plan], now: float, days: int = DAYS, player: Player | None = None) -> Forecast:
    """From the next whole day on. A `player` for several forecasts plays what they share once."""
    player = player or Player()
    first = day_after(now)
    starts = [starts_on(first + number * DAY, plans) for number in range(days)]
    played = dict[tuple[tuple[StartKey, int], ...], Played]()
    for one in starts:
        if one.pattern not in played:
            played[one.pattern] = player.play(plans, one.pattern)
    total = tuple(
        DayForecast(one.day, sum(one.due.values()), sum(one.firings.values()), played[one.pattern].total)
        for one in starts
    )
    return Forecast(tuple(_of_plan(plan, starts, played, first, player) for plan in plans), total)


def _of_plan(
    plan: Plan,
    starts: Sequence[DayStarts],
    played: dict[tuple[tuple[StartKey, int], ...], Played],
    first: float,
    player: Player,
) -> ScheduleForecast:
    days = tuple(
        DayForecast(one.day, one.due[plan.name], one.firings[plan.name], played[one.pattern].plans[plan.name])
        for one in starts
    )
    fullest = max(days, key=lambda one: (one.firings, one.due), default=None)
    if fullest is None or not fullest.due:
        fullest = _far_day(plan, first, player)
    return ScheduleForecast(plan.name, fullest, days, tuple(map(describe_evidence, plan.tasks)))


def _far_day(plan: Plan, first: float, player: Player) -> DayForecast | None:
    """Of one that is due more rarely than the days that are looked at."""
    due = plan.timetable.next(first - 1.0)
    if due is None:
        return None
    starts = starts_on(due // DAY * DAY, [plan])
    figures = player.play([plan], starts.pattern).plans[plan.name]
    return DayForecast(starts.day, starts.due[plan.name], starts.firings[plan.name], figures)


def describe_evidence(evidence: Evidence) -> EvidenceFigures:
    sort = evidence.wanted.sort
    return EvidenceFigures(
        engine=sort.engine,
        agent=sort.agent,
        model=sort.model,
        kind=sort.kind,
        circle=evidence.circle.value,
        runs=evidence.seen,
        attempts=evidence.attempts,
        assumed=evidence.is_assumed,
        split_known=bool(evidence.runs) and all(one.startup_share is not None for one in evidence.runs),
    )
