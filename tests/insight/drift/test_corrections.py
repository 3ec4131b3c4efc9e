"""Benjamini and Hochberg's correction, and what need not be corrected for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.insight.drift.corrections import can_be_significant, corrected

PS = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def test_it_is_as_in_the_paper() -> None:
    assert corrected([0.01, 0.04, 0.03, 0.5]) == pytest.approx([0.04, 0.16 / 3, 0.16 / 3, 0.5])


@given(PS)
def test_a_smaller_p_has_no_larger_q_and_no_q_is_smaller_than_its_p(ps: list[float]) -> None:
    qs = corrected(ps)
    ordered = [q for _, q in sorted(zip(ps, qs, strict=True))]
    assert ordered == sorted(ordered)
    assert all(p <= q <= 1 for p, q in zip(ps, qs, strict=True))


@given(PS, st.integers(0, 11))
def test_a_p_that_grows_makes_no_q_smaller(ps: list[float], at: int) -> None:
    grown = [min(1.0, p + 0.1) if place == at % len(ps) else p for place, p in enumerate(ps)]
    assert all(after >= before for before, after in zip(corrected(ps), corrected(grown), strict=True))


def test_weights_divide_the_budget() -> None:
    assert corrected([0.02, 0.02], [3.0, 1.0]) == pytest.approx([0.04 / 1.5, 0.04])
    assert corrected([]) == []


def test_what_could_never_be_significant_leaves_its_share_to_the_others() -> None:
    assert can_be_significant([0.0, 0.03, 0.03], [1.0, 1.0, 1.0], 0.05) == [True, False, False]
    assert can_be_significant([0.0, 0.03], [1.0, 2.0], 0.05) == [True, True]
    assert can_be_significant([0.03], [1.0], 0.05) == [True]
    assert can_be_significant([0.06], [1.0], 0.05) == [False]


@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from((1.0, 2.0, 4.0))), max_size=10))
def test_each_that_is_left_could_be_significant_alone(tests: list[tuple[float, float]]) -> None:
    least_ps, weights = [least for least, _ in tests], [weight for _, weight in tests]
    left = can_be_significant(least_ps, weights, 0.05)
    total = sum(weight for weight, is_left in zip(weights, left, strict=True) if is_left)
    for least, weight, is_left in zip(least_ps, weights, left, strict=True):
        assert not is_left or least * total <= 0.05 * weight * (1 + 1e-9)
        assert is_left or least > 0
