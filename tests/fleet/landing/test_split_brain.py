"""A daemon sleeps on the way to a landing until another leads, and wakes: main, refs and sandboxes stay as they are."""

from random import Random

import pytest

from tests.fleet.landing.conftest import MakeFarm
from tests.fleet.landing.lab import Farm
from tests.fleet.landing.test_crash_sweep import SCENARIOS, Scenario, make, points_passed
from tests.fleet.split_brain import SplitRelay, holds_lock_at, nodding_off

SAMPLE = [
    ("branches", "sandbox.switched"),
    ("branches", "ci.started"),
    ("branches", "land.flushed"),
    ("branches", "land.swapped"),
    ("agents", "hold.flushed"),
]
RANDOM_POINTS = 100
LONGEST_SECONDS = 8.0


def play_split(farm: Farm, scenario: Scenario, relay: SplitRelay) -> bool:
    """Whether a daemon fell asleep; one that did left no trace of its waking."""
    relay.finish()
    assert farm.outcomes() in scenario.ends
    assert len(farm.queue.decided) == scenario.decided
    farm.assert_green()
    farm.assert_at_rest()
    return relay.slept


def split_at(farm: Farm, name: str, point: str) -> bool:
    SCENARIOS[name].prepare(farm)
    return play_split(farm, SCENARIOS[name], SplitRelay(farm.yard, point, late=not holds_lock_at(point)))


@pytest.mark.parametrize(("name", "point"), SAMPLE)
def test_a_daemon_that_slept_there_until_another_led_lands_nothing(make_farm: MakeFarm, name: str, point: str) -> None:
    assert split_at(make(make_farm), name, point), f"{point} was never reached"


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_daemon_that_slept_at_any_point_until_another_led_lands_nothing(make_farm: MakeFarm, name: str) -> None:
    failures = []
    for number, point in enumerate(points_passed(make(make_farm, "reference"), SCENARIOS[name])):
        farm = make(make_farm, f"app{number}")
        try:
            split_at(farm, name, point)
        except AssertionError as failure:
            failures.append(f"{point}: {failure}")
        finally:
            farm.yard.close()
    assert not failures, "\n\n".join(failures)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(RANDOM_POINTS))
def test_a_daemon_that_slept_anywhere_until_another_led_lands_nothing(make_farm: MakeFarm, seed: int) -> None:
    chance, farm = Random(seed), make(make_farm)
    scenario = SCENARIOS[chance.choice(sorted(SCENARIOS))]
    scenario.prepare(farm)
    nods_off, late = nodding_off(chance, LONGEST_SECONDS), chance.random() < 0.5
    play_split(farm, scenario, SplitRelay(farm.yard, nods_off=nods_off, late=late))
