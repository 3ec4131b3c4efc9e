"""How often tasks start on a day, and which starts find a cache warm."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from paddock.insight.forecast.starts import StartKey, count_cold, day_after, drop_overlaps, starts_on
from paddock.insight.forecast.warmth import CACHE_SECONDS
from tests.insight.forecast.made_up import SORT, drawn, evidence, plan

DAY = datetime(2026, 3, 29, tzinfo=UTC).timestamp()


def test_a_day_of_hours_starts_cold_each_time() -> None:
    found = starts_on(DAY, [plan("0 * * * *", evidence(drawn(3)))])
    assert found.starts == {StartKey("watch", 0): 24}
    assert (found.due, found.firings) == ({"watch": 24}, {"watch": 24})


def test_starts_may_be_warm_that_follow_a_cold_one_within_the_life_of_a_cache() -> None:
    found = starts_on(DAY, [plan("*/5 9 * * *", evidence(drawn(3)))])
    assert CACHE_SECONDS == 300.0
    assert found.starts == {StartKey("watch", 0): 6, StartKey("watch", 0, is_warm=True): 6}


@given(
    st.lists(st.integers(0, 300), min_size=1, max_size=40, unique=True),
    st.sets(st.integers(0, 300), max_size=40),
    st.sampled_from([0.0, 45.0, 120.0, 250.0, 1500.0]),
)
def test_more_times_never_start_cold_less_often(some: list[int], more: set[int], seconds: float) -> None:
    sparse, dense = ([60.0 * at for at in sorted(times)] for times in ({*some}, {*some, *more}))
    cold, of_more = (count_cold(times, seconds, seconds + CACHE_SECONDS) for times in (sparse, dense))
    fired, fired_of_more = (len(drop_overlaps(times, seconds)) for times in (sparse, dense))
    assert cold <= fired
    assert cold <= of_more <= fired_of_more
    assert fired <= fired_of_more


def test_starts_of_one_schedule_do_not_depend_on_the_others() -> None:
    shared = evidence(drawn(3))
    found = starts_on(DAY, [plan("0 9 * * *", shared), plan("4 9 * * *", shared, name="later")])
    assert found.starts == {StartKey("watch", 0): 1, StartKey("later", 0): 1}


def test_tasks_that_start_together_find_it_cold() -> None:
    task = evidence(drawn(3))
    assert starts_on(DAY, [plan("0 9 * * *", task, task)]).starts == {StartKey("watch", 0): 1, StartKey("watch", 1): 1}


def test_times_that_come_while_agents_are_at_work_are_left_out() -> None:
    busy = evidence(drawn(9, seconds=1500.0))
    found = starts_on(DAY, [plan("*/10 * * * *", busy)])
    assert (found.due["watch"], found.firings["watch"]) == (144, 48)
    assert drop_overlaps([0.0, 10.0, 20.0, 30.0], 20.0) == [0.0, 20.0]
    assert drop_overlaps([0.0, 10.0], 0.0) == [0.0, 10.0]


def test_days_are_in_utc_whatever_the_zone_and_its_clocks() -> None:
    """On the day on which Berlin leaves out an hour, UTC has 24."""
    found = starts_on(DAY, [plan("0 * * * *", evidence(drawn(3)), zone="Europe/Berlin")])
    assert found.due == {"watch": 24}
    assert day_after(DAY) == DAY + 86400
    assert day_after(DAY + 1) == DAY + 86400


def test_a_day_without_any_is_empty() -> None:
    assert not starts_on(DAY, [plan("0 0 1 1 *", evidence([]))]).starts
    assert SORT.series == "schedule:watch"
