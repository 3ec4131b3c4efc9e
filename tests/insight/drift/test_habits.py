"""What runs do at all, and how much of it."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.insight.drift.habits import Deviations, deviate, tabulate_habits
from paddock.insight.drift.strata import match_runs
from paddock.insight.drift.units import Units, labels_of, units_of
from paddock.insight.trace import KeptTrace
from tests.insight.drift.runs import Made, wander


def units_between(batch: list[KeptTrace], baseline: list[KeptTrace]) -> Units:
    return units_of(match_runs(batch, baseline), 1000, 0)


def deviations(made: Made, batch: list[KeptTrace], baseline: list[KeptTrace], most: int = 64) -> Deviations:
    units = units_between(batch, baseline)
    return deviate(units, tabulate_habits(units.units, made.symbols, most), labels_of(units, 199, 0))


def test_a_table_tells_in_how_many_runs_an_activity_is_and_how_much_of_their_paths() -> None:
    made = Made()
    batch = [made.run("t", ["READ:src", "TEST", "READ:src!", "READ:doc"], kind="k") for _ in range(1)]
    units = units_between(batch, [made.run("t", ["TEST"])])
    table = tabulate_habits(units.units, made.symbols)
    row = int(np.flatnonzero(units.is_batch)[0])
    told = {
        name: (runs, steps)
        for name, runs, steps in zip(table.activities, table.of_runs[row], table.of_steps[row], strict=True)
    }
    assert told == {"READ": (1, 0.75), "READ:doc": (1, 0.25), "READ:src": (1, 0.5), "TEST": (1, 0.25)}
    assert table.of_runs[1 - row].tolist() == [0, 0, 0, 1]


def test_a_phase_of_one_sort_is_not_told_twice_and_rare_activities_are_left_out() -> None:
    made = Made()
    units = units_between([made.run("t", ["READ:src", "TEST"])], [made.run("t", ["TEST"])])
    assert tabulate_habits(units.units, made.symbols).activities == ("READ:src", "TEST")
    assert tabulate_habits(units.units, made.symbols, most=1).activities == ("TEST",)


def test_a_single_step_that_many_runs_have_is_found_and_comes_first() -> None:
    made, draw = Made(), random.Random(2)
    baseline = made.cohort(draw, 30)
    batch = [
        made.run(f"t{task}", [*(["DELEGATE"] if task % 2 else []), *wander(draw, task), *wander(draw, task)])
        for task in range(30)
    ]
    found = deviations(made, batch, baseline)
    delegate = next(habit for habit in found.changed if habit.activity == "DELEGATE" and not habit.is_of_steps)
    assert [delegate.batch, delegate.baseline] == pytest.approx([0.5, 0.0])
    assert delegate.p <= 0.01
    assert found.leading == delegate


def test_nothing_deviates_where_all_runs_are_the_same() -> None:
    made = Made()
    found = deviations(made, [made.run(f"t{n}") for n in range(12)], [made.run(f"t{n}") for n in range(12)])
    assert (found.habits, found.leading, float(found.largest.max())) == ((), None, 0.0)


@given(st.integers(0, 1000), st.integers(1, 3), st.integers(1, 3))
@settings(max_examples=20, deadline=None)
def test_exchanged_sides_deviate_by_exactly_as_much(seed: int, first: int, second: int) -> None:
    made, draw = Made(), random.Random(seed)
    batch, baseline = made.cohort(draw, 12, first), made.cohort(draw, 12, second)
    there, back = deviations(made, batch, baseline), deviations(made, baseline, batch)
    assert there.largest.tolist() == back.largest.tolist()
    assert [habit.p for habit in there.habits] == [habit.p for habit in back.habits]
    assert [habit.effect for habit in there.habits] == pytest.approx([-habit.effect for habit in back.habits])


@pytest.mark.parametrize("runs", [1, 2])
def test_the_largest_deviation_is_as_often_improbable_as_its_p_says(runs: int) -> None:
    draw, ps = random.Random(7), []
    for _ in range(200):
        made = Made()
        ps.append(deviations(made, made.cohort(draw, 15, runs), made.cohort(draw, 15, runs)).habits[0].p)
    for limit, fewest, most in ((0.05, 3, 18), (0.2, 25, 56)):
        assert fewest <= sum(p <= limit for p in ps) <= most
