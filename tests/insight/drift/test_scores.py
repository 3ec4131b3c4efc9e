"""The tests within strata against tables worked out by hand, and against counting all ways labels could have fallen."""

import math
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.insight.drift.scores import (
    Scored,
    average_ranks,
    compare_rates,
    compare_sizes,
    known_units,
    rate_distribution,
    risk_difference,
    wilcoxon_p,
)


def scored(*strata: tuple[list[float], list[float]]) -> Scored:
    """Of each stratum, the values of the batch and of the baseline."""
    rows = [(at, side, value) for at, (batch, base) in enumerate(strata) for side, value in _sided(batch, base)]
    numbers, sides, values = zip(*rows, strict=True)
    return known_units(np.array(numbers), np.array(sides), np.array(values, dtype=float))


def _sided(batch: list[float], baseline: list[float]) -> list[tuple[bool, float]]:
    return [*((True, value) for value in batch), *((False, value) for value in baseline)]


SIDE = st.lists(st.integers(0, 1).map(float), min_size=1, max_size=4)
# Two tables of 2 x 2, as in any textbook: of the batch 8 of 10 and 6 of 9 succeed, of the baseline 4 of 10 and 2 of 8.
TABLES = scored(([1.0] * 8 + [0.0] * 2, [1.0] * 4 + [0.0] * 6), ([1.0] * 6 + [0.0] * 3, [1.0] * 2 + [0.0] * 6))


def test_cochran_mantel_haenszel_is_as_computed_by_hand() -> None:
    expected = 10 * 12 / 20 + 9 * 8 / 17
    variance = 10 * 10 * 12 * 8 / (20**2 * 19) + 9 * 8 * 8 * 9 / (17**2 * 16)
    assert compare_rates(TABLES).z == pytest.approx((14 - expected) / math.sqrt(variance))


def test_the_risk_difference_is_mantel_and_haenszels() -> None:
    first, second = (0.8 - 0.4) * (10 * 10 / 20), (6 / 9 - 2 / 8) * (9 * 8 / 17)
    assert risk_difference(TABLES) == pytest.approx((first + second) / (10 * 10 / 20 + 9 * 8 / 17))


def test_strata_that_point_the_other_way_when_pooled_are_not_pooled() -> None:
    """The batch is worse in each stratum and better in total."""
    paradox = scored(([1.0] * 80 + [0.0] * 10, [1.0] * 10), ([0.0] * 10, [1.0] * 20 + [0.0] * 70))
    assert risk_difference(paradox) < 0


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(0, 6)), min_size=1, max_size=3))
@settings(max_examples=40, deadline=None)
def test_the_exact_distribution_of_rates_is_that_of_all_labels(tables: list[tuple[int, int, int]]) -> None:
    sizes = [batch + baseline for batch, baseline, _ in tables]
    ones = [min(count, size) for (_, _, count), size in zip(tables, sizes, strict=True)]
    least, ways = rate_distribution(np.array(sizes), np.array([batch for batch, _, _ in tables]), np.array(ones))
    counted: dict[int, int] = {}
    for chosen in product(*(list(combinations(range(size), tables[at][0])) for at, size in enumerate(sizes))):
        total = sum(sum(place < ones[at] for place in places) for at, places in enumerate(chosen))
        counted[total] = counted.get(total, 0) + 1
    whole = sum(counted.values())
    expected = [counted.get(least + at, 0) / whole for at in range(len(ways))]
    assert ways.tolist() == pytest.approx(expected)


@given(st.lists(st.integers(-6, 6), min_size=1, max_size=9))
@settings(max_examples=60, deadline=None)
def test_signed_ranks_are_as_likely_as_counting_all_signs_says(differences: list[int]) -> None:
    told = [one for one in differences if one]
    ranks = average_ranks(np.abs(np.array(told, dtype=float))) if told else np.array([])
    up = sum(rank for rank, one in zip(ranks, told, strict=True) if one > 0)
    sums = [
        sum(rank for rank, sign in zip(ranks, signs, strict=True) if sign)
        for signs in product((0, 1), repeat=len(told))
    ]
    below, above = sum(one <= up + 1e-9 for one in sums), sum(one >= up - 1e-9 for one in sums)
    expected = min(1.0, 2 * min(below, above) / len(sums))
    assert wilcoxon_p(np.array(differences, dtype=float)) == pytest.approx(expected)


def test_pairs_of_sizes_are_compared_by_their_signed_ranks() -> None:
    pairs = scored(*(([float(at + 3 + at % 2)], [float(at)]) for at in range(8)))
    assert compare_sizes(pairs).p == pytest.approx(2 / 2**8)
    assert compare_sizes(pairs).z > 0


@given(
    st.lists(
        st.tuples(
            st.lists(st.integers(0, 1), min_size=1, max_size=4), st.lists(st.integers(0, 1), min_size=1, max_size=4)
        ),
        min_size=1,
        max_size=6,
    )
)
@settings(max_examples=60, deadline=None)
def test_exchanged_sides_differ_as_much_the_other_way(strata: list[tuple[list[float], list[float]]]) -> None:
    there, back = scored(*strata), scored(*((baseline, batch) for batch, baseline in strata))
    for compare in (compare_rates, compare_sizes):
        assert compare(there).p == pytest.approx(compare(back).p)
        assert compare(there).z == pytest.approx(-compare(back).z, abs=1e-9)
    assert risk_difference(there) == pytest.approx(-risk_difference(back), abs=1e-9)


def test_values_that_are_not_known_leave_their_strata_only_where_a_side_is_missing() -> None:
    known = scored(([1.0, math.nan], [0.0]), ([math.nan], [1.0, 0.0]))
    assert known.values.tolist() == [1.0, 0.0]
    assert known.pairs == 1


@pytest.mark.parametrize("compare", [compare_rates, compare_sizes])
@pytest.mark.parametrize("runs", [1, 3])
def test_p_is_uniform_where_nothing_differs(compare: object, runs: int) -> None:
    """At most as often below a limit as the limit says, and not much less."""
    draw = np.random.default_rng(3)
    ps = []
    for _ in range(400):
        rates = draw.uniform(0.2, 0.8, 30)
        values = (draw.random((30, 2 * runs)) < rates[:, None]).astype(float)
        if compare is compare_sizes:
            values += draw.normal(size=values.shape) * 0.3
        strata = [(row[:runs].tolist(), row[runs:].tolist()) for row in values]
        ps.append(compare(scored(*strata)).p)  # type: ignore[operator]
    for limit, most in ((0.05, 32), (0.2, 104)):
        assert most / 4 < sum(p <= limit for p in ps) <= most
