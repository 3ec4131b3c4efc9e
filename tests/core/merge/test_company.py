"""Runs that get in each other's way are told from tests that merely flake."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.merge.company import CHANCE, FEWEST_FAILURES, Collisions, by_chance, find_collisions
from paddock.core.merge.model import Ending, Result
from paddock.core.merge.tallies import RunCompany, Tally
from tests.core.merge.claims import answer, run_of, with_changes
from tests.core.merge.lab import started_lab

counts = st.integers(0, 60)


def test_a_run_that_met_another_is_counted_apart_once_it_turns_out_to_have_been_good() -> None:
    lab = with_changes(started_lab(), "t1", "t2")
    first, second = run_of(lab, "t1"), run_of(lab, "t2")
    answer(lab, first)
    answer(lab, second, Result.FAIL)
    lab.settle()
    assert {old.outcome for old in lab.queue.decided} == {Ending.LANDED}
    company = lab.queue.stats.company
    assert (round(company.beside.good), round(company.beside.bad)) == (1, 1)
    assert (round(company.alone.good), round(company.alone.bad)) == (2, 0), "main's baseline, and the second try"


def seen(good_beside: int, bad_beside: int, good_alone: int, bad_alone: int) -> RunCompany:
    return RunCompany(beside=Tally(good_beside, bad_beside), alone=Tally(good_alone, bad_alone))


@given(counts, counts, counts, counts)
def test_it_is_a_probability_and_found_only_where_it_is_small(a: int, b: int, c: int, d: int) -> None:
    chance = by_chance(Collisions(a + b, b, c + d, d))
    assert 0.0 < chance <= 1.0 + 1e-9
    found = find_collisions(seen(a, b, c, d))
    assert (found is not None) is (b >= FEWEST_FAILURES and chance <= CHANCE)


@given(counts, st.integers(0, 20), counts, st.integers(0, 20))
def test_more_passes_alone_only_make_it_surer(a: int, b: int, c: int, d: int) -> None:
    chances = [by_chance(Collisions(a + b, b, c + d + more, d)) for more in range(0, 40, 8)]
    assert all(later <= earlier + 1e-9 for earlier, later in pairwise(chances))


@given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 5))
def test_tests_that_flake_as_often_alone_are_not_suspected(good: int, bad: int, times: int) -> None:
    assert find_collisions(seen(good * times, bad * times, good * times, bad * times)) is None


@given(counts, counts, counts)
def test_nothing_is_said_before_anything_ran_alone(good: int, bad: int, more: int) -> None:
    assert find_collisions(seen(good, bad, 0, 0)) is None
    assert find_collisions(seen(good, 0, more, bad)) is None


@given(st.floats(0, 9.9), st.floats(0, 9.9), st.floats(0, 9.9), st.floats(0, 9.9))
def test_counts_that_have_faded_are_told_as_whole_numbers_that_add_up(a: float, b: float, c: float, d: float) -> None:
    found = find_collisions(RunCompany(beside=Tally(a, b), alone=Tally(c, d)))
    if found is not None:
        assert found.failed_beside <= found.beside
        assert found.failed_alone <= found.alone


@pytest.mark.parametrize(("pairs", "is_found"), [(2, False), (3, False), (4, True), (6, True)])
def test_of_runs_that_meet_in_pairs_half_fail_and_pass_alone_afterwards(pairs: int, is_found: bool) -> None:
    assert (find_collisions(seen(pairs, pairs, pairs + 1, 0)) is not None) is is_found
