"""What a plan may take: by what such work took, by sizes, and never for nothing by accident."""

from itertools import pairwise

import msgspec
from hypothesis import given

from paddock.core.economics.estimates import PRIOR, Estimate
from paddock.core.plan.forecast import (
    Range,
    TaskForecast,
    expect_money,
    expect_seconds,
    longest_chain,
    sum_up,
)
from paddock.core.plan.plan import Plan, PlannedTask, Size
from tests.core.plan.plans import plans


def task(key: str, *after: str) -> PlannedTask:
    return PlannedTask(key, key, key, (), after)


def test_a_larger_task_works_longer_but_starts_as_quickly() -> None:
    small, medium, large = (expect_seconds(PRIOR, size.factor) for size in Size)
    start, work = PRIOR.spawn_seconds.median, PRIOR.work_seconds.median
    assert [one.p50 for one in (small, medium, large)] == [start + work / 2, start + work, start + work * 2]
    assert small.p50 < small.p90


def test_money_is_unknown_until_something_was_paid_for() -> None:
    assert expect_money(PRIOR, 1.0) is None
    paid = msgspec.structs.replace(PRIOR, work_money=Estimate(1.0, 0.5))
    assert expect_money(paid, 2.0) == Range(2.0, 2.0 * (1.0 + 1.2816 * 0.5))


def test_what_has_no_price_is_counted_and_not_summed() -> None:
    tasks = (task("a"), task("b", "a"))
    known = TaskForecast(Range(60, 120), Range(1000, 2000), Range(1.0, 2.0))
    unknown = TaskForecast(Range(30, 60), Range(500, 900))
    whole = sum_up(tasks, {"a": known, "b": unknown})
    assert (whole.money, whole.unpriced, whole.tokens) == (Range(1.0, 2.0), 1, Range(1500, 2900))
    assert (whole.chain, whole.chain_seconds) == (("a", "b"), 90)
    assert sum_up(tasks, {"a": unknown, "b": unknown}).money is None


def test_the_longest_chain_is_the_one_that_takes_longest() -> None:
    tasks = (task("a"), task("b", "a"), task("c"), task("d", "b", "c", "t7"))
    assert longest_chain(tasks, {"a": 1, "b": 1, "c": 5, "d": 1}) == (("c", "d"), 6)


@given(plans())
def test_a_chain_is_one_of_the_plans_own(plan: Plan) -> None:
    seconds = {one.key: float(len(one.paths) + 1) for one in plan.tasks}
    chain, length = longest_chain(plan.tasks, seconds)
    after = {one.key: one.after for one in plan.tasks}
    assert all(first in after[second] for first, second in pairwise(chain))
    assert max(seconds.values()) <= length <= sum(seconds.values())
