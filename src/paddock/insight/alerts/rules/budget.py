"""Budgets: how much is used, how fast it goes, and where the day will end. One alert for each budget, however many of
the rules see that it is short."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from paddock.config.alert_rules import RuleSetting
from paddock.core.alerts.condition import Condition
from paddock.core.alerts.events import AlertSeverity
from paddock.core.money.budget import limit_of
from paddock.core.money.spending import day_of, money_of
from paddock.core.money.use import BudgetUse, budget_uses
from paddock.insight.alerts.scene import Scene, Seen, nothing, severity_of

HOUR, DAY = 3600.0, 86_400.0
NEARLY = 0.8
RATE_SECONDS = 2 * HOUR
FEWEST_RUNS = 3
"""Of fewer a rate says little."""
LEAST_USED = 0.1
"""While less of a budget is used, a forecast is a guess."""


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


def judge_budget_used(scene: Scene, setting: RuleSetting) -> Seen:
    conditions, parts = [], []
    for use in budget_uses(scene.board, scene.now):
        parts.append(f"{use.scope} {use.share:.0%}")
        if use.share >= NEARLY:
            usual = AlertSeverity.PAGE if use.share >= 1.0 else AlertSeverity.TICKET
            words = "is used up" if use.share >= 1.0 else f"is {use.share:.0%} used"
            title = f"the budget of {use.scope} {words}: {_of(use)}"
            conditions.append(_condition(setting, use.scope, severity_of(setting, usual), title, ()))
    return Seen(f"used: {', '.join(parts)}" if parts else "there is no budget", tuple(conditions))


def judge_budget_forecast(scene: Scene, setting: RuleSetting) -> Seen:
    day = _Day.of(scene)
    if day is None:
        return nothing("the day has no budget in money")
    if day.runs < FEWEST_RUNS or day.used < LEAST_USED * day.budget:
        return nothing(f"${day.used:,.2f} of ${day.budget:,.2f} used: too little for a forecast")
    total = day.used + day.rest()
    words = f"the day will end at about ${total:,.2f} of ${day.budget:,.2f}"
    if total <= scene.limit(_key(day.scope), setting.limit) * day.budget:
        return nothing(words)
    hour = f"${day.spent(scene.now - HOUR, scene.now):,.2f} went in the last hour"
    return Seen(words, (_condition(setting, day.scope, setting.severity, words, (hour,)),))


def judge_budget_burn(scene: Scene, setting: RuleSetting) -> Seen:
    """Even pace is a day's budget in a day. Whoever works fast for some hours, and stays within it, burns nothing."""
    day = _Day.of(scene)
    if day is None:
        return nothing("the day has no budget in money")
    hour = day.spent(scene.now - HOUR, scene.now) / HOUR * DAY / day.budget
    now = day.spent(scene.now - 300.0, scene.now) / 300.0 * DAY / day.budget
    words = f"money goes {hour:.1f} times as fast as the budget lasts, in the last minutes {now:.1f} times"
    limit = scene.limit(_key(day.scope), setting.limit)
    if day.runs < FEWEST_RUNS or min(hour, now) <= limit or day.used + day.rest() <= day.budget:
        return nothing(words)
    return Seen(words, (_condition(setting, day.scope, setting.severity, words, ()),))


@dataclass(frozen=True, slots=True)
class _Day:
    scope: str
    budget: float
    used: float
    now: float
    runs: int
    costs: Sequence[Spent]
    open_tasks: int
    cost_of_task: float | None

    @classmethod
    def of(cls, scene: Scene) -> "_Day | None":
        if scene.board.spending_part.is_nothing:
            return None
        scope = f"day:{day_of(scene.now)}"
        limit = limit_of(scene.board.spending.ledger, scope)
        if limit is None or not limit.money:
            return None
        use = next(one for one in budget_uses(scene.board, scene.now) if one.scope == scope)
        costs = list(_costs(scene))
        lately = sum(1 for one in costs if one.ended >= scene.now - RATE_SECONDS)
        schedules = not scene.board.schedule_part.is_nothing and bool(scene.board.schedules.by_name)
        per_task = None if schedules else _cost_of_task(scene)
        used = use.used.money or 0.0
        return cls(scope, limit.money, used, scene.now, lately, costs, len(scene.board.open), per_task)

    def spent(self, first: float, last: float) -> float:
        return sum(one.between(first, last) for one in self.costs)

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


def _costs(scene: Scene) -> Iterable[Spent]:
    for run in scene.ended.since(0.0):
        if run.cost:
            yield Spent(run.started, run.ended, run.cost)
    for name in list(scene.board.live):
        attempt = scene.board.tasks[name].live_attempt
        if attempt is not None and (cost := money_of(attempt)):
            yield Spent(attempt.started, scene.now, cost)


def _cost_of_task(scene: Scene) -> float | None:
    """None while nobody knows."""
    runs = [run for run in scene.ended.since(0.0) if run.cost]
    return sum(run.cost or 0.0 for run in runs) / len({run.task for run in runs}) if runs else None


def _key(scope: str) -> str:
    return f"budget:{scope}"


def _of(use: BudgetUse) -> str:
    if use.limit.money is not None:
        return f"${use.used.money or 0.0:,.2f} of ${use.limit.money:,.2f}"
    return f"{use.used.tokens:,.0f} of {use.limit.tokens or 0.0:,.0f} tokens"


def _condition(
    setting: RuleSetting, scope: str, severity: AlertSeverity, title: str, evidence: tuple[str, ...]
) -> Condition:
    return Condition(_key(scope), setting.rule.name, severity, title, scope, evidence, "paddock budget show")
