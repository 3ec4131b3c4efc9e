"""A goal becomes a convoy: a scripted planner, the real commands."""

import json
from typing import Any

from paddock.core import events as ev
from paddock.core.ids import TaskId
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import Role
from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Step, Yard, play
from tests.web.api import serve_api

# Without a play-list a scripted worker writes notes/<the first line of its brief>.md.
ERRORS = {"key": "errors", "title": "Name the place", "brief": "Name the place", "paths": ["notes/name*"]}
SPEED = {"key": "speed", "title": "$(rm -rf /)", "brief": "Name it fast", "paths": ["notes/name-it-fast.md"]}
SECRET = {"commands": [["true"]], "files": [{"path": "test_it.py", "text": "assert answer == 42"}]}
MANUAL = {"key": "manual", "title": "Describe it", "brief": "Describe it", "paths": ["notes/describe-it.md"]}
ACCEPTED = {**MANUAL, "accept": SECRET}
PLAN: dict[str, Any] = {
    "convoy": "strict",
    "title": "Be strict",
    "tasks": [ERRORS, SPEED, ACCEPTED],
    "notes": "Mind it.",
}


def goal(*steps: Step) -> str:
    return play({"run": ["ls"]}, *steps)


def test_a_goal_becomes_a_convoy_that_lands(make_yard: MakeYard) -> None:
    yard = make_yard(PADDOCK_LAND_APPROVAL="none", PADDOCK_LAND_CI="true")
    shown = json.loads(yard.paddock("plan", goal({"answer": PLAN}), "--json"))
    assert shown["task"] == "t1"
    assert [task["key"] for task in shown["tasks"]] == ["errors", "speed", "manual"]
    assert shown["added"] == [{"task": "speed", "after": "errors", "path": "notes/name-it-fast.md"}]
    assert (shown["overlaps"], shown["ids"], shown["decided"]) == ([], [], "")
    assert list(yard.board().tasks) == ["t1"], "nothing is added before somebody accepts it"
    assert yard.task("t1").phase is Phase.DONE
    assert "paddock plan --accept t1" in yard.paddock("status")

    text = yard.paddock("plan", "--accept", "t1", "--convoy", "other")
    assert "order added: speed waits for errors; both may change notes/name-it-fast.md" in text
    assert "added t3  $(rm -rf /)  after t2" in text
    assert yard.board().members["other"] == ["t2", "t3", "t4"]
    (accepted,) = yard.records(ev.PlanAccepted)
    assert accepted.event == ev.PlanAccepted(shown["seq"], tuple(map(TaskId, ("t2", "t3", "t4"))), "other")
    assert "its plan was accepted" in yard.paddock("plan", "--accept", "t1", code=1)
    assert "answer == 42" in yard.paddock("results", "t1", "--json")
    worker = {"PADDOCK_ATTEMPT": "t4.1", "PADDOCK_MARKER": f"{yard.marker}:t4.1"}
    told = json.loads(yard.paddock("results", "t1", "--json", env=worker))["results"][0]["plan"]
    assert [task.get("accept") for task in json.loads(told)["tasks"]] == [None, None, None], "kept out of its reach"
    yard.run(code=0)
    assert {yard.task(name).phase for name in ("t2", "t3", "t4")} == {Phase.LANDED}
    yard.assert_nothing_is_left()


def test_a_planner_is_asked_again_with_what_is_wrong_and_talked_with(yard: Yard) -> None:
    wrong = {**PLAN, "tasks": [{**ERRORS, "paths": ["../etc"], "after": ["nobody"]}]}
    smaller = {**PLAN, "tasks": [MANUAL]}
    steps: tuple[Step, ...] = (
        {"answer": wrong},
        {"answer": PLAN, "turn": 2, "aloud": True},
        {"answer": smaller, "turn": 3},
    )
    text = yard.paddock("plan", goal(*steps), "--paths", "notes/**", "--max-tasks", "5")
    assert "convoy strict  3 tasks  Be strict" in text
    (refused,) = yard.records(ev.AnswerRefused)
    assert isinstance(refused.event, ev.AnswerRefused)
    assert "tasks[0].paths[0]: `../etc` has `..` in it" in refused.event.problem
    assert "tasks[0].after: there is no task `nobody`" in refused.event.problem
    prompt = yard.paddock("show", "t1", "--prompt")
    assert "At most 5 tasks" in prompt
    assert "All `paths` are inside of: notes/**" in prompt
    yard.paddock("message", "t1", "Smaller, please.")
    yard.run(code=0)
    again = json.loads(yard.paddock("plan", "--show", "t1", "--json"))
    assert [task["key"] for task in again["tasks"]] == ["manual"]
    served = serve_api(yard)
    assert served.get("tasks/t1/plan")["seq"] == again["seq"]
    stale = served.ask("POST", "/api/v1/tasks/t1/plan/accept", json.dumps({"seq": again["seq"] - 1}).encode())
    assert "has a newer plan" in stale.json["error"]["message"]
    assert served.post("tasks/t1/plan/drop", {"seq": again["seq"], "message": "too small"})["done"][0]["id"] == "t1"
    assert "its plan was dropped" in yard.paddock("plan", "--accept", "t1", code=1)
    assert served.post("plans", {"goal": "Do it better", "max_tasks": 3})["ids"] == ["t2"]
    assert (yard.task("t2").role, yard.task("t2").max_tasks) == (Role.PLAN, 3)


def test_a_planner_that_only_chatters_fails_and_the_story_is_told(yard: Yard) -> None:
    prose: list[Step] = [{"answer": "I would split it up.", "turn": turn} for turn in (1, 2, 3)]
    told = yard.paddock("plan", goal(*prose), "--yes", code=1)
    assert "there is no plan: task `t1` has failed: its answer cannot be used: there is no JSON in it" in told
    assert "`paddock show t1` and `paddock tail t1` tell more" in told
    assert len(yard.records(ev.AnswerRefused)) == 2
    assert len(yard.task("t1").attempts) == 1
    assert list(yard.board().tasks) == ["t1"]
    yard.assert_nothing_is_left()
