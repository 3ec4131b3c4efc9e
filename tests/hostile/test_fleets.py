"""Fleets in which a third of the agents are hostile: what the others made lands, whatever their neighbours do."""

import random

import pytest

from paddock.core.fence import Level
from tests.hostile.arsenal import ALL
from tests.hostile.attack import Attack
from tests.hostile.conftest import MakeGround
from tests.hostile.holes import IN_FLEETS, hole_of
from tests.hostile.levels import available_levels
from tests.hostile.promises import broken_promises
from tests.hostile.siege import besiege


def quiet(level: Level) -> list[Attack]:
    """Those that break nothing at this level."""
    known = {name for names in IN_FLEETS.values() for name in names}
    return [one for one in ALL if one.shares_a_yard(level) and not hole_of(one, level) and one.name not in known]


def hold(make_ground: MakeGround, level: Level, attacks: list[Attack], more_good: int = 0) -> None:
    broken = broken_promises(besiege(make_ground(level), attacks, more_good))
    said = [f"{promise.name}: {complaint}" for promise, complaints in broken.items() for complaint in complaints]
    assert not said, f"{[attack.name for attack in attacks]}:\n" + "\n".join(said)


@pytest.mark.slow
@pytest.mark.parametrize("level", available_levels())
@pytest.mark.parametrize("seed", [1, 2])
def test_a_fleet_of_fifty_with_fifteen_hostile_agents_lands_all_good_work(
    make_ground: MakeGround, level: Level, seed: int
) -> None:
    hold(make_ground, level, random.Random(seed).sample(quiet(level), 15), more_good=32)


def test_a_small_fleet_with_hostile_agents_lands_all_good_work(make_ground: MakeGround) -> None:
    level = Level.FILES if Level.FILES in available_levels() else Level.NONE
    hold(make_ground, level, random.Random(level.value).sample(quiet(level), 4), more_good=5)
