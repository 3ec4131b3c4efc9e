"""`paddock.Fleet`: what the commands do, typed, for programs."""

import subprocess
import sys
from pathlib import Path

import pytest

import paddock
from paddock import Fleet, PaddockError
from paddock.api.waiting import WaitTimedOut
from paddock.core.intent.workers import NotForWorkers
from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Yard, commit, play, write
from tests.web.alarmed import raise_alerts

PATIENCE_SECONDS = 120.0


@pytest.fixture
def yard(make_yard: MakeYard, monkeypatch: pytest.MonkeyPatch) -> Yard:
    yard = make_yard(PADDOCK_LAND_CI="true")
    for name, value in yard.env.items():
        monkeypatch.setenv(name, value)
    return yard


def test_a_program_takes_a_task_from_its_brief_to_main(yard: Yard) -> None:
    with Fleet(yard.top) as fleet:
        first = fleet.add(play(write("a.txt"), commit()), title="Add a", convoy="letters", paths=["*.txt"])
        second = fleet.add(play({"say": "PADDOCK-NOOP: it is there"}), title="Add b", convoy="letters", after=[first])
        assert (first, second) == ("t1", "t2")
        assert [task.phase for task in fleet.tasks()] == ["ready", "waiting"]
        assert [task.id for task in fleet.tasks(where="after=t1 or title=nothing")] == ["t2"]
        assert [task.id for task in fleet.status(where="phase=ready").tasks] == ["t1"]
        assert {event.task for event in fleet.events(where="t2")} == {"t2"}
        with pytest.raises(WaitTimedOut, match="not settled after 0s: t1, t2"):
            fleet.wait(convoy="letters", timeout=0)
        assert fleet.run(timeout=PATIENCE_SECONDS)
        [task] = fleet.wait("t1", timeout=PATIENCE_SECONDS)
        assert (task.phase, fleet.task("t1").head) == ("approval", task.head)
        assert "+++ b/a.txt" in fleet.diff("t1")
        assert fleet.status().needs_you.tasks == ["t1"]
        [queued] = fleet.land("t1", head=task.head)
        assert (queued.id, queued.head) == ("t1", task.head)
        assert fleet.run(timeout=PATIENCE_SECONDS)
        assert [task.phase for task in fleet.wait("t1-t2", until="finished")] == ["landed", "noop"]
        assert [(one.phase, len(one.commits)) for one in fleet.results("letters")] == [("landed", 1), ("noop", 0)]
        kinds = [event.kind for event in fleet.events(task="t1")]
        assert (kinds[0], "attempt.ended" in kinds) == ("task.added", True)
        [added] = fleet.events(kind="task.added", task="t2")
        assert added.body["title"] == "Add b"
        assert added.actor.endswith(" via python")
        assert fleet.findings() == []
        assert "PADDOCK-NOOP" in fleet.brief("t2")


def test_what_must_pass_goes_with_the_task(yard: Yard) -> None:
    fleet = Fleet(yard.top)
    fleet.add("Do it", accept=["sh t.sh"], accept_files={"t.sh": "true\n"})
    [added] = fleet.events(kind="task.added")
    assert added.body["accept"] == {"commands": [["sh", "t.sh"]], "files": [{"path": "t.sh", "text": "true\n"}]}
    with pytest.raises(PaddockError, match="without a shell"):
        fleet.add("Do it", accept=["make | tee log"])


def test_plans_workflows_agents_and_findings_are_there_for_programs(yard: Yard) -> None:
    task = {"key": "a", "title": "Do a", "brief": "Do it.", "paths": ["a/**"], "size": "small"}
    plan = {
        "convoy": "letters",
        "title": "Letters",
        "tasks": [task, {**task, "key": "b", "title": "Do b", "after": ["a"]}],
    }
    fleet = Fleet(yard.top)
    planner = fleet.plan(play({"answer": plan}), engine="scripted")
    assert fleet.run(timeout=PATIENCE_SECONDS) in (True, False)
    assert [one.key for one in fleet.proposed_plan(planner).tasks] == ["a", "b"]
    assert fleet.accept_plan(planner, convoy="abc") == ["t2", "t3"]
    assert [one.convoy for one in fleet.tasks(convoy="abc")] == ["abc", "abc"]
    with pytest.raises(PaddockError):
        fleet.drop_plan(planner)
    assert {"feature", "code-review"} <= set(fleet.workflows())
    assert (fleet.agents(), fleet.route(paths=["a/**"]).agent, fleet.findings()) == ([], None, [])
    for wish in (lambda: fleet.waive(["f1"]), lambda: fleet.comment("t2", "a:1", "hm"), lambda: fleet.revert("t2")):
        with pytest.raises(PaddockError):
            wish()


def test_a_refusal_is_raised_with_what_to_do(yard: Yard) -> None:
    fleet = Fleet(yard.top)
    fleet.add("Do it")
    with pytest.raises(PaddockError, match="nothing to land") as refused:
        fleet.approve("t1")
    assert refused.value.hint
    with pytest.raises(PaddockError, match="nothing to wait for"):
        fleet.wait()
    with pytest.raises(PaddockError, match="is not a phase"):
        fleet.tasks(phase="done-ish")
    with pytest.raises(PaddockError, match="is nothing to wait for"):
        fleet.wait("t1", until="soon")
    fleet.cancel(["t1"], "not needed")
    assert fleet.task("t1").reason == "not needed"
    fleet.retry("t1")
    [event] = list(fleet.events(follow=True, kind="task.retried", timeout=0))
    assert event.task == "t1"


def test_inside_an_attempt_it_has_the_rights_of_that_agent(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet = Fleet(yard.top)
    fleet.add("Do it")
    monkeypatch.setenv("PADDOCK_ATTEMPT", "t1.1")
    monkeypatch.setenv("PADDOCK_MARKER", f"{yard.marker}:t1.1")
    inside = Fleet(yard.top)
    assert inside.status().counts["ready"] == 1
    for wish in (lambda: inside.land("t1"), lambda: inside.add("More"), lambda: inside.task("t2"), inside.up):
        with pytest.raises(NotForWorkers):
            wish()


def test_importing_paddock_imports_nothing_else() -> None:
    program = "import sys, paddock; print([name for name in sys.modules if name.startswith('paddock.')])"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert said.stdout == "[]\n"
    assert "Fleet" in dir(paddock)
    with pytest.raises(AttributeError, match="no attribute `Flet`"):
        _ = paddock.Flet  # type: ignore[attr-defined]


def test_a_place_without_a_repository_is_said(tmp_path: Path) -> None:
    with pytest.raises(PaddockError, match="is not a directory"):
        Fleet(tmp_path / "nowhere")
    with pytest.raises(PaddockError):
        Fleet(tmp_path)


def test_an_alert_is_read_and_acknowledged(yard: Yard) -> None:
    raise_alerts(yard)
    fleet = Fleet(yard.top)
    assert [one.id for one in fleet.alerts()] == ["a1", "a2"]
    fleet.acknowledge("a1", "on it")
    assert [(one.id, one.state, one.note) for one in fleet.alerts()][1] == ("a1", "acknowledged", "on it")
    assert len(fleet.alerts(show_all=True)) == 3
    with pytest.raises(PaddockError, match="there is no alert `a9`"):
        fleet.acknowledge(["a2", "a9"])
