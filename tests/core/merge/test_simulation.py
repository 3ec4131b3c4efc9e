"""The goals of docs/merge-queue.md on a sample of the grid; all of it is `python -m bench.queue.simulate`."""

from __future__ import annotations

import pytest
from bench.queue.engine import Report, simulate
from bench.queue.rivals import Oracle, Zuul
from bench.queue.sieve import SieveAndTrain
from bench.queue.world import Scenario, World


def ours(scenario: Scenario) -> Report:
    report = simulate(scenario, SieveAndTrain(scenario.slots))
    assert report.red_tips == report.untested_tips == 0
    return report


def zuul(scenario: Scenario) -> Report:
    return simulate(scenario, Zuul(scenario.slots, adapt=False))


def oracle(scenario: Scenario) -> Report:
    world = World.draw(scenario)
    return simulate(scenario, Oracle(world), world)


@pytest.mark.parametrize("bad", [0.1, 0.2])
def test_with_many_slots_it_lands_twice_what_zuul_lands_and_four_fifths_of_the_oracle(bad: float) -> None:
    scenario = Scenario(400, 16, bad)
    rate = ours(scenario).landed_per_run
    assert rate >= 2 * zuul(scenario).landed_per_run
    assert rate >= 0.8 * oracle(scenario).landed_per_run


@pytest.mark.parametrize("bad", [0.1, 0.2])
def test_flakes_and_clashes_leave_it_twice_as_fast_as_zuul(bad: float) -> None:
    scenario = Scenario(300, 16, bad, clash=0.02, flake=0.01)
    assert ours(scenario).landed_per_run >= 2 * zuul(scenario).landed_per_run


@pytest.mark.parametrize("share", [0.25, 0.5])
def test_at_middle_load_it_is_as_quick_as_zuul(share: float) -> None:
    scenario = Scenario(200, 8, 0.1, arrivals_per_run=8 * share)
    assert ours(scenario).median_latency <= 1.2 * zuul(scenario).median_latency


def test_flakes_alone_reject_hardly_anybody() -> None:
    reports = [ours(Scenario(300, 8, 0.1, flake=0.02, seed=seed)) for seed in (1, 2)]
    assert sum(report.wrongly_dropped for report in reports) <= 1


def test_one_slot_still_lands_more_than_one_change_per_run() -> None:
    assert ours(Scenario(200, 1, 0.1)).landed_per_run > 1.2
