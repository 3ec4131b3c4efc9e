"""Benjamini and Hochberg's correction."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.insight.drift.corrections import corrected

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
