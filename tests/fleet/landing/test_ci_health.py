"""CI that cannot run, machines that go down, outages that end: nobody is blamed, and the queue goes on by itself."""

import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from paddock.core.merge.model import HaltCause
from paddock.sessions.process import signal_process
from tests.fleet.landing.conftest import MakeFarm
from tests.fleet.landing.lab import CI, Farm, is_settled


def land_some(farm: Farm, *names: str) -> None:
    for name in names:
        farm.branch(name, {f"parts/{name}": "good\n"})
    farm.land(*names)


def nothing(_folder: Path) -> None:
    """The folder is empty as it is."""


def put_tool(folder: Path) -> None:
    (folder / "tool").write_text("#!/bin/sh\nexec sh ./ci.sh\n")


def put_executable_tool(folder: Path) -> None:
    put_tool(folder)
    (folder / "tool").chmod(0o755)


def put_module(folder: Path) -> None:
    (folder / "absent_module.py").write_text("print('all is well')\n")


def open_gate(folder: Path) -> None:
    (folder / "gate").touch()


CANNOT_RUN = {
    "missing": ("{folder}/tool", nothing, put_executable_tool, "tool` was not found"),
    "not executable": ("{folder}/tool", put_tool, put_executable_tool, "tool` is not executable"),
    "module": (
        "PYTHONPATH={folder} python3 -m absent_module",
        nothing,
        put_module,
        "the Python module `absent_module` is not installed",
    ),
    "hangs": (
        "echo still waiting; while [ ! -e {folder}/gate ]; do sleep 0.05; done",
        nothing,
        open_gate,
        "`ci` did not finish within 3 s",
    ),
}


@pytest.mark.parametrize("what", CANNOT_RUN)
def test_a_ci_that_cannot_run_on_main_is_named_and_gone_on_with_once_the_machine_is_fixed(
    make_farm: MakeFarm, tmp_path: Path, what: str
) -> None:
    command, before, heal, why = CANNOT_RUN[what]
    folder = tmp_path / "machine"
    folder.mkdir()
    before(folder)
    farm = make_farm(ci=command.format(folder=folder), PADDOCK_LAND_TIMEOUT="3s" if what == "hangs" else "60s")
    land_some(farm, "one")

    said = farm.yard.run(code=1)

    halted = farm.queue.halted
    assert halted is not None
    assert halted.cause is HaltCause.CI_CANNOT_RUN
    assert halted.reason.startswith("CI cannot run on main: ")
    assert why in halted.reason
    assert "main is red" not in said
    assert "edit `[land]` in paddock.toml" in said
    assert "`paddock doctor --ci` tries it" in said
    shown = farm.yard.paddock("queue", "why", "main")
    assert why in shown
    assert f"the end of run {halted.runs[-1]}" in shown

    heal(folder)
    farm.yard.run(code=0)

    assert farm.outcomes() == {"one": "landed"}
    assert farm.queue.halted is None


def test_a_running_daemon_goes_on_by_itself_when_the_machine_is_fixed(make_farm: MakeFarm, tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    farm = make_farm(ci=f"{tool} && sh ./ci.sh")
    land_some(farm, "one")
    farm.yard.start("run")
    farm.yard.await_board(lambda board: board.queue.halted is not None, "the halt")
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    farm.yard.await_board(lambda board: is_settled(board) and board.queue.halted is None, "the landing")
    assert farm.outcomes() == {"one": "landed"}


def test_a_running_daemon_goes_on_by_itself_when_the_command_is_fixed_in_paddock_toml(make_farm: MakeFarm) -> None:
    farm = make_farm(ci="no-such-program --at-all")
    land_some(farm, "one")
    daemon = farm.yard.start("run")
    farm.yard.await_board(lambda board: board.queue.halted is not None, "the halt")

    file = farm.top / "paddock.toml"
    file.write_text(file.read_text().replace("no-such-program --at-all", CI))

    farm.yard.await_board(lambda board: is_settled(board) and board.queue.halted is None, "the landing")
    farm.yard.paddock("down")
    daemon.wait()
    assert farm.outcomes() == {"one": "landed"}
    farm.assert_green()


def test_a_machine_that_goes_down_with_all_its_runs_halts_nothing_and_blames_nobody(
    make_farm: MakeFarm, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    farm = make_farm(ci=f"if [ -e parts ]; then while [ ! -e {go} ]; do sleep 0.05; done; fi; sh ./ci.sh")
    names = [f"fix-{number}" for number in range(8)]
    land_some(farm, *names)
    for _ in range(2):
        daemon = farm.yard.start("run")
        farm.yard.await_that(lambda: working_runs(farm) >= 4 or None, "four runs at work")
        daemon.send(signal.SIGKILL)
        daemon.wait()
        for process in farm.yard.processes():
            signal_process(process.identity, signal.SIGKILL)
    assert farm.queue.halted is None

    go.touch()
    said = farm.yard.run(code=0)

    assert "halted" not in said
    assert farm.outcomes() == dict.fromkeys(names, "landed")
    assert farm.queue.infra_streak == 0
    farm.assert_green()
    farm.assert_at_rest()


def working_runs(farm: Farm) -> int:
    marks = {process.mark.attempt for process in farm.yard.processes() if "sleep" in process.command}
    return len(marks & {f"run-{run}" for run in farm.queue.running})


def test_an_outage_that_fails_everything_ends_without_a_rejection(make_farm: MakeFarm, tmp_path: Path) -> None:
    down = tmp_path / "down"
    farm = make_farm(ci=f"if [ -e {down} ]; then echo the database is down >&2; exit 1; fi; sh ./ci.sh")
    land_some(farm, "one")
    farm.yard.run(code=0)
    down.touch()
    land_some(farm, "two", "three")

    said = farm.yard.run(code=1)

    halted = farm.queue.halted
    assert halted is not None
    assert halted.cause is HaltCause.MAIN_RED
    assert "merge queue halted: main is red" in said
    assert "the database is down" in said
    down.unlink()
    farm.yard.run(code=0)
    assert farm.outcomes() == {"one": "landed", "two": "landed", "three": "landed"}
    farm.assert_green()


def cancel_it(farm: Farm) -> None:
    farm.yard.paddock("queue", "cancel", "one")


def leave_it(_farm: Farm) -> None:
    """The change stays queued."""


@pytest.mark.parametrize("then", [leave_it, cancel_it])
def test_a_halt_is_in_status_whatever_is_queued(make_farm: MakeFarm, then: Callable[[Farm], None]) -> None:
    farm = make_farm(ci="no-such-program")
    land_some(farm, "one")
    farm.yard.run(code=1)
    then(farm)
    assert "merge queue halted: CI cannot run on main" in farm.yard.paddock("status")
    told = json.loads(farm.yard.paddock("status", "--json"))["halted"]
    assert told["cause"] == "ci_cannot_run"
    assert told["runs"] == ["r1"]
    assert told["tested_again"] is not None
    assert json.loads(farm.yard.paddock("queue", "--json"))["halted"]["reason"] == told["reason"]
    assert "merge queue halted: CI cannot run on main" in farm.yard.run(code=1)
