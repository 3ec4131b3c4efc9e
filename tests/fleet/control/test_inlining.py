"""Tasks that do not pay an agent of their own run in one warm session, each on its own branch and change."""

import json
import signal

from paddock.core.events import AttemptStarted
from paddock.core.ids import TaskId
from paddock.core.tasks.task import Task
from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Step, Yard, commit, play, write

# An agent that is slow to its first word and quick afterwards: not worth starting twice.
SLOW_START: Step = {"think": 0.8}


def small(name: str, *more: Step) -> dict[str, object]:
    return {"brief": play(SLOW_START, write(f"{name}.txt"), *more, commit(f"Add {name}"))}


def add_convoy(yard: Yard, tasks: list[dict[str, object]], convoy: str = "small") -> list[TaskId]:
    file = yard.folder / "convoy.json"
    file.write_text(json.dumps({"convoy": convoy, "tasks": [{"title": f"Task {n}", **t} for n, t in enumerate(tasks)]}))
    ids: list[TaskId] = json.loads(yard.paddock("add", "--file", str(file), "--json"))["ids"]
    return ids


def teach(yard: Yard) -> None:
    """Three lone tasks of the convoy tell how long a start and the work take, by far the most of it the start."""
    add_convoy(yard, [{"brief": play({"think": 4.0}, write(f"{n}.txt"), commit(f"Add {n}"))} for n in range(3)])
    yard.run(env={"PADDOCK_LIMITS_INLINE": "false"}, code=0)


def inlining_yard(make_yard: MakeYard, **settings: str) -> Yard:
    return make_yard(PADDOCK_LIMITS_INLINE="true", **settings)


def started(yard: Yard, name: str) -> AttemptStarted:
    event = yard.records(AttemptStarted, name)[0].event
    assert isinstance(event, AttemptStarted)
    return event


def head_subjects(yard: Yard, task: Task) -> list[str]:
    return yard.git("log", "--format=%s", f"main..{task.head}").splitlines()


def test_what_does_not_pay_is_done_in_turn_by_one_session_each_on_its_own_branch(make_yard: MakeYard) -> None:
    yard = inlining_yard(make_yard)
    teach(yard)
    a, b, c = add_convoy(yard, [small("a"), small("b"), small("c")])
    yard.run(code=0)
    sessions = {yard.attempt(name).session for name in (a, b, c)}
    assert len(sessions) == 1
    assert started(yard, a).inlined == ""
    assert started(yard, b).inlined.startswith(f"in the session of {a}.1: 3 agents would not be worth it (")
    assert started(yard, c).inlined.startswith(f"in the session of {b}.1: 2 agents would not be worth it (")
    tasks = [yard.task(name) for name in (a, b, c)]
    assert [head_subjects(yard, task) for task in tasks] == [["Add a"], ["Add b"], ["Add c"]]
    assert len({task.branch for task in tasks}) == 3
    assert {task.phase.value for task in tasks} == {"approval"}
    memories = [json.loads(path.read_text()) for path in yard.log_path.parent.glob("memory/**/*.json")]
    assert sorted(memory["turn"] for memory in memories) == [1, 1, 1, 3], "one conversation was gone on with twice"
    yard.assert_nothing_is_left()


def test_status_says_why_a_task_waits_for_a_session_and_why_it_runs_inlined(make_yard: MakeYard) -> None:
    yard = inlining_yard(make_yard)
    teach(yard)
    ready, gate = [yard.folder / "ready", yard.folder / "ready2"], [yard.folder / "gate", yard.folder / "gate2"]
    holds: list[tuple[Step, Step]] = [({"run": ["touch", str(ready[n])]}, {"wait_for": str(gate[n])}) for n in range(2)]
    a, b = add_convoy(yard, [small("a", *holds[0]), small("b", *holds[1])])
    fleet = yard.start("run", "--until-idle")
    yard.await_that(ready[0].exists, "the first agent")
    reason = yard.await_that(lambda: yard.row(b)["reason"], "the reason")
    assert yard.task(b).phase.value == "ready"
    assert reason.startswith(f"inlined after {a}: 2 agents would not be worth it (")
    assert f"inlined after {a}: 2 agents would not be worth it (" in yard.paddock("status")
    gate[0].touch()
    yard.await_that(ready[1].exists, "the second task")
    assert yard.row(b)["attempts"][0]["inlined"].startswith(f"in the session of {a}.1: 2 agents")
    assert f"inlined in the session of {a}.1" in yard.paddock("status")
    gate[1].touch()
    assert fleet.wait() == 0, fleet.words


def test_work_that_pays_fans_out_at_once(make_yard: MakeYard) -> None:
    """Before anything is learnt the priors hold: ten minutes of work, one minute to start."""
    yard = inlining_yard(make_yard)
    here = [yard.folder / f"here{n}" for n in range(3)]
    # Each agent waits for all the others: in turn they would never end.
    waits: list[Step] = [{"wait_for": str(path)} for path in here]
    add_convoy(yard, [small(f"f{n}", {"run": ["touch", str(here[n])]}, *waits) for n in range(3)])
    yard.run(code=0)
    assert {yard.attempt(name).inlined for name in ("t1", "t2", "t3")} == {""}
    assert len({yard.attempt(name).session for name in ("t1", "t2", "t3")}) == 3


