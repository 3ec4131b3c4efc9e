"""What a landed change has cost, week by week: all that was paid in a week for what landed in it."""

from collections.abc import Mapping
from dataclasses import replace

import msgspec

from paddock.core.board import Board
from paddock.core.ids import AttemptId
from paddock.core.tasks.task import Phase
from paddock.insight.costs.attempts import FleetCosts
from paddock.insight.costs.waste import MoneyFate, MoneySplit, carried_on, split_money

WEEK_SECONDS = 7 * 86400.0
SHOWN_WEEKS = 6


class WeekCost(msgspec.Struct, frozen=True):
    """Seven days from `began`, in seconds since the epoch. Attempts count in the week in which they ended."""

    began: float
    landed: int
    split: MoneySplit

    @property
    def per_landed_usd(self) -> float | None:
        return self.split.cost_usd / self.landed if self.landed and self.split.cost_usd is not None else None


def weekly_costs(
    board: Board, costs: FleetCosts, fates: Mapping[AttemptId, MoneyFate], now: float, weeks: int = SHOWN_WEEKS
) -> list[WeekCost]:
    """The last one ends now. Weeks before the first attempt are left out."""
    carried = carried_on(costs, fates)
    landed = [task.since for name in board.tasks if (task := board.tasks[name]).phase is Phase.LANDED]
    found: list[WeekCost] = []
    for back in range(weeks, 0, -1):
        began, ended = now - back * WEEK_SECONDS, now - (back - 1) * WEEK_SECONDS
        mine = tuple(one for one in costs.attempts if began < (one.run.at or one.started) <= ended)
        count = sum(began < at <= ended for at in landed)
        if mine or count or found:
            found.append(WeekCost(began, count, split_money(replace(costs, attempts=mine), fates, carried)))
    return found
