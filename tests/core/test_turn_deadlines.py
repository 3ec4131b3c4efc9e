from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.tasks.deadlines import Steady, TurnLimits, TurnTimes, next_expiry, passed_deadline
from paddock.core.tasks.vocabulary import EndedBy

LIMITS = TurnLimits(startup_seconds=10, silence_seconds=30, turn_seconds=100, tool_seconds=50)
NEW = TurnTimes(started_at=1000, has_output=False, last_output_at=None)
UNDATED = TurnTimes(started_at=1000, has_output=True, last_output_at=None)
TALKING = TurnTimes(started_at=1000, has_output=True, last_output_at=1060)

seconds = st.floats(0.1, 1e6)
some = st.none() | seconds
limits = st.builds(TurnLimits, some, some, some, some)
times = st.builds(TurnTimes, seconds, st.booleans(), some, st.booleans(), some)


@pytest.mark.parametrize(
    ("turn", "now", "passed"),
    [
        (NEW, 1009.9, None),
        (NEW, 1010, EndedBy.STARTUP),
        (UNDATED, 1029.9, None),
        (UNDATED, 1030, EndedBy.SILENCE),
        (TALKING, 1089.9, None),
        (TALKING, 1090, EndedBy.SILENCE),
        (TurnTimes(started_at=1000, has_output=True, last_output_at=1099), 1100, EndedBy.TURN),
        (TurnTimes(1000, has_output=True, last_output_at=1005, tool_runs=True), 1054.9, None),
        (TurnTimes(1000, has_output=True, last_output_at=1005, tool_runs=True), 1055, EndedBy.TOOL),
        (TurnTimes(1000, has_output=True, last_output_at=1005, tool_ran_at=1040), 1069.9, None),
        (TurnTimes(1000, has_output=True, last_output_at=1005, tool_ran_at=1040), 1070, EndedBy.SILENCE),
    ],
)
def test_each_deadline_passes_at_its_own_time(turn: TurnTimes, now: float, passed: EndedBy | None) -> None:
    assert passed_deadline(LIMITS, turn, now) == passed


def test_no_limits_never_expire() -> None:
    assert next_expiry(TurnLimits(None, None, None), NEW) is None
    assert passed_deadline(TurnLimits(None, None, None), NEW, now=1e12) is None


def test_an_event_stamped_before_the_start_does_not_shorten_the_silence() -> None:
    resumed = TurnTimes(started_at=1000, has_output=True, last_output_at=5)
    assert passed_deadline(LIMITS, resumed, now=1029) is None


@given(limits, times, seconds)
def test_a_deadline_has_passed_exactly_from_the_announced_moment_on(
    limits: TurnLimits, times: TurnTimes, now: float
) -> None:
    expiry = next_expiry(limits, times)
    assert passed_deadline(limits, times, now) == (expiry.deadline if expiry and now >= expiry.at else None)


@given(limits, times, seconds)
def test_an_event_never_brings_a_deadline_nearer(limits: TurnLimits, times: TurnTimes, later: float) -> None:
    before = next_expiry(limits, times)
    spoken = (times.last_output_at or times.started_at) + later
    after = next_expiry(limits, replace(times, has_output=True, last_output_at=spoken))
    assert after is None or (before is not None and after.at >= before.at)


class TestSteady:
    """Spans do not change with the clock on the wall."""

    def test_what_was_before_the_first_look_is_as_long_ago_as_the_wall_says(self) -> None:
        assert Steady().moment("start", wall_at=1000.0, wall=1060.0, steady=500.0) == 440.0

    def test_what_lies_in_the_future_of_a_clock_that_was_set_back_happens_now(self) -> None:
        assert Steady().moment("start", wall_at=90_000.0, wall=1060.0, steady=500.0) == 500.0

    @given(jump=st.floats(-1e6, 1e6), later=st.floats(0, 1e5))
    def test_a_moment_stays_where_it_was_whatever_the_wall_says_later(self, jump: float, later: float) -> None:
        steady = Steady()
        first = steady.moment("output", 1000.0, 1060.0, 500.0, sign=7)
        assert steady.moment("output", 1000.0, 1060.0 + later + jump, 500.0 + later, sign=7) == first

    @given(wall_at=st.floats(-1e6, 1e6))
    def test_what_happens_again_happens_when_it_is_seen(self, wall_at: float) -> None:
        steady = Steady()
        steady.moment("output", 1000.0, 1060.0, 500.0, sign=7)
        assert steady.moment("output", wall_at, 1060.0, 600.0, sign=8) == 600.0

    def test_what_was_waited_for_happens_when_it_is_seen(self) -> None:
        steady = Steady()
        steady.watch("output")
        assert steady.moment("output", 1000.0, 4600.0, 500.0) == 500.0