def test_with_one_slot_one_session_does_a_convoy_and_a_slot_that_comes_free_is_used(make_yard: MakeYard) -> None:
    yard = inlining_yard(make_yard, PADDOCK_LIMITS_MAX_AGENTS="2")
    gate, here = yard.folder / "gate", [yard.folder / f"here{n}" for n in range(2)]
    other = yard.add({"wait_for": str(gate)}, {"noop": "waited"})
    together: list[Step] = [{"wait_for": str(path)} for path in here]
    names = add_convoy(yard, [small(f"f{n}", {"run": ["touch", str(here[n])]}, *together) for n in range(2)])
    fleet = yard.start("run", "--until-idle")
    yard.await_that(here[0].exists, "the first agent")
    reason = f"inlined after {names[0]}: no slot is free for another agent"
    yard.await_that(lambda: yard.row(names[1])["reason"] == reason, "the reason")
    gate.touch()
    assert fleet.wait() == 0, fleet.words
    assert yard.attempt(other).outcome == "noop"
    assert [yard.attempt(name).inlined for name in names] == ["", ""]
    assert [yard.task(name).started for name in names] == [1, 1], "neither waited in vain"


def test_after_a_failed_attempt_the_next_task_begins_a_session_of_its_own(make_yard: MakeYard) -> None:
    yard = inlining_yard(make_yard, PADDOCK_LIMITS_MAX_AGENTS="1")
    a, b = add_convoy(yard, [{"brief": play({"crash": 3, "always": True}), "attempts": 2}, small("b")])
    yard.run(code=1)
    assert [attempt.outcome for attempt in yard.task(a).attempts] == ["crashed", "crashed"]
    attempt = yard.attempt(b)
    assert (attempt.outcome, attempt.inlined) == ("delivered", "")
    assert attempt.session != yard.attempt(a).session


def test_a_conversation_at_work_on_another_task_is_waited_for(make_yard: MakeYard) -> None:
    """A message for the first task while the second works in the same session."""
    yard = inlining_yard(make_yard, PADDOCK_LIMITS_MAX_AGENTS="1")
    ready, gate = yard.folder / "ready", yard.folder / "gate"
    a, b = add_convoy(yard, [small("a"), small("b", {"run": ["touch", str(ready)]}, {"wait_for": str(gate)})])
    fleet = yard.start("run", "--until-idle")
    yard.await_that(ready.exists, "the second task")
    yard.paddock("message", a, play(write("more.txt"), commit("Add more")))
    fleet.send(signal.SIGTERM)
    assert fleet.wait() == 130
    fleet = yard.start("run", "--until-idle", env={"PADDOCK_LIMITS_MAX_AGENTS": "4"})
    yard.await_that(lambda: yard.row(a)["reason"] == f"its conversation is in use by {b}.1", "the reason")
    gate.touch()
    assert fleet.wait() == 0, fleet.words
    first, second = yard.task(a), yard.task(b)
    assert [attempt.outcome for attempt in first.attempts] == ["delivered", "delivered"]
    assert first.attempts[1].session == second.attempts[0].session
    assert first.attempts[1].started >= (second.attempts[0].ended or 0.0)
    assert head_subjects(yard, first) == ["Add more", "Add a"]


def test_what_a_start_and_the_work_take_is_learnt_from_the_log_and_used(make_yard: MakeYard) -> None:
    yard = inlining_yard(make_yard)
    add_convoy(yard, [small("x"), small("y")], "other")
    fresh = json.loads(yard.paddock("fanout", "--tasks", "t1,t2", "--json"))
    assert (fresh["agents"], fresh["serial"]["wall_seconds"]) == (2, 1200)
    teach(yard)
    a, b = add_convoy(yard, [small("a"), small("b")])
    learnt = json.loads(yard.paddock("fanout", "--tasks", f"{a},{b}", "--json"))
    assert (learnt["agents"], learnt["fan_out"]) == (1, False)
    assert learnt["serial"]["wall_seconds"] < 60
    assert learnt["plans"][0]["wall_seconds"] > 0.8, "the slow start is part of it"
    assert learnt["plans"][0]["extra_tokens"] == 1000, "the first call of the scripted agent reads so much"


def test_a_warm_start_says_nothing_about_a_cold_one(make_yard: MakeYard) -> None:
    yard = inlining_yard(make_yard, PADDOCK_LIMITS_MAX_AGENTS="1")
    add_convoy(yard, [small("a"), small("b"), small("c")])
    yard.run(code=0)
    [kept] = yard.board().spending.experience.samples.values()
    assert [sample.spawn_seconds is not None for sample in kept] == [True, False, False]
    assert all(sample.work_seconds > 0 for sample in kept)
