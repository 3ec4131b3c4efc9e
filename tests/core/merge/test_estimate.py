"""What the estimators make of what they have seen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.merge import estimate
from paddock.core.merge.model import Result, Sample, Stats, Tally
from tests.core.merge.lab import change, started_lab


def test_before_there_is_data_one_change_in_ten_is_thought_bad() -> None:
    assert estimate.bad_share(Stats()) == pytest.approx(0.1)


def test_an_unknown_agent_is_judged_like_everybody_and_a_known_one_by_its_record() -> None:
    stats = Stats(overall=Tally(80, 20), by_author={"careless": Tally(2, 18), "careful": Tally(60, 0)})
    everybody = estimate.bad_share(stats)
    assert estimate.bad_share_of(stats, "stranger") == everybody
    assert estimate.bad_share_of(stats, "careless") > 3 * everybody
    assert estimate.bad_share_of(stats, "careful") < everybody / 3


@given(st.floats(0.01, 0.9), st.floats(0.0, 0.2))
def test_a_pool_is_about_as_likely_to_pass_as_to_fail(bad: float, flakes: float) -> None:
    size = estimate.even_pool(bad, flakes)
    if 1 < size < estimate.LARGEST_POOL:
        assert (1 - bad) ** (size + 1) * (1 - flakes) < 0.5 < (1 - bad) ** (size - 1)


@pytest.mark.parametrize(("bad", "size"), [(0.5, 1), (0.2, 3), (0.1, 7), (0.02, 16)])
def test_pools_grow_as_changes_get_better(bad: float, size: int) -> None:
    assert estimate.even_pool(bad, 0.0) == size


def test_pools_are_small_while_little_is_known() -> None:
    much = Stats(overall=Tally(900, 100))
    assert estimate.bad_share(much) == pytest.approx(estimate.bad_share(Stats()), abs=0.01)
    assert estimate.pool_size(Stats()) < estimate.pool_size(much)


def test_trains_get_shorter_when_they_break() -> None:
    calm = Stats(train_runs=40, train_members=800, train_failures=0)
    rough = Stats(train_runs=40, train_members=400, train_failures=20)
    assert estimate.train_capacity(rough) < estimate.train_capacity(Stats()) < estimate.train_capacity(calm)


def test_a_run_may_take_three_times_what_slow_passes_took_but_never_less_than_the_floor() -> None:
    stats = Stats(samples=tuple(Sample(float(n), 1) for n in range(1, 101)))
    assert estimate.timeout_seconds(stats, 10.0) == pytest.approx(3 * 96)
    assert estimate.timeout_seconds(stats, 900.0) == 900.0
    assert estimate.timeout_seconds(Stats(), 60.0) == 60.0


def test_slots_that_only_slow_each_other_down_are_not_counted() -> None:
    shared = tuple(Sample(10.0 * busy, busy) for busy in (1, 2, 4) for _ in range(5))
    real = tuple(Sample(10.0, busy) for busy in (1, 2, 4) for _ in range(5))
    assert estimate.effective_slots(Stats(samples=shared), 4) == 1
    assert estimate.effective_slots(Stats(samples=real), 4) == 4
    assert estimate.effective_slots(Stats(), 4) == 4


def test_a_failure_that_a_second_run_contradicts_counts_as_a_flake() -> None:
    lab = started_lab()
    lab.submit(change("t1"))
    lab.wake()
    before = estimate.flake_share(lab.queue.stats)
    lab.tick()
    lab.finish(min(lab.processes), Result.FAIL)
    lab.settle()
    assert lab.queue.stats.flakes == 1.0
    assert estimate.flake_share(lab.queue.stats) > before
