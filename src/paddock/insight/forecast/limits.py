"""Whether budgets have room for what a schedule may cost, and which sparser times would fit."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from enum import StrEnum

import msgspec

from paddock.core.money.budget import Amount, BudgetBook, limit_of
from paddock.core.money.spending import day_of
from paddock.core.schedules.thinning import SparserCron, sparser
from paddock.core.schedules.timetable import Timetable
from paddock.insight.forecast.figures import Figures, Forecast, ScheduleForecast
from paddock.insight.forecast.forecast import forecast_plans
from paddock.insight.forecast.simulation import Player
from paddock.insight.forecast.starts import Plan


class Scope(StrEnum):
    SCHEDULE = "schedule"
    """The budget of the schedule itself."""
    DAY = "day"
    """That of the day, which all schedules share."""


class Excess(msgspec.Struct, frozen=True):
    """A p90 that is above a limit: of the schedule alone, or of all together on that day. Dollars, or tokens."""

    scope: Scope
    limit: float
    p90: float
    in_tokens: bool = False
    day: float | None = None


class Thinning(msgspec.Struct, frozen=True):
    """With `cron`, `merged` runs become one. `p90` is that of the schedule then, `saves` what a day costs less on
    average, and `saves_startup` the part of it that is start-up context: so much is saved even if one run then has the
    work of all to do. Dollars, or tokens."""

    cron: str
    merged: int
    runs_before: int
    runs_after: int
    p90: float
    saves: float
    saves_startup: float
    in_tokens: bool = False


class Crowding(msgspec.Struct, frozen=True):
    """Schedules that are above the budget of a day without the one in question: `p90` is that of all, `schedules` has
    that of each, the dearest first. Dollars, or tokens."""

    p90: float
    limit: float
    schedules: tuple[tuple[str, float], ...]
    in_tokens: bool = False


@dataclass(frozen=True, slots=True)
class Budgets:
    """`own_usd` is the schedule's own, a day."""

    book: BudgetBook
    own_usd: float | None = None


def find_excess(forecast: Forecast, name: str, budgets: Budgets) -> Excess | None:
    """The first limit that is exceeded by a p90."""
    own = next(one for one in forecast.schedules if one.name == name)
    if budgets.own_usd is not None and own.fullest is not None and own.fullest.figures.usd.p90 > budgets.own_usd:
        return Excess(Scope.SCHEDULE, budgets.own_usd, own.fullest.figures.usd.p90, day=own.fullest.day)
    # A day on which it does nothing is not its doing.
    return _first_over(forecast, {one.day for one in own.days if one.firings}, budgets.book)


def _first_over(forecast: Forecast, days: Set[float], book: BudgetBook) -> Excess | None:
    for one in forecast.total:
        limit = limit_of(book, f"day:{day_of(one.day)}") if one.day in days else None
        excess = None if limit is None else _over_day(limit, one.figures, one.day)
        if excess is not None:
            return excess
    return None


def _over_day(limit: Amount, figures: Figures, day: float) -> Excess | None:
    if limit.money is not None and figures.usd.p90 > limit.money:
        return Excess(Scope.DAY, limit.money, figures.usd.p90, day=day)
    if limit.tokens is not None and figures.tokens.p90 > limit.tokens:
        return Excess(Scope.DAY, limit.tokens, figures.tokens.p90, in_tokens=True, day=day)
    return None


def find_crowding(
    own: ScheduleForecast, others: Sequence[Plan], budgets: Budgets, now: float, player: Player | None = None
) -> Crowding | None:
    """None if the others leave room on each day on which it fires, so that sparser times may fit."""
    forecast = forecast_plans(others, now, player=player)
    above = _first_over(forecast, {one.day for one in own.days if one.firings}, budgets.book)
    if above is None:
        return None
    days = {one.name: day.figures for one in forecast.schedules for day in one.days if day.day == above.day}
    each = {name: (one.tokens if above.in_tokens else one.usd).p90 for name, one in days.items()}
    dearest = sorted(((name, p90) for name, p90 in each.items() if p90), key=lambda one: -one[1])
    return Crowding(above.p90, above.limit, tuple(dearest), above.in_tokens)


def find_thinning(
    plan: Plan,
    others: Sequence[Plan],
    budgets: Budgets,
    now: float,
    excess: Excess,
    player: Player | None = None,
) -> Thinning | None:
    """The densest times that fit; None if even one run a day does not."""
    candidates, player = list(_thinnings(plan)), player or Player()
    before = forecast_plans([*others, plan], now, player=player)
    low, high = 0, len(candidates)
    found: Forecast | None = None
    while low < high:
        middle = (low + high) // 2
        tried = forecast_plans([*others, candidates[middle][0]], now, player=player)
        if find_excess(tried, plan.name, budgets) is None:
            high, found = middle, tried
        else:
            low = middle + 1
    if found is None:
        return None
    return _compare(plan.name, before, found, candidates[low][1], in_tokens=excess.in_tokens)


def _thinnings(plan: Plan) -> Iterator[tuple[Plan, SparserCron]]:
    for one in sparser(plan.timetable.cron):
        yield replace(plan, timetable=Timetable(one.cron, plan.timetable.zone)), one


def _compare(name: str, before: Forecast, after: Forecast, sparse: SparserCron, *, in_tokens: bool) -> Thinning:
    first, then = (next(one.fullest for one in told.schedules if one.name == name) for told in (before, after))
    assert first is not None
    assert then is not None
    old, new = first.figures, then.figures
    whole, startup = (
        ((old.tokens, new.tokens), (old.startup_tokens, new.startup_tokens))
        if in_tokens
        else ((old.usd, new.usd), (old.startup_usd, new.startup_usd))
    )
    return Thinning(
        cron=sparse.cron.text,
        merged=sparse.merged,
        runs_before=first.due,
        runs_after=then.due,
        p90=whole[1].p90,
        saves=whole[0].mean - whole[1].mean,
        saves_startup=max(0.0, startup[0].mean - startup[1].mean),
        in_tokens=in_tokens,
    )
