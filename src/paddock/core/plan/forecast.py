"""How long the tasks of a plan may take and what they may cost, by what such work took so far and by their sizes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paddock.core.economics.estimates import Estimate, Learnt
from paddock.core.plan.overlaps import in_order
from paddock.core.plan.plan import PlannedTask


@dataclass(frozen=True, slots=True)
class Range:
    """Half of such work stays below `p50`, nine of ten below `p90`."""

    p50: float
    p90: float

    def plus(self, other: "Range") -> "Range":
        return Range(self.p50 + other.p50, self.p90 + other.p90)


NOTHING = Range(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class TaskForecast:
    """`money` is None where no price is known: that is not nothing."""

    seconds: Range
    tokens: Range
    money: Range | None = None


@dataclass(frozen=True, slots=True)
class PlanForecast:
    """All of it: sums of what is known of each task, as if all went badly together for `p90`. `money` is of the tasks
    that have a price; `unpriced` have none. `chain` are the tasks that take longest one after the other."""

    tokens: Range
    money: Range | None
    unpriced: int
    chain: tuple[str, ...]
    chain_seconds: float


def expect_seconds(learnt: Learnt, factor: float) -> Range:
    return _sum(learnt.work_seconds, learnt.spawn_seconds, factor)


def expect_tokens(learnt: Learnt, factor: float) -> Range:
    return _sum(learnt.work_tokens, learnt.spawn_tokens, factor)


def expect_money(learnt: Learnt, factor: float) -> Range | None:
    """None while nothing with a price was seen."""
    if learnt.work_money is None:
        return None
    return _sum(learnt.work_money, learnt.spawn_money or Estimate(0.0), factor)


def _sum(work: Estimate, start: Estimate, factor: float) -> Range:
    """A larger task works longer; its agent's start costs the same."""
    return Range(factor * work.median + start.median, factor * work.p90 + start.p90)


def sum_up(tasks: Sequence[PlannedTask], forecasts: Mapping[str, TaskForecast]) -> PlanForecast:
    """`forecasts` by key. The tasks must not wait for each other."""
    tokens, money = NOTHING, NOTHING
    priced = [one.money for one in forecasts.values() if one.money is not None]
    for one in forecasts.values():
        tokens = tokens.plus(one.tokens)
    for amount in priced:
        money = money.plus(amount)
    chain, seconds = longest_chain(tasks, {key: one.seconds.p50 for key, one in forecasts.items()})
    return PlanForecast(tokens, money if priced else None, len(forecasts) - len(priced), chain, seconds)


def longest_chain(tasks: Sequence[PlannedTask], seconds: Mapping[str, float]) -> tuple[tuple[str, ...], float]:
    """The tasks that each wait for the one before and together take longest, and how long that is."""
    best: dict[str, tuple[float, tuple[str, ...]]] = {}
    for task in in_order(tasks):
        before = max((best[name] for name in task.after if name in best), default=(0.0, ()), key=lambda one: one[0])
        best[task.key] = before[0] + seconds[task.key], (*before[1], task.key)
    length, chain = max(best.values(), default=(0.0, ()), key=lambda one: one[0])
    return chain, length
