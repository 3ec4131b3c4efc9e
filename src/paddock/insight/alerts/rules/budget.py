"""Budgets: how much is used, how fast it goes, and where the day will end. One alert for each budget, however many of
the rules see that it is short."""

from paddock.config.alert_rules import RuleSetting
from paddock.core.alerts.condition import Condition
from paddock.core.alerts.events import AlertSeverity
from paddock.core.money.use import BudgetUse, budget_uses
from paddock.insight.alerts.scene import Scene, Seen, nothing, severity_of

HOUR, DAY = 3600.0, 86_400.0
NEARLY = 0.8
FEWEST_RUNS = 3
"""Of fewer a rate says little."""
LEAST_USED = 0.1
"""While less of a budget is used, a forecast is a guess."""


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
    day = scene.day
    if day is None:
        return nothing("the day has no budget in money")
    if day.runs < FEWEST_RUNS or day.used < LEAST_USED * day.budget:
        return nothing(f"${day.used:,.2f} of ${day.budget:,.2f} used: too little for a forecast")
    total = day.used + day.rest
    words = f"the day will end at about ${total:,.2f} of ${day.budget:,.2f}"
    if total <= scene.limit(_key(day.scope), setting.limit) * day.budget:
        return nothing(words)
    hour = f"${day.spent(scene.now - HOUR, scene.now):,.2f} was spent in the last hour"
    return Seen(words, (_condition(setting, day.scope, setting.severity, words, (hour,)),))


def judge_budget_burn(scene: Scene, setting: RuleSetting) -> Seen:
    """Even pace is a day's budget in a day. Whoever works fast for some hours, and stays within it, burns nothing."""
    day = scene.day
    if day is None:
        return nothing("the day has no budget in money")
    hour = day.spent(scene.now - HOUR, scene.now) / HOUR * DAY / day.budget
    now = day.spent(scene.now - 300.0, scene.now) / 300.0 * DAY / day.budget
    words = f"money is being spent {hour:.1f} times as fast as the budget allows, {now:.1f} times in the last 5 minutes"
    limit = scene.limit(_key(day.scope), setting.limit)
    if day.runs < FEWEST_RUNS or min(hour, now) <= limit or day.used + day.rest <= day.budget:
        return nothing(words)
    return Seen(words, (_condition(setting, day.scope, setting.severity, words, ()),))


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
