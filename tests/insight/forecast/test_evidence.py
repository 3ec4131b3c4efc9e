"""On which past tasks a forecast rests, and what is said where there are none."""

from dataclasses import replace

import pytest

from paddock.core.tasks.vocabulary import Role
from paddock.insight.forecast.evidence import MOST_RUNS, Circle, find_evidence
from paddock.insight.forecast.past import SortOfWork
from tests.insight.forecast.made_up import SORT, drawn, evidence, past_work, wanted

OTHER_STEP = replace(SORT, series="schedule:other")
OTHER_KIND = replace(SORT, series="", kind="docs")
OTHER_AGENT = replace(SORT, series="", kind="docs", agent="writer")
OTHER_ENGINE = SortOfWork("codex", "fixer", kind="chore")


def test_the_nearest_circle_with_any_task_is_used() -> None:
    circles = [
        (drawn(3), Circle.SERIES),
        (drawn(3, sort=OTHER_STEP), Circle.KIND),
        (drawn(3, sort=OTHER_KIND), Circle.AGENT),
        (drawn(3, sort=OTHER_AGENT), Circle.ENGINE),
        (drawn(3, sort=OTHER_ENGINE), Circle.NONE),
    ]
    for number, (_, circle) in enumerate(circles):
        past = [one for group, _ in reversed(circles[number:]) for one in group]
        assert evidence(past).circle is circle


def test_imported_runs_are_the_last_resort() -> None:
    imported = drawn(20, 5.0, SortOfWork("claude"))
    found = find_evidence(wanted(), [], imported)
    assert (found.circle, found.seen) == (Circle.IMPORTED, 20)
    assert find_evidence(wanted(), drawn(1, sort=OTHER_AGENT), imported).circle is Circle.ENGINE


def test_other_models_are_other_work() -> None:
    opus, haiku = (replace(SORT, model=model) for model in ("opus", "haiku"))
    assert find_evidence(wanted(opus), drawn(9, sort=haiku)).circle is Circle.ENGINE
    assert find_evidence(wanted(opus), drawn(9, sort=opus)).circle is Circle.SERIES
    assert find_evidence(wanted(SORT), drawn(9, sort=opus)).circle is Circle.SERIES, "the engine's own choice"


def test_reviews_and_plans_are_not_taken_for_work() -> None:
    planned = replace(SORT, role=Role.PLAN)
    assert find_evidence(wanted(planned), drawn(9)).circle is Circle.ENGINE


def test_little_of_the_same_series_leans_on_much_of_the_same_kind() -> None:
    same_kind = drawn(30, sort=OTHER_STEP)
    assert evidence([*same_kind, *drawn(2)]).circle is Circle.KIND
    assert evidence([*same_kind, *drawn(8)]).circle is Circle.SERIES


def test_a_new_sort_is_as_wide_as_sorts_differ() -> None:
    own, other = evidence(drawn(40)), evidence(drawn(40, sort=OTHER_AGENT))
    assert own.is_own
    assert not other.is_own
    assert own.usd is not None
    assert other.usd is not None
    assert other.usd.belief.spread > own.usd.belief.spread
    assert other.usd.belief.middle_weight < own.usd.belief.middle_weight


def test_only_the_latest_runs_count() -> None:
    found = evidence([*drawn(500, 50.0), *drawn(MOST_RUNS, 1.0)])
    assert found.seen == MOST_RUNS
    assert max(one.usd for one in found.runs) < 20


def test_tasks_that_used_nothing_are_counted_but_not_measured() -> None:
    found = evidence([past_work(0.0, attempts=1), *drawn(3)])
    assert (found.idle, len(found.runs), found.seen) == (1, 3, 4)


def test_an_engine_that_bills_nothing_is_told_in_tokens() -> None:
    found = evidence([replace(past_work(0.0), tokens=5_000.0)] * 3, is_free=True)
    assert found.usd is None
    assert found.tokens is not None
    assert len(found.runs) == 3
    assert find_evidence(wanted(is_free=True), []).circle is Circle.FREE


def test_costs_that_were_told_win_over_an_engine_that_says_it_bills_nothing() -> None:
    own = evidence(drawn(9), is_free=True)
    assert own.usd is not None
    assert (own.circle, own.usd) == (Circle.SERIES, evidence(drawn(9)).usd)
    other = evidence(drawn(9, sort=OTHER_AGENT), is_free=True)
    assert (other.circle, other.seen) == (Circle.ENGINE, 9)
    assert other.usd is not None
    unpaid = [replace(one, usd=0.0) for one in drawn(9, sort=OTHER_AGENT)]
    assert evidence(unpaid, is_free=True).circle is Circle.FREE


@pytest.mark.parametrize("count", [0, 1, 2])
def test_no_history_is_too_short(count: int) -> None:
    found = evidence(drawn(count))
    assert found.seen == count
    assert found.usd is not None
    assert found.usd.belief.spread > 0
