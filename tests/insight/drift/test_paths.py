"""The divergence of paths, and the labels that chance is measured by."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.insight.drift.habits import tabulate_habits
from paddock.insight.drift.path_test import END, START, compare_paths, divergence, phase_codes, tabulate_edges
from paddock.insight.drift.profile_test import compare_profiles
from paddock.insight.drift.scores import known_units
from paddock.insight.drift.strata import match_runs
from paddock.insight.drift.units import labels_of, swapped_labels, units_of
from tests.insight.drift.runs import Made


def test_a_path_is_told_by_what_follows_what_from_beginning_to_end() -> None:
    made = Made()
    matching = match_runs([made.run("t", ["READ:src", "TEST", "READ:src", "TEST"])], [made.run("t", ["TEST"])])
    units = units_of(matching, 100, 0)
    table = tabulate_edges(units.units, 100)
    read, test = made.symbols.code("READ:src"), made.symbols.code("TEST")
    shares = dict(zip(table.edges, table.shares[0].tolist(), strict=True))
    assert shares == pytest.approx(
        {(START, read): 0.2, (read, test): 0.4, (test, read): 0.2, (test, END): 0.2, (START, test): 0.0}
    )


def test_edges_beyond_the_heaviest_count_together() -> None:
    made = Made()
    matching = match_runs([made.run("t", ["READ:src", "TEST"])], [made.run("t", ["TEST"])])
    table = tabulate_edges(units_of(matching, 100, 0).units, 2)
    assert len(table.edges) == 2
    assert table.shares.shape[1] == 3
    assert table.shares.sum(axis=1).tolist() == pytest.approx([1.0, 1.0])


def test_a_coarser_path_tells_what_is_done_whatever_to_and_repeats_once() -> None:
    made = Made()
    path = ["READ:src", "READ:doc", "READ:doc!", "TEST"]
    matching = match_runs([made.run("t", path)], [made.run("t", ["TEST"])])
    table = tabulate_edges(units_of(matching, 100, 0).units, 100, phase_codes(made.symbols))
    assert table.shares[0].tolist() == pytest.approx([0.25, 0.0, 0.25, 0.25, 0.25])


def test_paths_without_a_common_edge_are_one_bit_apart() -> None:
    assert divergence(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])).tolist() == pytest.approx([1.0])
    assert divergence(np.array([[0.5, 0.5]]), np.array([[0.5, 0.5]])).tolist() == pytest.approx([0.0])


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=6), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_swapped_labels_keep_the_size_of_both_sides_of_each_stratum(sizes: list[tuple[int, int]], seed: int) -> None:
    strata = np.repeat(np.arange(len(sizes)), [a + b for a, b in sizes])
    is_batch = np.concatenate([[True] * a + [False] * b for a, b in sizes])
    there = np.concatenate(list(swapped_labels(strata, is_batch, 20, seed)))
    back = np.concatenate(list(swapped_labels(strata, ~is_batch, 20, seed)))
    for labels in there:
        assert np.bincount(strata, weights=labels).tolist() == [a for a, _ in sizes]
    assert (there == ~back).all()


def test_p_is_uniform_where_paths_do_not_differ() -> None:
    draw, ps, habit_ps, profile_ps = random.Random(5), [], [], []
    for number in range(150):
        made = Made()
        runs = made.cohort(draw, 12, 4)
        units = units_of(match_runs(runs[::2], runs[1::2]), 1000, 0)
        habits = tabulate_habits(units.units, made.symbols)
        result = compare_paths(units, (tabulate_edges(units.units, 100),), habits, labels_of(units, 99, number))
        ps.append(result.p)
        habit_ps.append(result.habits.habits[0].p)
        values = np.array([draw.random() for _ in units.units])
        profile_ps.append(compare_profiles(known_units(units.strata, units.is_batch, values), 99, number).p)
    for found in (ps, habit_ps, profile_ps):
        assert 1 <= sum(p <= 0.05 for p in found) <= 15
        assert 15 <= sum(p <= 0.2 for p in found) <= 45
