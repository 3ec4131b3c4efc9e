"""What failures show together, set against all that could have failed."""

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.insight.failures.chances import hypergeometric_tail
from paddock.insight.failures.measures import Exposure, measure
from tests.insight.failures.runs import START, a_run


@given(st.integers(1, 30), st.data())
def test_the_tail_is_that_of_drawing_without_putting_back(total: int, data: st.DataObject) -> None:
    drawn, marked = data.draw(st.integers(0, total)), data.draw(st.integers(0, total))
    seen = data.draw(st.integers(0, total))
    ways = sum(
        comb(marked, count) * comb(total - marked, drawn - count) for count in range(seen, min(drawn, marked) + 1)
    )
    assert hypergeometric_tail(seen, drawn, marked, total) == pytest.approx(ways / comb(total, drawn), abs=1e-9)


def test_recurrence_is_how_often_other_attempts_at_the_task_failed_alike() -> None:
    failed = [a_run(number, task="a") for number in range(3)]
    runs = [*failed, a_run(3, task="a", fails=False), a_run(4, task="b", fails=False)]
    assert measure(failed, Exposure(runs)).recurrence == pytest.approx(6 / 9)
    assert measure(failed[:1], Exposure(failed[:1])).recurrence is None


def test_a_host_with_more_runs_is_not_blamed_for_having_more_failures() -> None:
    even = [a_run(number, fails=number % 4 == 0, host="big" if number % 5 else "small") for number in range(80)]
    blamed = [a_run(number, fails=number % 4 == 0, host="bad" if number % 4 == 0 else "good") for number in range(80)]
    for runs, hosts in ((even, []), (blamed, ["bad"])):
        failed = [kept for kept in runs if kept.trace.outcome == "failure"]
        lifts = measure(failed, Exposure(runs)).lifts
        assert [lift.value for lift in lifts if lift.facet == "host"] == hosts


def test_a_burst_is_told_against_what_else_ended_then() -> None:
    runs = [a_run(number, fails=False, ended=START + number * 100.0) for number in range(200)]
    failed = [a_run(1000 + number, ended=START + 5000.0 + number) for number in range(6)]
    assert (measure(failed, Exposure([*runs, *failed])).burst or 0) > 10
    spread = [a_run(1000 + number, ended=START + number * 3000.0) for number in range(6)]
    assert measure(spread, Exposure([*runs, *spread])).burst is None


def test_all_but_one_of_concurrent_attempts() -> None:
    at_once = [a_run(number, task="a", fails=number > 0, started=START, ended=START + 60) for number in range(4)]
    later = [a_run(number, task="a", started=START + 900, ended=START + 960) for number in range(10, 13)]
    told = measure([*at_once[1:], *later], Exposure([*at_once, *later]))
    assert (told.groups, told.all_but_one) == (2, 1)
