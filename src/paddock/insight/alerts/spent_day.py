"""What a day with a budget has cost, and what the rest of it will cost at this pace."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from paddock.core.board import Board
from paddock.core.money.budget import limit_of
from paddock.core.money.spending import day_of, money_of
from paddock.core.money.use import budget_uses
from paddock.insight.alerts.ended import EndedRuns

DAY = 86_400.0
RATE_SECONDS = 2 * 3600.0


@dataclass(frozen=True, slots=True)
class Spent:
    """A run that has cost something, evenly over its time."""

    begun: float
    ended: float
    cost: float

    def between(self, first: float, last: float) -> float:
        length = self.ended - self.begun
        if length <= 0.0:
            return self.cost if first <= self.ended < last else 0.0
        return self.cost * max(0.0, min(last, self.ended) - max(first, self.begun)) / length


@dataclass(frozen=True)
class SpentDay:
    """`runs` are those of the last hours; `costs` of all that are remembered, by their ends. `cost_of_task` is None
    where nobody knows, or schedules make more of them."""

    scope: str
    budget: float
    used: float
    now: float
    runs: int
    costs: Sequence[Spent]
    open_tasks: int
    cost_of_task: float | None

    @classmethod
    def of(cls, board: Board, ended: EndedRuns, now: float) -> "SpentDay | None":
        """None where the day has no budget in money."""
        if board.spending_part.is_nothing:
            return None
        scope = f"day:{day_of(now)}"
        limit = limit_of(board.spending.ledger, scope)
        if limit is None or not limit.money:
            return None
        use = next(one for one in budget_uses(board, now) if one.scope == scope)
        costs = sorted((*_costs(ended), *_costs_at_work(board, now)), key=_end)
        lately = len(costs) - bisect_left(costs, now - RATE_SECONDS, key=_end)
        schedules = not board.schedule_part.is_nothing and bool(board.schedules.by_name)
        per_task = None if schedules else _cost_of_task(ended)
        return cls(scope, limit.money, use.used.money or 0.0, now, lately, costs, len(board.open), per_task)

    def spent(self, first: float, last: float) -> float:
        begin = bisect_left(self.costs, first, key=_end)
        return sum(one.between(first, last) for one in self.costs[begin:])

    @cached_property
    def rest(self) -> float:
        """What the rest of the day will cost at the pace of the last hours; no more than what the tasks that are there
        cost, and no more than that pace would make of the days before, at the same time of day."""
        pace = self.spent(self.now - RATE_SECONDS, self.now)
        left = DAY - self.now % DAY
        rest = pace / RATE_SECONDS * left
        before = [(self.spent(at - RATE_SECONDS, at), self.spent(at, at + left)) for at in self._same_times()]
        if len(before) >= 2 and all(same > 0.0 for same, _ in before):
            rest = min(rest, pace * max(after / same for same, after in before))
        if self.cost_of_task is not None:
            rest = min(rest, self.open_tasks * self.cost_of_task)
        return rest

    def _same_times(self) -> Iterable[float]:
        """Of the days before, as far as anything is known of them."""
        first = min((one.begun for one in self.costs), default=self.now)
        return [at for days in (1, 2) if (at := self.now - days * DAY) - RATE_SECONDS >= first]


def _end(spent: Spent) -> float:
    return spent.ended


def _costs(ended: EndedRuns) -> Iterable[Spent]:
    for run in ended.since(0.0):
        if run.cost:
            yield Spent(run.started, run.ended, run.cost)


def _costs_at_work(board: Board, now: float) -> Iterable[Spent]:
    for name in list(board.live):
        attempt = board.tasks[name].live_attempt
        if attempt is not None and (cost := money_of(attempt)):
            yield Spent(attempt.started, now, cost)


def _cost_of_task(ended: EndedRuns) -> float | None:
    """None while nobody knows."""
    runs = [run for run in ended.since(0.0) if run.cost]
    return sum(run.cost or 0.0 for run in runs) / len({run.task for run in runs}) if runs else None
