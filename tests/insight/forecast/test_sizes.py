"""What runs may use: few of them leave much open, many leave little."""

from collections.abc import Sequence
from math import exp, log
from random import Random
from statistics import fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.insight.forecast.figures import range_of
from paddock.insight.forecast.sizes import Belief, Sizes, Urn, learn_sizes, quantile

BEFORE = Belief(0.0, 1.0, 0.5, 3.0)


def draw(sizes: Sizes, chance: Random, runs: Sequence[float] = ()) -> float:
    """One run of one day, as a simulation draws it."""
    above = sizes.smooth * chance.gauss(0.0, 1.0) + (sizes.place(chance.choice(runs)) if runs else 0.0)
    return sizes.draw_day(chance).size(above)


def p90_of_one(runs: Sequence[float], draws: int = 4_000) -> float:
    chance, sizes = Random(1), learn_sizes(runs, BEFORE)
    return quantile(sorted(draw(sizes, chance, runs) for _ in range(draws)), 0.9)


def test_the_more_runs_are_known_the_narrower_it_gets() -> None:
    chance = Random(5)
    runs = [chance.lognormvariate(0.0, 0.5) for _ in range(200)]
    widths = [p90_of_one(runs[:count]) for count in (0, 3, 200)]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] == pytest.approx(exp(1.28 * 0.5), rel=0.15), "the quantile of what they were drawn from"


def test_the_dearest_hundredth_of_days_decides_no_mean() -> None:
    days = [10.0] * 396 + [1e20] * 4
    assert range_of(days).mean == 10.0


@pytest.mark.parametrize("known", [2, 5, 20])
def test_nine_of_ten_runs_to_come_stay_below_however_few_are_known(known: int) -> None:
    chance, below, times = Random(known), 0, 300
    for _ in range(times):
        middle = chance.gauss(0.0, 1.0)
        runs = [chance.lognormvariate(middle, 0.8) for _ in range(known)]
        below += chance.lognormvariate(middle, 0.8) <= p90_of_one(runs, 400)
    assert 0.84 <= below / times <= 0.96


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=60))
def test_what_was_seen_moves_the_middle_towards_it(sizes: list[float]) -> None:
    after = BEFORE.after([log(size) for size in sizes])
    mean = fmean(log(size) for size in sizes)
    assert min(0.0, mean) - 1e-9 <= after.middle <= max(0.0, mean) + 1e-9
    assert abs(after.middle - mean) <= abs(BEFORE.middle - mean) + 1e-9
    assert (after.middle_weight, after.spread_weight) == (0.5 + len(sizes), 3.0 + len(sizes))
    assert after.spread > 0


@given(st.lists(st.floats(1e-9, 1e9), max_size=30), st.integers(0, 1000))
def test_every_draw_is_a_size(sizes: list[float], seed: int) -> None:
    learnt, chance = learn_sizes(sizes, BEFORE), Random(seed)
    for _ in range(5):
        assert 0.0 < draw(learnt, chance, sizes) < float("inf")


def test_runs_that_always_cost_the_same_are_forecast_closely() -> None:
    runs = [2.0] * 60
    sizes, chance = learn_sizes(runs, BEFORE), Random(2)
    drawn = [log(draw(sizes, chance, runs)) for _ in range(2_000)]
    assert fmean(drawn) == pytest.approx(log(2.0), abs=0.05)
    assert stdev(drawn) < 0.4


@given(st.integers(1, 20), st.integers(1, 60), st.integers(0, 1000))
def test_an_urn_gives_what_was_seen_and_more_of_what_it_gave(seen: int, draws: int, seed: int) -> None:
    urn, chance = Urn(seen), Random(seed)
    assert all(0 <= urn.draw(chance) < seen for _ in range(draws))


def test_days_from_an_urn_differ_more_than_days_of_independent_runs() -> None:
    """Of ten runs one was dear; how many of 24 will be is open."""
    chance = Random(3)

    def dear() -> int:
        urn = Urn(10)
        return sum(urn.draw(chance) == 0 for _ in range(24))

    counts = [dear() for _ in range(2_000)]
    assert fmean(counts) == pytest.approx(2.4, rel=0.1)
    assert stdev(counts) > 1.5 * (24 * 0.1 * 0.9) ** 0.5


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50), st.floats(0.0, 1.0))
def test_a_quantile_lies_between_the_least_and_the_most(values: list[float], share: float) -> None:
    ordered = sorted(values)
    assert ordered[0] <= quantile(ordered, share) <= ordered[-1]
    assert (quantile(ordered, 0.0), quantile(ordered, 1.0)) == (ordered[0], ordered[-1])


def test_there_is_no_quantile_of_nothing() -> None:
    with pytest.raises(ValueError, match="nothing"):
        quantile([], 0.5)
