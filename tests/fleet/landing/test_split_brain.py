"""A daemon sleeps on the way to a landing until another leads, and wakes: main, refs and sandboxes stay as they are."""

from collections.abc import Callable
from functools import partial
from random import Random

import pytest

from tests.fleet.chains import Chain
from tests.fleet.landing.conftest import MakeFarm
from tests.fleet.landing.lab import Farm
from tests.fleet.landing.test_crash_sweep import (
    SCENARIOS,
    Scenario,
    assert_decided_once,
    make,
    one_of_many,
    points_passed,
)
from tests.fleet.split_brain import LATE_SHARE, SplitRelay, draw_naps, holds_lock_at, sweep_naps, sweep_sleeps

SAMPLE = [
    ("branches", "sandbox.switched"),
    ("branches", "ci.started"),
    ("branches", "land.flushed"),
    ("branches", "land.swapped"),
    ("agents", "hold.flushed"),
]
RANDOM_SLEEPS = 100


def play_split(farm: Farm, scenario: Scenario, start: Callable[[], SplitRelay]) -> int:
    """How many daemons fell asleep; those that did left no trace of their waking."""
    scenario.prepare(farm)
    relay = start()
    relay.finish()
    assert_decided_once(farm, scenario)
    return relay.slept


@pytest.mark.parametrize(("name", "point"), SAMPLE)
def test_a_daemon_that_slept_there_until_another_led_lands_nothing(make_farm: MakeFarm, name: str, point: str) -> None:
    farm = make(make_farm)
    relay = partial(SplitRelay, farm.yard, [point], late=not holds_lock_at(point))
    assert play_split(farm, SCENARIOS[name], relay), f"{point} was never reached"


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_daemon_that_slept_at_any_point_until_another_led_lands_nothing(
    make_farm: MakeFarm, subtests: pytest.Subtests, name: str
) -> None:
    def play(points: Chain, *, late: bool) -> int:
        with one_of_many(make_farm) as farm:
            return play_split(farm, SCENARIOS[name], partial(SplitRelay, farm.yard, points, late=late))

    sweep_sleeps(points_passed(make(make_farm), SCENARIOS[name]), play, subtests)


@pytest.mark.slow
def test_a_daemon_that_slept_anywhere_until_another_led_lands_nothing(
    make_farm: MakeFarm, subtests: pytest.Subtests
) -> None:
    def play(chance: Random, longest_seconds: float) -> int:
        scenario, late = SCENARIOS[chance.choice(sorted(SCENARIOS))], chance.random() < LATE_SHARE
        naps = draw_naps(chance, longest_seconds)
        with one_of_many(make_farm) as farm:
            return play_split(farm, scenario, partial(SplitRelay, farm.yard, naps=naps, late=late))

    sweep_naps(RANDOM_SLEEPS, play, subtests)
