"""The queue's commands while a daemon tests: what is shown, and what a switch does to work under way."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from paddock.core.board import Board
from paddock.core.events import DaemonTroubled, SettingsAdopted
from paddock.core.merge import events as qe
from tests.fleet.landing.conftest import MakeFarm
from tests.fleet.landing.lab import Farm, is_settled
from tests.fleet.yard import commit, write


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """CI of a tree with parts waits for this file."""
    return tmp_path / "go"


@pytest.fixture
def farm(make_farm: MakeFarm, gate: Path) -> Farm:
    wait = f"while [ -d parts ] && [ ! -e {gate} ]; do sleep 0.05; done"
    return make_farm(ci=f"echo began; {wait}; sh ./ci.sh", approval="human")


def holds(name: str) -> Callable[[Board], bool]:
    return lambda board: any(run.holds(name) for run in board.queue.running.values())


def name_of(farm: Farm, title: str) -> str:
    changes = [queued.change for queued in farm.queued()]
    return next(change.id for change in changes if title in (change.branch, change.title))


def test_what_is_tested_is_shown_with_its_members_its_age_and_what_waits(farm: Farm, gate: Path) -> None:
    farm.branch("one", {"parts/one": "good\n"})
    farm.branch("two", {"parts/two": "good\n"})
    farm.land("one")
    farm.yard.env["PADDOCK_LAND_SLOTS"] = "1"
    daemon = farm.yard.start("run", "--until-idle")
    one = name_of(farm, "one")
    farm.yard.await_board(holds(one), "the run of one")
    farm.land("two")
    two = name_of(farm, "two")

    told = json.loads(farm.yard.paddock("queue", "--json"))
    (running,) = told["running"]
    assert running["members"] == [one]
    assert running["base"] == farm.first
    assert running["eta_seconds"] is not None
    said = Path(running["log"], "turn-1.out")
    farm.yard.await_that(lambda: said.exists() and "began" in said.read_text(), "what it says")
    waiting = [entry for entry in told["next"] if entry["id"] == two]
    assert [entry["state"] for entry in waiting] == ["waits for a slot"]
    shown = farm.yard.paddock("queue")
    assert f"{running['run']}" in shown
    assert "s left" in shown
    gate.touch()
    assert daemon.wait() == 0
    assert farm.outcomes() == {"one": "landed", "two": "landed"}


def test_cancelling_a_change_stops_its_run_and_spares_the_others(farm: Farm, gate: Path) -> None:
    for name in ("one", "two"):
        farm.branch(name, {f"parts/{name}": "good\n"})
    farm.land("one", "two")
    one, two = name_of(farm, "one"), name_of(farm, "two")
    daemon = farm.yard.start("run", "--until-idle")
    farm.yard.await_board(lambda board: holds(one)(board) and holds(two)(board), "both runs")

    farm.yard.paddock("queue", "cancel", one)
    farm.yard.await_board(lambda board: not holds(one)(board), "the end of its run")
    gate.touch()

    assert daemon.wait() == 0
    assert farm.outcomes() == {"one": "cancelled", "two": "landed"}
    assert not farm.yard.records(DaemonTroubled)
    farm.assert_green()
    farm.assert_at_rest()


def test_freezing_while_a_run_is_under_way_keeps_its_result_for_later(farm: Farm, gate: Path) -> None:
    farm.branch("one", {"parts/one": "good\n"})
    farm.land("one")
    daemon = farm.yard.start("run")
    farm.yard.await_board(holds(name_of(farm, "one")), "the run")
    farm.yard.paddock("queue", "freeze", "-m", "release day")
    gate.touch()
    farm.yard.await_board(lambda board: not board.queue.running, "its end")
    assert farm.main == farm.first
    runs = farm.runs()

    farm.yard.paddock("queue", "unfreeze")
    farm.yard.await_board(lambda board: not board.queue.entries, "its landing")
    assert farm.main != farm.first
    assert farm.runs() == runs, "what has passed is not tested again"
    farm.yard.paddock("down")
    daemon.wait()


def test_a_change_at_the_front_goes_first(farm: Farm, gate: Path) -> None:
    farm.yard.env["PADDOCK_LAND_SLOTS"] = "1"
    for name in ("first", "second", "urgent"):
        farm.branch(name, {f"parts/{name}": "good\n"})
    farm.land("first", "second", "urgent")
    farm.yard.paddock("queue", "move", name_of(farm, "urgent"), "--front")
    gate.touch()
    farm.yard.run(code=0)
    started = [record.event for record in farm.yard.records(qe.RunStarted)]
    members = [run.members for run in started if isinstance(run, qe.RunStarted) and run.members]
    assert members[0][0].id == name_of(farm, "urgent")
    assert set(farm.outcomes().values()) == {"landed"}


def test_a_cancelled_task_change_waits_for_approval_and_may_be_landed_again(farm: Farm, gate: Path) -> None:
    farm.yard.add(write("parts/a"), commit("Add a"), {"say": "done"})
    farm.yard.run(code=0)
    farm.yard.paddock("land", "t1")
    assert "already in the merge queue" in farm.yard.paddock("land", "t1", code=1)
    assert "paddock queue cancel t1" in farm.yard.paddock("reject", "t1", code=1)
    farm.yard.paddock("queue", "cancel", "t1", "-m", "let me think")
    assert (farm.yard.task().phase, farm.yard.task().reason) == ("approval", "let me think")
    gate.touch()
    farm.yard.paddock("land", "t1")
    farm.yard.run(code=0)
    assert farm.yard.task().phase == "landed"


def test_where_nobody_has_to_agree_a_change_taken_out_stays_out(make_farm: MakeFarm) -> None:
    farm = make_farm(name="other")
    farm.yard.paddock("queue", "pause")
    farm.yard.add(write("parts/a"), commit("Add a"), {"say": "done"})
    farm.yard.run(code=0)
    farm.yard.paddock("queue", "cancel", "t1")
    farm.yard.paddock("queue", "resume")
    farm.yard.run(code=0)
    assert farm.yard.task().phase == "approval"
    assert farm.main == farm.first


def test_edits_of_land_and_limits_reach_a_running_daemon_and_a_slip_is_told_once(farm: Farm, gate: Path) -> None:
    """The policy changes while a train is under way: that one lands as it was written, the next one squashed."""
    for name in ("one", "two"):
        farm.branch(name, {f"parts/{name}": "good\n"})
    farm.land("one")
    daemon = farm.yard.start("run")
    farm.yard.await_board(holds("one"), "the run of one")
    file = farm.top / "paddock.toml"
    whole = file.read_text()
    file.write_text(whole.replace('policy = "merge"', 'policy = "sqosh"'))
    farm.yard.await_that(lambda: farm.yard.records(DaemonTroubled) or None)
    file.write_text(whole.replace('policy = "merge"', 'policy = "squash"').replace("slots = 4", "slots = 3"))
    (adopted,) = farm.yard.await_that(lambda: farm.yard.records(SettingsAdopted) or None)
    assert adopted.event == SettingsAdopted(("land.policy", "land.slots"))
    gate.touch()
    farm.yard.await_board(is_settled, "the landing of one")
    farm.land("two")
    farm.yard.await_board(lambda board: len(board.queue.decided) == 2, "the landing of two")
    farm.yard.paddock("down")
    daemon.wait()

    troubles = [record.event for record in farm.yard.records(DaemonTroubled)]
    assert [trouble.what for trouble in troubles if isinstance(trouble, DaemonTroubled)] == [
        "reading paddock.toml; the previous settings stay in effect"
    ]
    assert farm.subjects() == ["Work on two", "Merge one: Work on one"]
    assert farm.outcomes() == {"one": "landed", "two": "landed"}
