"""Every attack at every level this machine can put up: what is promised holds, and what is not promised is said.

Where no fence is up each has a yard of its own. Behind a fence they share one, and cannot reach each other.
"""

from collections.abc import Iterator

import pytest

from paddock.core.fence import Level
from tests.hostile.arsenal import ALL
from tests.hostile.attack import Attack, is_as_said
from tests.hostile.conftest import MakeGround
from tests.hostile.holes import hole_of
from tests.hostile.levels import available_levels
from tests.hostile.promises import broken_promises
from tests.hostile.siege import besiege
from tests.hostile.test_fleets import hold

pytestmark = pytest.mark.slow
YARDFUL = 10


def _shared(level: Level) -> list[Attack]:
    fenced = level is not Level.NONE
    return [attack for attack in ALL if fenced and attack.shares_a_yard(level) and not hole_of(attack, level)]


def _single() -> Iterator[object]:
    for level in available_levels():
        shared = _shared(level)
        for attack in ALL:
            if attack.plays_at(level) and attack not in shared:
                reason = hole_of(attack, level)
                marks = [pytest.mark.xfail(strict=True, reason=reason)] if reason else []
                yield pytest.param(attack, level, id=f"{attack.name}-{level}", marks=marks)


def _yards() -> Iterator[object]:
    for level in available_levels():
        shared = _shared(level)
        for number in range(0, len(shared), YARDFUL):
            group = shared[number : number + YARDFUL]
            yield pytest.param(group, level, id=f"{group[0].name}-to-{group[-1].name}-{level}")


@pytest.mark.parametrize(("attack", "level"), list(_single()))
def test_an_attack_breaks_no_promise_but_those_its_level_does_not_make(
    make_ground: MakeGround, attack: Attack, level: Level
) -> None:
    broken = broken_promises(besiege(make_ground(level, remote=attack.remote), [attack]))
    said = [f"{promise.name}: {complaint}" for promise, complaints in broken.items() for complaint in complaints]
    assert is_as_said(attack, level, set(broken)), "\n".join(said) or "it breaks nothing: there is no gap"


@pytest.mark.parametrize(("attacks", "level"), list(_yards()))
def test_behind_a_fence_attacks_break_nothing_together(
    make_ground: MakeGround, attacks: list[Attack], level: Level
) -> None:
    hold(make_ground, level, attacks)
