"""What days may cost, and which sparser times fit a budget."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import astuple

from paddock.core.money.budget import Amount, BudgetBook
from paddock.insight.forecast.evidence import find_evidence
from paddock.insight.forecast.forecast import forecast_plans
from paddock.insight.forecast.limits import Budgets, Scope, find_crowding, find_excess, find_thinning
from paddock.insight.forecast.simulation import play
from paddock.insight.forecast.starts import StartKey
from tests.insight.forecast.made_up import NOW, SORT, drawn, evidence, past_work, plan, wanted

HOURLY = "0 * * * *"


def test_a_day_of_many_runs_costs_about_as_many_times_what_one_does() -> None:
    past = drawn(60, 1.0)
    mean = sum(one.usd for one in past) / len(past)
    [told] = forecast_plans([plan(HOURLY, evidence(past))], NOW).schedules
    assert told.fullest is not None
    usd = told.fullest.figures.usd
    assert usd.mean == pytest.approx(24 * mean, rel=0.15)
    assert usd.p50 < usd.p90 < 2 * usd.mean, "runs even out"
    assert not told.is_guess


def test_start_up_and_work_are_told_apart_as_past_tasks_were() -> None:
    past = drawn(60, startup_share=0.25, startup_tokens_share=0.5)
    figures = forecast_plans([plan(HOURLY, evidence(past))], NOW).total[0].figures
    assert figures.startup_usd.mean == pytest.approx(0.25 * figures.usd.mean)
    assert figures.startup_usd.mean + figures.work_usd.mean == pytest.approx(figures.usd.mean)
    assert figures.startup_tokens.mean == pytest.approx(0.5 * figures.tokens.mean)
    assert figures.tokens.mean == pytest.approx(200_000 * figures.usd.mean, rel=0.02)


def test_a_warm_cache_saves_what_past_starts_would_have_saved() -> None:
    known = evidence(drawn(60, startup_share=0.3, warm_share=0.2))
    cold, warm = (
        play([plan(HOURLY, known)], [(StartKey("watch", 0, is_warm=is_warm), 24)]).total for is_warm in (False, True)
    )
    assert warm.usd.mean == pytest.approx(0.8 * cold.usd.mean, rel=0.1)
    assert warm.startup_usd.mean == pytest.approx(0.1 / 0.3 * cold.startup_usd.mean, rel=0.1)
    assert warm.work_usd.mean == pytest.approx(cold.work_usd.mean, rel=0.1)


@pytest.mark.parametrize("seconds", [0.0, 130.0, 250.0, 1500.0, 3000.0])
@pytest.mark.parametrize("warmth", [0.0, 0.5, 1.0])
def test_more_runs_never_cost_less_than_fewer_of_them(warmth: float, seconds: float) -> None:
    """However much a warm cache would save."""
    past = drawn(12, startup_share=0.9, warm_share=0.85, seconds=seconds)
    task = evidence([*past, past_work(0.0)], warmth=warmth)
    every = ("0 * * * *", "*/30 * * * *", "*/10 * * * *", "*/5 * * * *", "* * * * *")
    days = [forecast_plans([plan(cron, task)], NOW, days=1).total[0].figures for cron in every]
    for sparse, dense in pairwise(days):
        for few, many in zip(astuple(sparse), astuple(dense), strict=True):
            assert all(less <= more * (1 + 1e-9) for less, more in zip(astuple(few), astuple(many), strict=True))


def test_starts_that_were_cold_so_close_to_another_are_forecast_cold() -> None:
    past = drawn(60, startup_share=0.7, warm_share=0.67)
    starts = [(StartKey("watch", 0), 144), (StartKey("watch", 0, is_warm=True), 144)]
    cold, half, warm = (
        play([plan("*/5 * * * *", evidence(past, warmth=warmth))], starts).total.usd.mean for warmth in (0.0, 0.5, 1.0)
    )
    assert warm == pytest.approx((1 - 0.67 / 2) * cold, rel=0.01)
    assert half == pytest.approx((1 - 0.67 / 4) * cold, rel=0.01)


def test_figures_of_one_schedule_do_not_depend_on_the_others() -> None:
    task = evidence(drawn(9))
    alone = forecast_plans([plan(HOURLY, task)], NOW)
    other = plan("30 12 * * *", evidence(drawn(9, 3.0)), name="other")
    beside = forecast_plans([plan(HOURLY, task), other], NOW)
    [first, second] = beside.schedules
    assert first.fullest is not None
    assert alone.schedules[0].fullest is not None
    assert first.fullest.figures == alone.schedules[0].fullest.figures
    assert second.fullest is not None
    whole = first.fullest.figures.usd.mean + second.fullest.figures.usd.mean
    assert beside.total[0].figures.usd.mean == pytest.approx(whole, rel=0.02)


def test_the_same_question_has_the_same_answer() -> None:
    asked = [plan(HOURLY, evidence(drawn(5)))]
    assert forecast_plans(asked, NOW) == forecast_plans(asked, NOW)


@pytest.mark.parametrize("count", [0, 9])
def test_a_name_changes_no_figure(count: int) -> None:
    """The work is that of another series, and rests on the same runs."""
    past = drawn(count, sort=replace(SORT, series=""))
    names = ("watch", "look-for-flaky-tests")
    found = [find_evidence(wanted(replace(SORT, series=f"schedule:{name}")), past) for name in names]
    plans = [plan("*/10 * * * *", one, name=name) for one, name in zip(found, names, strict=True)]
    told = [forecast_plans([one], NOW).total for one in plans]
    assert told[0] == told[1]


def test_equal_work_of_two_schedules_is_not_drawn_as_one() -> None:
    """Days of 48 runs even out more than days of 24 that are counted twice."""
    task = evidence(drawn(200))
    [one, two] = (forecast_plans([plan(HOURLY, task, name=name)], NOW).total[0].figures.usd for name in ("a", "b"))
    both = forecast_plans([plan(HOURLY, task, name=name) for name in ("a", "b")], NOW).total[0].figures.usd
    assert one == two
    assert both.mean == pytest.approx(2 * one.mean, rel=0.02)
    assert both.p90 / both.mean < one.p90 / one.mean - 0.01


def test_what_is_known_of_nothing_is_a_wide_guess_and_says_so() -> None:
    [guess] = forecast_plans([plan("0 9 * * *", evidence([]))], NOW).schedules
    [known] = forecast_plans([plan("0 9 * * *", evidence(drawn(40, 1.3)))], NOW).schedules
    assert guess.is_guess
    assert guess.evidence[0].circle == "none"
    assert guess.fullest is not None
    assert known.fullest is not None
    assert guess.fullest.figures.usd.p90 > 2 * known.fullest.figures.usd.p90


def test_no_run_is_dearer_than_its_attempts_may_be() -> None:
    [told] = forecast_plans([plan("0 9 * * *", evidence(drawn(2), most_usd=3.0))], NOW).schedules
    assert told.fullest is not None
    assert told.fullest.figures.usd.p90 <= 3.0


def test_tasks_that_never_ran_are_part_of_what_is_to_come() -> None:
    past = [*drawn(30), *[past_work(0.0)] * 30]
    figures = forecast_plans([plan(HOURLY, evidence(past))], NOW).total[0].figures
    full = forecast_plans([plan(HOURLY, evidence(drawn(30)))], NOW).total[0].figures
    assert figures.usd.mean == pytest.approx(full.usd.mean / 2, rel=0.2)


def test_what_is_due_more_rarely_than_the_days_ahead_is_told_for_its_next_day() -> None:
    [told] = forecast_plans([plan("0 9 1 1 *", evidence(drawn(9)))], NOW).schedules
    assert told.fullest is not None
    assert told.fullest.day > NOW + 90 * 86400
    assert told.fullest.figures.usd.p50 > 0
    assert all(not day.due for day in told.days)


def test_an_engine_that_bills_nothing_costs_nothing_but_tokens() -> None:
    past = [replace(past_work(0.0), tokens=5_000.0)] * 20
    figures = forecast_plans([plan(HOURLY, evidence(past, is_free=True))], NOW).total[0].figures
    assert figures.usd.p90 == 0
    assert figures.tokens.p50 == pytest.approx(24 * 5_000, rel=0.2)


def judge(cron: str, budgets: Budgets, others: tuple[str, ...] = ()):  # type: ignore[no-untyped-def]
    task = evidence(drawn(60, startup_share=0.4))
    new = plan(cron, task)
    beside = [plan(other, task, name=f"other{number}") for number, other in enumerate(others)]
    excess = find_excess(forecast_plans([*beside, new], NOW), "watch", budgets)
    return excess, None if excess is None else find_thinning(new, beside, budgets, NOW, excess)


def test_a_p90_above_its_own_budget_is_thinned_until_it_fits() -> None:
    budgets = Budgets(BudgetBook(), own_usd=10.0)
    excess, thinning = judge(HOURLY, budgets)
    assert (excess.scope, excess.limit) == (Scope.SCHEDULE, 10.0)
    assert excess.p90 > 10
    assert thinning.cron == "0 */6 * * *"
    assert (thinning.merged, thinning.runs_before, thinning.runs_after) == (6, 24, 4)
    assert thinning.p90 <= 10
    assert thinning.saves < excess.p90
    assert 0 < thinning.saves_startup < thinning.saves
    assert judge(thinning.cron, budgets) == (None, None), "what is offered is accepted"
    denser = "0 */4 * * *"
    assert judge(denser, budgets)[0] is not None, "and nothing denser would be"


def test_the_budget_of_the_day_is_for_all_schedules_together() -> None:
    book = BudgetBook(limits={"day": Amount(money=60.0)})
    assert judge(HOURLY, Budgets(book)) == (None, None)
    excess, thinning = judge(HOURLY, Budgets(book), ("30 * * * *",))
    assert excess.scope is Scope.DAY
    assert thinning.merged > 1


def test_schedules_that_fill_the_day_by_themselves_are_told_from_one_that_is_too_dense() -> None:
    task = evidence(drawn(60))
    others = [plan(HOURLY, task, name="dear"), plan("0 9 * * *", task, name="cheap")]
    new = plan("0 12 * * *", evidence(drawn(60)))
    [own] = forecast_plans([new], NOW).schedules
    crowding = find_crowding(own, others, Budgets(BudgetBook(limits={"day": Amount(money=20.0)})), NOW)
    assert crowding is not None
    assert [name for name, _ in crowding.schedules] == ["dear", "cheap"]
    assert crowding.p90 > crowding.limit == 20.0
    assert crowding.p90 == forecast_plans(others, NOW).total[0].figures.usd.p90
    assert find_crowding(own, others, Budgets(BudgetBook(limits={"day": Amount(money=100.0)})), NOW) is None
    assert find_crowding(own, others, Budgets(BudgetBook(), own_usd=0.1), NOW) is None
    elsewhen = plan("0 * * * 2", task, name="tuesdays")
    [mondays] = forecast_plans([plan("0 12 * * 1", task)], NOW).schedules
    assert find_crowding(mondays, [elsewhen], Budgets(BudgetBook(limits={"day": Amount(money=20.0)})), NOW) is None


def test_a_budget_in_tokens_holds_too() -> None:
    book = BudgetBook(limits={"day": Amount(tokens=2_000_000.0)})
    excess, thinning = judge(HOURLY, Budgets(book))
    assert excess.in_tokens
    assert thinning.in_tokens
    assert thinning.p90 <= 2_000_000


def test_where_not_even_one_run_fits_nothing_is_offered() -> None:
    excess, thinning = judge(HOURLY, Budgets(BudgetBook(), own_usd=0.2))
    assert excess is not None
    assert thinning is None


def test_a_day_that_others_fill_does_not_count_against_one_that_rests_on_it() -> None:
    book = BudgetBook(limits={"day": Amount(money=20.0)})
    task = evidence(drawn(60))
    weekly = plan("0 9 * * 1", task)
    daily = plan("0 * * * 2", task, name="tuesdays")
    assert find_excess(forecast_plans([daily, weekly], NOW), "watch", Budgets(book)) is None


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 30), st.sampled_from(["0 */6 * * *", "0 9 * * 1-5", "0 0 1 * *"]), st.integers(0, 10**6))
def test_ranges_are_in_order_and_parts_within_the_whole(count: int, cron: str, moment: int) -> None:
    told = forecast_plans([plan(cron, evidence(drawn(count, seed=moment)))], NOW + moment, days=3)
    for day in (*told.total, *(one.fullest for one in told.schedules if one.fullest is not None)):
        figures = day.figures
        for one in (figures.usd, figures.startup_usd, figures.work_usd, figures.tokens):
            assert 0 <= one.p50 <= one.p90
        assert figures.startup_usd.p90 <= figures.usd.p90 + 1e-9
        assert day.firings <= day.due
