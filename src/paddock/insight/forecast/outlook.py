"""What schedules may cost from tomorrow on, those there are or with one more, and whether budgets have room for it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.money.budget import BudgetBook
from paddock.core.schedules.model import Schedule
from paddock.core.schedules.timetable import timetable_of
from paddock.fleet.schedules.requests import PreparedSchedule
from paddock.insight.forecast.figures import Forecast, ScheduleForecast
from paddock.insight.forecast.forecast import DAYS, forecast_plans
from paddock.insight.forecast.limits import (
    Budgets,
    Crowding,
    Excess,
    Scope,
    Thinning,
    find_crowding,
    find_excess,
    find_thinning,
)
from paddock.insight.forecast.reading import Forecaster
from paddock.insight.forecast.simulation import Player
from paddock.insight.forecast.starts import Plan

if TYPE_CHECKING:
    from paddock.fleet.workspace import Workspace

MOST_NAMED = 5
"""Schedules in a sentence."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """Of the schedules that are there. `excesses` and `problems` are by name; see `Plans` for the latter."""

    forecast: Forecast = Forecast()  # noqa: RUF009 (frozen)
    excesses: Mapping[str, Excess] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)

    def of(self, name: str) -> ScheduleForecast | None:
        return next((one for one in self.forecast.schedules if one.name == name), None)


@dataclass(frozen=True, slots=True)
class Judgement:
    """Of one that is to be added: its forecast, the budget that it is above, and what would fit, or which others leave
    no room for it at all."""

    forecast: ScheduleForecast
    excess: Excess | None = None
    thinning: Thinning | None = None
    crowding: Crowding | None = None

    @property
    def words(self) -> str:
        """Which budget it is above, as the log keeps it for one that is added all the same."""
        return "" if self.excess is None else f"its forecast was {excess_words(self.excess)}"


def look_ahead(workspace: "Workspace", board: Board, now: float, days: int = DAYS) -> Outlook:
    """Of all that are not paused."""
    if board.schedule_part.is_nothing or not board.schedules.by_name:
        return Outlook()
    found = Forecaster(workspace, board, now).plans()
    forecast = forecast_plans(found.plans, now, days)
    excesses = {}
    for plan in found.plans:
        excess = find_excess(forecast, plan.name, _budgets(board, board.schedules.by_name[plan.name].budget_usd))
        if excess is not None:
            excesses[plan.name] = excess
    return Outlook(forecast, excesses, found.problems)


def look_at_one(workspace: "Workspace", board: Board, schedule: Schedule, now: float, days: int = DAYS) -> Outlook:
    """Of this one alone, also if it is paused."""
    found = Forecaster(workspace, board, now).plans(lambda one: one.name == schedule.name)
    return Outlook(forecast_plans(found.plans, now, days), problems=found.problems)


def judge(workspace: "Workspace", board: Board, prepared: PreparedSchedule, now: float) -> Judgement:
    """Raises PaddockError where a firing could not add its tasks."""
    forecaster, request = Forecaster(workspace, board, now), prepared.request
    evidence = forecaster.evidence_of(prepared.name, prepared.contents)
    plan = Plan(prepared.name, timetable_of(request.cron.text, request.zone), evidence)
    others = forecaster.plans().plans if board.spending.ledger.limits else ()
    player = Player()
    forecast = forecast_plans([*others, plan], now, player=player)
    own = next(one for one in forecast.schedules if one.name == prepared.name)
    budgets = _budgets(board, request.budget_usd)
    excess = find_excess(forecast, prepared.name, budgets)
    if excess is None:
        return Judgement(own)
    crowding = find_crowding(own, others, budgets, now, player)
    if crowding is not None:
        return Judgement(own, excess, crowding=crowding)
    return Judgement(own, excess, find_thinning(plan, others, budgets, now, excess, player))


def require_room(judgement: Judgement, name: str) -> None:
    """Raises PaddockError with the times that would fit, or with what else there is to do."""
    if judgement.excess is None:
        return
    raise PaddockError(
        f"schedule `{name}` is not added: its forecast is {excess_words(judgement.excess)}",
        thinning_words(judgement),
    )


def excess_words(excess: Excess) -> str:
    unit = excess.in_tokens
    whose = "its own" if excess.scope is Scope.SCHEDULE else "the day's, with all schedules together,"
    p90, limit = amount_words(excess.p90, in_tokens=unit), amount_words(excess.limit, in_tokens=unit)
    return f"above the budget: nine out of ten days stay below {p90}, and {whose} is {limit} a day"


def thinning_words(judgement: Judgement) -> str:
    """What to do instead."""
    thinning, excess = judgement.thinning, judgement.excess
    raises = "--budget" if excess is not None and excess.scope is Scope.SCHEDULE else "`paddock budget set day`"
    wide = "no task of this sort has run yet, so this is a wide guess: run one with `paddock add` to narrow it, or "
    guess = wide if judgement.forecast.is_guess else ""
    if judgement.crowding is not None:
        return _crowding_words(judgement.crowding)
    if thinning is None:
        return (
            f"{guess}choose a cheaper agent or model, as not even one run a day would fit; raise the budget with "
            f"{raises}, or add it all the same with --force"
        )
    unit = thinning.in_tokens
    saved, p90 = amount_words(thinning.saves, in_tokens=unit), amount_words(thinning.p90, in_tokens=unit)
    startup = amount_words(thinning.saves_startup, in_tokens=unit)
    return (
        f"{guess}merge these {thinning.merged} runs into 1 with `{thinning.cron}`: −{saved} a day, p90 {p90}; "
        f"of that {startup} is start-up context, saved even if one run then does the work of {thinning.merged}; "
        f"or raise the budget with {raises}, or add it all the same with --force"
    )


def _crowding_words(crowding: Crowding) -> str:
    unit, named = crowding.in_tokens, crowding.schedules[:MOST_NAMED]
    p90, limit = amount_words(crowding.p90, in_tokens=unit), amount_words(crowding.limit, in_tokens=unit)
    each = [f"`{name}` {amount_words(most, in_tokens=unit)}" for name, most in named]
    more = len(crowding.schedules) - len(named)
    listed = ", ".join((*each, *([f"{more} more"] if more else ())))
    return (
        f"other schedules leave no room: their own p90 is {p90}, and the day's budget is {limit} ({listed}); pause one "
        "with `paddock schedule pause NAME`, raise the budget with `paddock budget set day`, or add it all the same "
        "with --force"
    )


def amount_words(amount: float, *, in_tokens: bool = False) -> str:
    if in_tokens:
        return f"{amount:,.0f} tokens"
    return f"${amount:,.2f}" if amount >= 0.01 or not amount else f"${amount:.4f}"


def _budgets(board: Board, own: float | None) -> Budgets:
    return Budgets(board.spending.ledger if not board.spending_part.is_nothing else BudgetBook(), own)
