"""A daemon is stopped at every named point until another leads, and wakes: it does nothing more, whatever was next."""

from collections.abc import Callable
from functools import partial
from random import Random

import pytest

from tests.fleet.chains import Chain
from tests.fleet.conftest import OneOfMany
from tests.fleet.replay import play_scenario
from tests.fleet.scenarios import SCENARIOS
from tests.fleet.split_brain import LATE_SHARE, SplitRelay, draw_naps, holds_lock_at, sweep_naps, sweep_sleeps
from tests.fleet.test_crash_sweep import points_passed
from tests.fleet.yard import Yard

# One of every kind of effect; the sweep over all points is marked slow.
SAMPLE = [
    ("work", "checked-out"),
    ("work", "turn.linked"),
    ("work", "turn.over"),
    ("work", "returning"),
    ("stop", "turn.stopping"),
    ("stop", "turn.graced"),
    ("follow-up", "turn.ended_in_log"),
    ("retry", "attempt.ended_in_log"),
]
NOT_HERE = ("down",)
"""`paddock down` ends the daemon that has the lease, asleep or not."""
RANDOM_SLEEPS = 100


def play_split(yard: Yard, name: str, start: Callable[[], SplitRelay]) -> int:
    """How many daemons fell asleep."""
    made: list[SplitRelay] = []

    def begin() -> SplitRelay:
        made.append(start())
        return made[-1]

    play_scenario(yard, SCENARIOS[name], start=begin)
    return made[0].slept


@pytest.mark.parametrize(("name", "point"), SAMPLE)
def test_a_daemon_that_slept_there_until_another_led_does_nothing_more(yard: Yard, name: str, point: str) -> None:
    relay = partial(SplitRelay, yard, [point], late=not holds_lock_at(point))
    assert play_split(yard, name, relay), "the point was never reached"


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SCENARIOS if name not in NOT_HERE])
def test_a_daemon_that_slept_at_any_point_until_another_led_does_nothing_more(
    one_of_many: OneOfMany, subtests: pytest.Subtests, name: str
) -> None:
    def play(points: Chain, *, late: bool) -> int:
        with one_of_many() as yard:
            return play_split(yard, name, partial(SplitRelay, yard, points, late=late))

    with one_of_many() as yard:
        points = points_passed(yard, name, [])
    sweep_sleeps(points, play, subtests)


@pytest.mark.slow
def test_a_daemon_that_slept_anywhere_until_another_led_does_nothing_more(
    one_of_many: OneOfMany, subtests: pytest.Subtests
) -> None:
    def play(chance: Random, longest_seconds: float) -> int:
        name, late = chance.choice([name for name in SCENARIOS if name not in NOT_HERE]), chance.random() < LATE_SHARE
        naps = draw_naps(chance, longest_seconds)
        with one_of_many() as yard:
            return play_split(yard, name, partial(SplitRelay, yard, naps=naps, late=late))

    sweep_naps(RANDOM_SLEEPS, play, subtests)
