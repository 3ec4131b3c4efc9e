"""The rules by which a daemon acts: not after a later one, and not when its lease may have run out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.lead import BY_HAND, SAFE_SHARE, ByHand, Succeeded, is_in_time, takes_over

GENERATIONS = st.integers(1, 1000)
MOMENTS = st.floats(0, 1e9)
SECONDS = st.floats(0.001, 1e6)


class Led(ByHand):
    def __init__(self, generation: int, holds: bool = True) -> None:
        self.generation = generation
        self.holds = holds

    def require(self) -> None:
        if not self.holds:
            raise Succeeded("another leads")

    def reassert(self) -> None:
        self.require()


class Asked(Led):
    """Holds for all that is easy to see; the log knows better."""

    def __init__(self, generation: int, latest: int) -> None:
        super().__init__(generation)
        self.latest = latest

    def reassert(self) -> None:
        if self.generation < self.latest:
            raise Succeeded("by the log another leads")


@given(recorded=GENERATIONS, generation=GENERATIONS)
def test_one_that_leads_by_the_log_touches_also_what_bears_a_later_number(recorded: int, generation: int) -> None:
    """The log was restored from an older copy, or begun again."""
    lead = Asked(generation, latest=generation)
    assert takes_over(recorded, lead) == (recorded != generation)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=20))
def test_of_any_order_of_daemons_only_those_at_least_as_late_as_all_before_them_touch_a_thing(order: list[int]) -> None:
    recorded = 0
    for generation in order:
        lead = Asked(generation, latest=max(order))
        if 0 < generation < recorded:
            with pytest.raises(Succeeded):
                takes_over(recorded, lead)
            continue
        assert takes_over(recorded, lead) == (generation > recorded), "a person's command leaves it as it is"
        recorded = max(recorded, generation)


@given(GENERATIONS)
def test_who_has_lost_the_lead_touches_not_even_its_own(generation: int) -> None:
    with pytest.raises(Succeeded, match="another leads"):
        takes_over(generation, Led(generation, holds=False))


@given(st.integers(0, 1000))
def test_a_persons_command_is_never_late(recorded: int) -> None:
    assert not takes_over(recorded, BY_HAND)


@given(noted=MOMENTS, passed=st.floats(0, 1e9), seconds=SECONDS)
def test_a_lease_is_relied_on_only_while_it_cannot_have_run_out(noted: float, passed: float, seconds: float) -> None:
    now = noted + passed
    if is_in_time(now, noted, seconds):
        assert now - noted < seconds
    if now >= noted + seconds:
        assert not is_in_time(now, noted, seconds)


@given(noted=MOMENTS, seconds=st.floats(1, 1e6), share=st.floats(0, SAFE_SHARE - 0.01))
def test_it_is_relied_on_for_most_of_its_time(noted: float, seconds: float, share: float) -> None:
    assert is_in_time(noted + seconds * share, noted, seconds)


def test_a_lease_that_was_never_noted_is_not_relied_on() -> None:
    assert not is_in_time(5.0, 0.0, 0.0)
    assert not is_in_time(4.0, 5.0, 60.0), "noted in the future: another boot"
