"""Chances of so many hits, and of so many arrivals, against what they are by definition."""

from fractions import Fraction
from math import comb, exp, factorial, isclose

from hypothesis import given
from hypothesis import strategies as st

from paddock.insight.alerts.chance import arrivals, at_least


@given(st.integers(0, 60), st.integers(0, 60), st.integers(1, 99))
def test_the_chance_of_so_many_hits_is_that_of_the_binomial(hits: int, trials: int, percent: int) -> None:
    share = Fraction(percent, 100)
    exact = sum(comb(trials, n) * share**n * (1 - share) ** (trials - n) for n in range(hits, trials + 1))
    assert isclose(at_least(hits, trials, percent / 100), float(exact), rel_tol=1e-6, abs_tol=1e-300)


@given(st.integers(0, 40), st.floats(1e-6, 60.0))
def test_the_chance_of_so_many_arrivals_is_that_of_poisson(count: int, expected: float) -> None:
    found = arrivals(count, expected)
    more = sum(exp(-expected) * expected**n / factorial(n) for n in range(count, count + 120))
    assert isclose(found, min(1.0, more), rel_tol=1e-6, abs_tol=1e-12)
    assert arrivals(count + 1, expected) <= found <= 1.0


def test_what_cannot_be_has_no_chance_and_what_must_be_is_certain() -> None:
    assert [at_least(0, 0, 0.5), at_least(1, 0, 0.5), at_least(1, 5, 0.0), at_least(5, 5, 1.0)] == [1, 0, 0, 1]
    assert [arrivals(0, 0.0), arrivals(1, 0.0)] == [1, 0]
