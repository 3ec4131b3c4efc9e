"""Work of agents and of people reaches main: policies, approval, checks, set-up, what happens afterwards."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.fleet.landing.conftest import MakeFarm
from tests.fleet.landing.lab import Farm
from tests.fleet.yard import commit, play, write

POLICIES = ("merge", "squash", "rebase")


def task(path: str, text: str = "good\n", **fields: object) -> dict[str, object]:
    return {"brief": play(write(path, text), commit(f"Add {path}"), {"say": "done"}), **fields}


@pytest.mark.parametrize("policy", POLICIES)
def test_what_agents_deliver_lands_by_itself_where_nobody_has_to_agree(make_farm: MakeFarm, policy: str) -> None:
    farm = make_farm(policy=policy)
    farm.yard.add_all([task(f"parts/{name}") for name in "abc"])

    said = farm.yard.run(code=0)

    assert {"parts/a", "parts/b", "parts/c"} <= set(farm.files())
    assert {farm.yard.task(f"t{number}").phase for number in (1, 2, 3)} == {"landed"}
    told = " ".join(re.findall(r"landed (.*): main is now at [0-9a-f]{10}, tested by r\d+", said))
    assert sorted(told.replace(",", "").split()) == ["t1", "t2", "t3"]
    merges = farm.yard.git("rev-list", "--merges", f"{farm.first}..main")
    assert bool(merges) == (policy == "merge")
    author = farm.yard.git("log", "-1", "--format=%an", "--no-merges", "main")
    assert author == "Test Person"
    farm.assert_green()
    farm.assert_at_rest()


def test_any_branch_can_be_landed(farm: Farm) -> None:
    names = [f"fix-{number}" for number in range(6)]
    for name in names:
        farm.branch(name, {f"parts/{name}": "good\n"})
    farm.branch("broken", {"parts/broken": "bad\n"})
    farm.land(*names, "broken")

    farm.yard.run()

    assert farm.outcomes() == {**dict.fromkeys(names, "landed"), "broken": "rejected"}
    assert farm.audit().tips <= len(names)
    farm.assert_green()
    farm.assert_at_rest()


def shown(farm: Farm, task: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(farm.yard.paddock("show", task, "--json"))
    return found


def test_with_a_human_gate_nothing_is_queued_before_somebody_agrees(make_farm: MakeFarm) -> None:
    farm = make_farm(approval="human")
    farm.yard.add_all([task("parts/a"), task("parts/b")])
    farm.yard.run(code=0)
    assert farm.main == farm.first
    assert farm.yard.task("t1").phase == "approval"

    assert "no daemon is running" in farm.yard.paddock("land", "t1")
    told = json.loads(farm.yard.paddock("approve", "t2", "-m", "fine with me", "--json"))["queued"]
    assert [(change["id"], change["head"]) for change in told] == [("t2", farm.yard.task("t2").head)]
    farm.yard.run(code=0)

    assert {farm.yard.task(name).phase for name in ("t1", "t2")} == {"landed"}
    assert {queued.note for queued in farm.queued()} == {""}, "who approved is one fact, what they said another"
    assert shown(farm, "t1")["approval"]["message"] == ""
    given = shown(farm, "t2")["approval"]
    assert given["message"] == "fine with me"
    assert f"approved by {given['by']}: fine with me" in farm.yard.paddock("log", "--task", "t2")
    assert f"approved by {given['by']}: fine with me" in farm.yard.paddock("queue", "why", "t2")
    assert f"by {given['by']} at" in farm.yard.paddock("show", "t2")
    farm.assert_green()


def test_a_rejected_change_is_done_again_with_what_was_said(make_farm: MakeFarm) -> None:
    farm = make_farm(approval="human")
    again = {"write": "parts/b", "text": "good\n", "turn": 2}
    farm.yard.add(write("parts/a"), commit(), {"say": "done"}, again, {"commit": "More", "turn": 2})
    farm.yard.run(code=0)

    farm.yard.paddock("reject", "t1", "-m", "add b too")
    farm.yard.run(code=0)
    farm.yard.paddock("land", "t1")
    farm.yard.run(code=0)

    assert {"parts/a", "parts/b"} <= set(farm.files())
    assert farm.yard.attempt().continues == "t1.1", "the same conversation"


CHECKS = """
[[land.checks]]
name = "parts"
run = "sh ./ci.sh"
[[land.checks]]
name = "documents"
run = "test -z \\"$(cat docs/* 2>/dev/null | grep typo)\\" || { echo $PADDOCK_CHECK found a typo; exit 3; }"
timeout = "30s"
"""


def test_every_named_check_has_to_pass_and_the_failed_one_is_named(make_farm: MakeFarm) -> None:
    farm = make_farm(CHECKS, ci="")
    farm.branch("good", {"docs/good": "fine\n"})
    farm.branch("typo", {"docs/typo": "typo\n"})
    farm.land("good", "typo")

    farm.yard.run()

    assert farm.outcomes() == {"good": "landed", "typo": "rejected"}
    name = next(old.id for old in farm.queue.decided if old.outcome == "rejected")
    why = farm.yard.paddock("queue", "why", name)
    assert "`documents` failed with exit 3" in why
    assert "documents found a typo" in why


def test_set_up_runs_once_in_each_sandbox(make_farm: MakeFarm, tmp_path: Path) -> None:
    counter = tmp_path / "set-ups"
    farm = make_farm(f"setup = 'echo once >> {counter}; echo yes > built'", ci="test -s built && sh ./ci.sh")
    for number in range(2):
        farm.branch(f"fix-{number}", {f"parts/{number}": "good\n"})
        farm.land(f"fix-{number}")
        farm.yard.run(code=0)

    assert farm.outcomes() == {"fix-0": "landed", "fix-1": "landed"}
    assert farm.runs() == 3
    sandboxes = [path for path in (farm.yard.worktrees.path / ".ci").iterdir() if path.is_dir()]
    assert len(counter.read_text().split()) == len(sandboxes) == 1
    farm.assert_at_rest()


@pytest.mark.parametrize("keep", [True, False])
def test_branches_of_tasks_are_kept_or_deleted_as_configured(make_farm: MakeFarm, keep: bool) -> None:
    farm = make_farm(f"keep_branches = {str(keep).lower()}")
    farm.yard.add_all([task("parts/a")])
    farm.branch("mine", {"parts/mine": "good\n"})
    farm.land("mine")

    farm.yard.run(code=0)

    assert farm.yard.task().phase == "landed"
    left = farm.yard.git("branch", "--format=%(refname:short)", "--list", "paddock/*", "mine").splitlines()
    assert "mine" in left, "a branch that a person queued is theirs to delete"
    assert (len(left) == 2) == keep
    farm.yard.git("merge-base", "--is-ancestor", str(farm.yard.task().head), "main")


def test_tasks_become_ready_when_what_they_wait_for_has_landed(farm: Farm) -> None:
    second = {**task("parts/b"), "after": ["first"]}
    second["brief"] = play({"run": ["test", "-e", "parts/a"]}, write("parts/b"), commit("Add b"))
    farm.yard.add_all([{**task("parts/a"), "key": "first"}, second])

    farm.yard.run(code=0)

    assert farm.yard.task("t2").phase == "landed"
    base = farm.yard.attempt("t2").base
    assert "parts/a" in farm.files(base), "the second began where the first had landed"
    farm.assert_green()


def test_after_landing_the_worktree_goes_back_to_the_pool(farm: Farm) -> None:
    farm.yard.add_all([task("parts/a")])
    farm.yard.run(code=0)
    assert not farm.yard.claimed_worktrees()
    assert not farm.yard.git("for-each-ref", "refs/paddock/units")


def test_a_notifier_is_told_what_landed_and_what_was_sent_back(make_farm: MakeFarm, tmp_path: Path) -> None:
    told = tmp_path / "told"
    command = f"echo $PADDOCK_CHANGE $PADDOCK_OUTCOME $PADDOCK_COMMIT >> {told}"
    farm = make_farm(f"notify = ['sh', '-c', '{command}']")
    farm.branch("good", {"parts/good": "good\n"})
    head = farm.branch("broken", {"parts/broken": "bad\n"})
    farm.land("good", "broken")

    farm.yard.run()

    farm.yard.await_that(lambda: (told.exists() and len(told.read_text().splitlines()) == 2) or None, "both notices")
    ids = {old.outcome.value: old.id for old in farm.queue.decided}
    expected = {f"{ids['landed']} landed {farm.main}", f"{ids['rejected']} rejected {head}"}
    assert set(told.read_text().splitlines()) == expected


@pytest.mark.parametrize("notify", ["['/no/such/program']", "['sleep', '5']"])
def test_a_failing_notifier_disturbs_nothing(make_farm: MakeFarm, notify: str) -> None:
    farm = make_farm(f"notify = {notify}")
    farm.branch("good", {"parts/good": "good\n"})
    farm.land("good")
    said = farm.yard.run(code=0)
    assert farm.outcomes() == {"good": "landed"}
    assert ("cannot be started" in said) == ("/no/such" in notify)


def test_cancelling_a_task_takes_its_change_out_of_the_queue(make_farm: MakeFarm) -> None:
    farm = make_farm(approval="human")
    farm.yard.add_all([task("parts/a"), task("parts/b")])
    farm.yard.run(code=0)
    farm.yard.paddock("land", "t1", "t2")
    farm.yard.paddock("cancel", "t1")

    farm.yard.run(code=0)

    assert "parts/a" not in farm.files()
    assert farm.yard.task("t1").phase == "cancelled"
    assert farm.yard.task("t2").phase == "landed"
    farm.assert_at_rest()


def test_a_task_cancelled_while_its_change_lands_does_not_stop_the_queue(farm: Farm) -> None:
    farm.yard.add_all([task("parts/a")])
    killed = farm.yard.start("run", "--until-idle", env={"PADDOCK_TEST_CRASH_AT": "land.announced"})
    assert killed.wait() < 0
    farm.yard.paddock("cancel", "t1")
    farm.branch("other", {"parts/other": "good\n"})
    farm.land("other")

    farm.yard.run(code=0)

    assert {"parts/a", "parts/other"} <= set(farm.files())
    assert farm.yard.task().phase == "cancelled"
    farm.assert_green()
    farm.assert_at_rest()


def test_a_tree_that_has_passed_is_not_tested_again(farm: Farm) -> None:
    farm.branch("one", {"parts/one": "good\n"})
    farm.land("one")
    farm.yard.run(code=0)
    before = farm.runs()
    farm.push({"parts/one": None}, "Take it out by hand")
    farm.branch("two", {"parts/two": "good\n"}, start=farm.first)
    farm.land("two")
    farm.yard.run(code=0)
    assert farm.outcomes() == {"one": "landed", "two": "landed"}
    assert farm.runs() == before + 1, "main is the first tree again, which passed; only the change was run"
