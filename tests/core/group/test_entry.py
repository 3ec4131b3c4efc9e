"""What an entry still says after its daemon has fallen silent."""

from hypothesis import given
from hypothesis import strategies as st

from paddock.core.group.entry import BEARS_SECONDS, WANTS_SECONDS, add_up, committed, counted, is_over
from paddock.core.money.budget import Cost
from tests.core.group.entries import ACCOUNT, DAY, NOW, entry

TOMORROW = "2027-01-16"
SPENT, RESERVED = Cost(2.0, 200.0), Cost(1.0, 100.0)
BUSY = entry("api", running=2, wants=3, spent=SPENT, reserved=RESERVED, bears=4, bears_at=NOW)


def test_agents_of_a_silent_daemon_count_as_long_as_they_may_run() -> None:
    assert counted(BUSY, DAY, BUSY.until - 0.1).running == 2
    assert counted(BUSY, DAY, BUSY.until).running == 0


def test_wishes_of_a_silent_daemon_hold_nobody_up_for_long() -> None:
    assert counted(BUSY, DAY, NOW + WANTS_SECONDS - 0.1).wants == 3
    assert counted(BUSY, DAY, NOW + WANTS_SECONDS).wants == 0


def test_money_counts_on_its_own_day_whether_or_not_agents_may_still_run() -> None:
    later = counted(BUSY, DAY, BUSY.until + 1).use_of(ACCOUNT)
    assert committed(later) == Cost(3.0, 300.0)
    assert committed(counted(BUSY, TOMORROW, NOW).use_of(ACCOUNT)) == Cost()


def test_what_an_account_was_seen_to_bear_is_forgotten_after_a_while() -> None:
    assert counted(BUSY, DAY, NOW + BEARS_SECONDS - 0.1).use_of(ACCOUNT).bears == 4
    assert counted(BUSY, DAY, NOW + BEARS_SECONDS).use_of(ACCOUNT).bears is None


@given(
    st.sampled_from([DAY, TOMORROW]),
    st.sampled_from([NOW, BUSY.until - 1, BUSY.until, BUSY.until + 1]),
)
def test_an_entry_is_over_just_when_neither_agents_nor_money_of_it_count(day: str, now: float) -> None:
    left = counted(BUSY, day, now)
    counts = bool(left.running) or committed(left.use_of(ACCOUNT)) != Cost()
    assert is_over(BUSY, day, now) == (not counts)


@given(st.lists(st.builds(Cost, st.none() | st.integers(0, 9).map(float), st.integers(0, 99).map(float))))
def test_sums_are_known_whatever_has_no_price(costs: list[Cost]) -> None:
    total = add_up(costs)
    assert total == Cost(sum(cost.money or 0.0 for cost in costs), sum(cost.tokens for cost in costs))
