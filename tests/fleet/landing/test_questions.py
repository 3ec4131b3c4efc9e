"""What only a person may let land, whatever the approval policy is: protected paths, and landed work taken back."""

import json

from paddock.core.ids import TaskId
from tests.fleet.landing.conftest import MakeFarm
from tests.fleet.landing.lab import TEN_LINES, Farm
from tests.fleet.yard import commit, play, write

SEVEN = TEN_LINES.replace("line 7\n", "line 7, as t1 has it\n")


def beside_a_landing(farm: Farm, *options: str) -> None:
    """t1 lands while t2 works; t2 merges what main is then."""
    started, landed = farm.yard.folder / "t2-started", farm.yard.folder / "t1-landed"
    script = f"git merge -q --no-edit {' '.join(options)} $(cat {landed})"
    steps = [{"run": ["sh", "-c", script]}]
    first = play(
        {"wait_for": str(started)}, write("ten.txt", SEVEN), write("parts/t1", "good\n"), commit("As t1 has it")
    )
    hello = [{"run": ["touch", str(started)]}, write("parts/t2", "good\n"), commit("Mine"), {"wait_for": str(landed)}]
    farm.yard.add_all([{"brief": first}, {"brief": play(*hello, *steps)}])
    daemon = farm.yard.start("run", "--until-idle")
    farm.yard.await_board(lambda board: board.tasks[TaskId("t1")].phase == "landed", "the landing of t1")
    ready = landed.with_suffix(".new")
    ready.write_text(farm.main)
    ready.rename(landed)
    assert daemon.wait() in (0, 1)


def test_what_takes_landed_work_back_waits_for_a_person_and_is_named(farm: Farm) -> None:
    beside_a_landing(farm, "-s", "ours")

    task = farm.yard.task("t2")
    assert (task.phase, task.reason) == ("approval", "undoes t1: parts/t1, ten.txt")
    assert "line 7, as t1 has it" in farm.yard.git("show", "main:ten.txt")
    status = farm.yard.paddock("status")
    assert "undoes t1: parts/t1" in status
    assert "paddock diff t2, then paddock land t2 --undo" in status
    told = farm.yard.paddock("land", "t2", code=1)
    assert "`t2` undoes t1: parts/t1, ten.txt" in told
    diff = farm.yard.paddock("diff", "t2", "--stat")
    assert "ten.txt" in diff
    assert "ten.txt" not in farm.yard.paddock("diff", "t2", "--stat", "--own")

    farm.yard.paddock("land", "t2", "--undo")
    farm.yard.run(code=0)
    assert farm.yard.task("t2").phase == "landed"
    assert "as t1 has it" not in farm.yard.git("show", "main:ten.txt")
    farm.assert_green()


def test_an_ordinary_merge_of_main_lands_by_itself(farm: Farm) -> None:
    beside_a_landing(farm)
    assert farm.yard.task("t2").phase == "landed"
    farm.assert_green()


def test_a_change_of_ci_or_protected_paths_waits_for_a_person(make_farm: MakeFarm) -> None:
    farm = make_farm('protected = ["keys/**"]')
    farm.yard.add(write("ci.sh", "exit 0\n"), commit())
    farm.yard.add(write("keys/a.pem", "k\n"), commit())
    farm.yard.add(write("docs/.gitattributes", "* eol=crlf\n"), commit())
    farm.yard.add(write("parts/fine", "good\n"), commit())
    farm.yard.run()

    found = [farm.yard.task(f"t{number}") for number in range(1, 5)]
    assert [task.phase for task in found] == ["approval", "approval", "approval", "landed"]
    assert [task.reason for task in found[:3]] == [
        "touches what CI runs: ci.sh",
        "touches what `[land] protected` names: keys/a.pem",
        "touches docs/.gitattributes",
    ]
    assert "touches what CI runs: ci.sh" in farm.yard.paddock("show", "t1")
    queued = json.loads(farm.yard.paddock("land", "t2", "--json"))
    assert queued["queued"][0]["concerns"] == ["touches what `[land] protected` names: keys/a.pem"]
    farm.yard.run(code=0)
    assert farm.yard.task("t2").phase == "landed"


def test_an_agent_cannot_approve_what_only_a_person_may(make_farm: MakeFarm) -> None:
    farm = make_farm(approval="human")
    farm.yard.add(write("ci.sh", "exit 0\n"), commit())
    farm.yard.run()
    farm.yard.paddock("land", "t1", code=1, env={"PADDOCK_ATTEMPT": "t1.1"})
    assert farm.yard.task("t1").phase == "approval"
