"""A daemon is stopped at every named point until another leads, and wakes: it does nothing more, whatever was next."""

from pathlib import Path
from random import Random

import pytest

from tests.fleet.conftest import MakeYard
from tests.fleet.replay import play_scenario
from tests.fleet.scenarios import SCENARIOS
from tests.fleet.split_brain import SplitRelay, holds_lock_at, nodding_off
from tests.fleet.test_crash_sweep import points_passed, separate
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
RANDOM_POINTS = 100
LONGEST_SECONDS = 6.0


def play_split(yard: Yard, name: str, point: str) -> bool:
    """Whether the point was reached."""
    made: list[SplitRelay] = []

    def start() -> SplitRelay:
        made.append(SplitRelay(yard, point, late=not holds_lock_at(point)))
        return made[-1]

    play_scenario(yard, SCENARIOS[name], start=start)
    return made[0].slept


@pytest.mark.parametrize(("name", "point"), SAMPLE)
def test_a_daemon_that_slept_there_until_another_led_does_nothing_more(yard: Yard, name: str, point: str) -> None:
    assert play_split(yard, name, point), "the point was never reached"


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SCENARIOS if name not in NOT_HERE])
def test_a_daemon_that_slept_at_any_point_until_another_led_does_nothing_more(
    make_yard: MakeYard, tmp_path: Path, name: str
) -> None:
    points = points_passed(separate(make_yard, tmp_path, "reference"), name, [])
    failures: list[str] = []
    for number, point in enumerate(points):
        yard = separate(make_yard, tmp_path, f"split{number}")
        try:
            play_split(yard, name, point)
        except AssertionError as failure:
            failures.append(f"{point}: {failure}")
        finally:
            yard.close()
    assert not failures, "\n\n".join(failures)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(RANDOM_POINTS))
def test_a_daemon_that_slept_anywhere_until_another_led_does_nothing_more(yard: Yard, seed: int) -> None:
    chance = Random(seed)
    name = chance.choice([name for name in SCENARIOS if name not in NOT_HERE])
    late = chance.random() < 0.5
    play_scenario(
        yard,
        SCENARIOS[name],
        start=lambda: SplitRelay(yard, nods_off=nodding_off(chance, LONGEST_SECONDS), late=late),
    )
