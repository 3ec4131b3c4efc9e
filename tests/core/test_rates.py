"""A rate: some at once, then so many per second, and never more."""

from hypothesis import given
from hypothesis import strategies as st

from paddock.core.rates import Bucket, Rate

RATE = Rate(burst=5, per_second=2.0)


def served(moments: list[float], rate: Rate = RATE) -> list[bool]:
    bucket, answers = Bucket(rate.burst, 0.0), []
    for moment in moments:
        bucket, may = bucket.take(rate, moment)
        answers.append(may)
    return answers


def test_a_burst_is_served_and_then_one_after_another() -> None:
    assert served([0.0] * 7) == [True] * 5 + [False] * 2
    assert served([0.0] * 5 + [0.4, 0.5, 0.6, 1.0]) == [True] * 5 + [False, True, False, True]


def test_a_long_rest_earns_no_more_than_a_burst() -> None:
    assert served([0.0] * 5 + [1000.0] * 6) == [True] * 10 + [False]


@given(st.lists(st.floats(0, 100), max_size=200).map(sorted))
def test_no_span_is_served_more_than_its_burst_and_its_rate(moments: list[float]) -> None:
    times = [moment for moment, may in zip(moments, served(moments), strict=True) if may]
    for first, begin in enumerate(times):
        for last in range(first, len(times)):
            assert last - first + 1 <= RATE.burst + RATE.per_second * (times[last] - begin) + 1e-6


def test_a_clock_that_goes_back_gives_nothing_away() -> None:
    assert served([10.0] * 5 + [0.0, 0.0]) == [True] * 5 + [False] * 2
