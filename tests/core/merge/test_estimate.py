"""What the estimators make of what they have seen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.merge import estimate, guards
from paddock.core.merge.events import RunEnded
from paddock.core.merge.model import Result
from paddock.core.merge.tallies import CheckTally, RunSample, Stats, Tally
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
    stats = Stats(samples=tuple(RunSample(float(n), 1) for n in range(1, 101)))
    assert estimate.timeout_seconds(stats, 10.0) == pytest.approx(3 * 96)
    assert estimate.timeout_seconds(stats, 900.0) == 900.0
    assert estimate.timeout_seconds(Stats(), 60.0) == 60.0


def test_slots_that_only_slow_each_other_down_are_not_counted() -> None:
    shared = tuple(RunSample(10.0 * busy, busy) for busy in (1, 2, 4) for _ in range(5))
    real = tuple(RunSample(10.0, busy) for busy in (1, 2, 4) for _ in range(5))
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
    assert lab.queue.stats.flakes == pytest.approx(1.0, abs=0.01)
    assert estimate.flake_share(lab.queue.stats) > before


def test_a_pool_that_failed_and_whose_members_all_landed_counts_as_a_flake_and_one_with_a_culprit_does_not() -> None:
    for bad, flakes in ((False, 1.0), (True, 0.0)):
        lab = started_lab(slots=1)
        lab.truth.bad = {("t3", 1)} if bad else set()
        for number in range(1, 7):
            lab.submit(change(f"t{number}"))
        lab.wake()
        pool = lab.queue.running[min(lab.processes)]
        assert pool.holds("t3")
        assert len(pool.members) > 1
        lab.tick()
        lab.finish(pool.id, Result.FAIL)
        lab.settle()
        assert lab.queue.stats.flakes == pytest.approx(flakes, abs=0.01)


@pytest.mark.parametrize(("flakes", "needed"), [(0.0, 2), (0.01, 2), (0.02, 2), (0.05, 3), (0.11, 4), (0.5, 5)])
def test_the_more_a_suite_flakes_the_more_failures_reject(flakes: float, needed: int) -> None:
    stats = Stats(verdicts=2000.0, flakes=2000.0 * flakes)
    assert guards.failures_needed(stats) == needed
    assert flakes**needed <= estimate.FALSE_REJECTIONS or needed == estimate.MOST_FAILURES


def test_two_failures_reject_before_anything_is_known() -> None:
    assert guards.failures_needed(Stats()) == 2


@given(st.integers(0, 60), st.integers(0, 60), st.integers(1, 20))
def test_agents_with_the_same_record_are_never_told_apart(good: int, bad: int, agents: int) -> None:
    assert not estimate.agents_differ(Stats(by_author={str(n): Tally(good, bad) for n in range(agents)}))


def test_a_careless_agent_is_noticed_after_a_dozen_changes_and_chance_is_not() -> None:
    careful = {str(n): Tally(12.0, 0.0) for n in range(9)}
    assert estimate.agents_differ(Stats(by_author={**careful, "careless": Tally(3.0, 9.0)}))
    assert not estimate.agents_differ(Stats(by_author={**careful, "unlucky": Tally(11.0, 1.0)}))
    assert not estimate.agents_differ(Stats(by_author={**careful, "new": Tally(1.0, 4.0)}))


def test_a_run_that_left_out_checks_says_nothing_about_slots() -> None:
    short = tuple(RunSample(10.0 * busy, busy, partial=True) for busy in (1, 2, 4) for _ in range(5))
    assert estimate.effective_slots(Stats(samples=short), 4) == 4


def test_flakes_and_quarantine_are_counted_by_check() -> None:
    lab = started_lab()
    lab.submit(change("t1"))
    lab.wake()
    lab.tick()
    run = min(lab.processes)
    lab.processes.discard(run)
    ended = RunEnded(run, Result.PASS, ran=("lint", "unit", "e2e"), flaked=("unit",), quarantined=("e2e",))
    lab.record(ended)
    checks = lab.queue.stats.checks
    assert checks == {"lint": CheckTally(1, 0, 0), "unit": CheckTally(1, 1, 0), "e2e": CheckTally(1, 0, 1)}
