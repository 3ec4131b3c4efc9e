"""Every attack on its own, at every level this machine can put up: what is promised holds, and nothing more is said."""

import pytest

from tests.hostile.arsenal import ALL
from tests.hostile.attack import Attack, Level, is_as_said
from tests.hostile.conftest import MakeGround
from tests.hostile.holes import hole_of
from tests.hostile.levels import available_levels
from tests.hostile.promises import broken_promises
from tests.hostile.siege import besiege

pytestmark = pytest.mark.slow
CASES = [
    pytest.param(
        attack,
        level,
        id=f"{attack.name}-{level}",
        marks=[pytest.mark.xfail(strict=True, reason=reason)] if (reason := hole_of(attack, level)) else [],
    )
    for attack in ALL
    for level in available_levels()
]


@pytest.mark.parametrize(("attack", "level"), CASES)
def test_an_attack_breaks_no_promise_but_those_its_level_does_not_make(
    make_ground: MakeGround, attack: Attack, level: Level
) -> None:
    siege = besiege(make_ground(level, remote=attack.remote), [attack])
    broken = broken_promises(siege)
    said = [f"{promise.name}: {complaint}" for promise, complaints in broken.items() for complaint in complaints]
    assert is_as_said(attack, level, set(broken)), "\n".join(said) or "it breaks nothing: there is no gap"
