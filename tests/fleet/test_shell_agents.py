"""Any shell script is an agent: `[engines.sh] command = ["bash", "-c", "{task}"]`; agents do all sorts of things."""

import pytest

from paddock.core.ids import TaskId
from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Yard


@pytest.fixture
def shell_yard(make_yard: MakeYard) -> Yard:
    yard = make_yard()
    with (yard.top / "paddock.toml").open("a") as file:
        file.write('[engines.sh]\ncommand = ["bash", "-c", "{task}"]\n')
    return yard


def add(yard: Yard, script: str, attempts: int = 1) -> TaskId:
    return yard.add_all([{"brief": script, "engine": "sh", "attempts": attempts}])[0]


@pytest.mark.parametrize("flood", ["yes", "yes | tr -d '\\n'"], ids=["of short lines", "of one line"])
def test_an_endless_flood_is_ended_at_its_deadline_and_bounded_and_holds_nobody_up(
    shell_yard: Yard, flood: str
) -> None:
    noisy = add(shell_yard, flood)
    quiet = add(shell_yard, "echo a > a && git add a && git commit -qm a")
    limits = {"PADDOCK_TIMEOUTS_TURN": "3s", "PADDOCK_LIMITS_OUTPUT_MB": "1"}
    shell_yard.run(env=limits, code=1)
    assert shell_yard.attempt(noisy).outcome == "timeout"
    ended = {name: shell_yard.attempt(name).ended for name in (noisy, quiet)}
    assert (ended[quiet] or 0) < (ended[noisy] or 0)
    out = shell_yard.attempt_folder(f"{noisy}.1") / "turn-1.out"
    assert out.stat().st_size > 1 << 20
    assert out.stat().st_blocks * 512 <= 1 << 20
    shell_yard.assert_nothing_is_left()
