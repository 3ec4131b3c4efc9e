"""People steer agents: stops that last, messages that arrive once, daemons that die meanwhile."""

import json
import signal
from pathlib import Path

import psutil
import pytest

from paddock.core.events import AttemptStarted, TurnStarted
from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Step, Yard, commit, play, write


def touch(path: Path) -> Step:
    return {"run": ["touch", str(path)]}


def await_agent(yard: Yard, ready: Path) -> None:
    yard.await_that(ready.exists, "the agent")


def await_generation(yard: Yard, generation: int) -> None:
    yard.await_board(lambda board: board.daemon_generation == generation, f"generation {generation}")


def test_a_stop_is_remembered_by_a_daemon_that_was_not_there(yard: Yard) -> None:
    ready = yard.folder / "ready"
    yard.add(write("a.txt"), commit("Add a"), touch(ready), {"hang": 600})
    first = yard.start("run")
    await_agent(yard, ready)
    first.kill()
    assert yard.paddock("stop", "t1", "-m", "enough") == "stopping t1.1\n"
    assert yard.processes()
    yard.run(code=1)
    task = yard.task()
    assert (task.phase, yard.attempt().outcome, task.counted) == ("blocked", "killed", 0)
    assert task.reason.startswith("stopped by tester@")
    assert task.unblock == "paddock retry t1"
    yard.assert_nothing_is_left()
    yard.run(code=1)
    assert yard.task().started == 1


def test_a_stop_ends_an_agent_that_will_not_listen(yard: Yard) -> None:
    ready = yard.folder / "ready"
    yard.add({"ignore_sigterm": True}, touch(ready), {"hang": 600})
    fleet = yard.start("run", "--until-idle")
    await_agent(yard, ready)
    yard.paddock("stop", "t1")
    assert fleet.wait() == 1
    assert yard.attempt().outcome == "killed"
    assert yard.attempt().problem == "it ignored the request to stop and was killed"
    yard.assert_nothing_is_left()


def test_retry_after_a_stop_goes_on_where_the_agent_was(yard: Yard) -> None:
    ready = yard.folder / "ready"
    hang = {"hang": 600, "attempt": 1}
    yard.add(write("a.txt"), commit("Add a"), touch(ready), hang, write("b.txt"), commit("Add b"))
    fleet = yard.start("run", "--until-idle")
    await_agent(yard, ready)
    yard.paddock("stop", "t1")
    fleet.wait()
    yard.paddock("retry", "t1")
    yard.run(code=0)
    assert yard.git("log", "--format=%s", "main..paddock/t1-task-1").splitlines() == ["Add b", "Add a"]
    assert yard.attempt().continues == "t1.1"


def test_agents_work_on_without_a_daemon_and_are_adopted_with_all_they_said(yard: Yard) -> None:
    ready, gate = yard.folder / "ready", yard.folder / "gate"
    steps = (
        {"say": "before"},
        touch(ready),
        {"wait_for": str(gate)},
        {"say": "alone"},
        write("a.txt"),
        commit("Add a"),
    )
    yard.add_all([{"brief": play(*steps)}, {"brief": play(touch(yard.folder / "two"), {"wait_for": str(gate)})}])
    first = yard.start("run")
    await_agent(yard, ready)
    await_agent(yard, yard.folder / "two")
    first.kill()
    gate.touch()
    yard.await_that(lambda: not yard.processes(), "the agents' own end")
    yard.run()
    assert (yard.task().phase, yard.attempt().outcome, yard.task().started) == ("approval", "delivered", 1)
    assert yard.attempt("t2").outcome == "empty"
    said = yard.paddock("tail", "t1")
    assert "before" in said
    assert "alone" in said
    assert len(yard.records(TurnStarted, "t1")) == 1


def test_down_now_ends_every_agent_and_spares_their_work(yard: Yard) -> None:
    ready = [yard.folder / f"ready{number}" for number in range(4)]
    yard.add_all(
        [
            {
                "brief": play(
                    write("a.txt"),
                    {"ignore_sigterm": True},
                    {"orphan": 600, "own_session": True},
                    touch(path),
                    {"hang": 600, "attempt": 1},
                    {"say": "went on"},
                )
            }
            for path in ready
        ]
    )
    yard.paddock("up", "--max", "4")
    for path in ready:
        await_agent(yard, path)
    assert len(yard.processes()) >= 12
    assert "ended the daemon" in yard.paddock("down", "--now")
    assert {yard.attempt(f"t{number}").outcome for number in range(1, 5)} == {"killed"}
    assert {yard.task(f"t{number}").phase.value for number in range(1, 5)} == {"ready"}
    yard.assert_nothing_is_left()
    assert yard.git("show", f"{yard.attempt('t1').head}:a.txt") == "hello"
    yard.run(code=0)
    assert {yard.attempt(f"t{number}").outcome for number in range(1, 5)} == {"unsaved"}


def test_down_now_ends_agents_whose_daemon_is_dead(yard: Yard) -> None:
    ready = yard.folder / "ready"
    yard.add(touch(ready), {"hang": 600})
    daemon = yard.start("run")
    await_agent(yard, ready)
    daemon.kill()
    said = yard.paddock("down", "--now")
    assert "no daemon was running" in said
    assert "without a daemon" in said
    assert not yard.processes()


def test_plain_down_leaves_agents_at_work(yard: Yard) -> None:
    ready, gate = yard.folder / "ready", yard.folder / "gate"
    yard.add(touch(ready), {"wait_for": str(gate)}, write("a.txt"), commit("Add a"))
    yard.paddock("up")
    await_agent(yard, ready)
    assert "still working: t1.1" in yard.paddock("down")
    assert yard.processes()
    gate.touch()
    yard.run(code=0)
    assert yard.task().phase == "approval"


FORGETFUL = """
[engines.forgetful]
command = ["sh", "-c", 'cat "$1" >> "$PADDOCK_SEEN"; echo "=== end" >> "$PADDOCK_SEEN"; sh -c "$2"', "x", \
"{prompt_file}", "{task}"]
env = ["PADDOCK_SEEN"]
"""


def test_a_message_to_a_running_agent_is_its_next_turn_in_the_same_conversation(yard: Yard) -> None:
    ready, gate = yard.folder / "ready", yard.folder / "gate"
    more = play(write("b.txt"), commit("Add b"))
    yard.add(write("a.txt"), commit("Add a"), touch(ready), {"wait_for": str(gate)})
    fleet = yard.start("run", "--until-idle")
    await_agent(yard, ready)
    assert yard.paddock("message", "t1", more).startswith("queued as m")
    gate.touch()
    assert fleet.wait() == 0, fleet.words
    attempt = yard.attempt()
    assert (attempt.id, attempt.turn, attempt.outcome) == ("t1.1", 2, "delivered")
    assert yard.git("log", "--format=%s", "main..paddock/t1-task-1").splitlines() == ["Add b", "Add a"]
    turns = [record.event for record in yard.records(TurnStarted)]
    assert [len(turn.messages) for turn in turns if isinstance(turn, TurnStarted)] == [0, 1]
    sessions = {turn.session for turn in turns[1:] if isinstance(turn, TurnStarted)}
    assert sessions == {attempt.session}


def test_a_message_to_a_task_that_is_done_starts_it_again_where_it_was(yard: Yard) -> None:
    yard.add(write("a.txt"), commit("Add a"))
    yard.run(code=0)
    yard.paddock("message", "t1", play(write("b.txt"), commit("Add b")))
    yard.run(code=0)
    started = [record.event for record in yard.records(AttemptStarted)]
    assert [event.continues for event in started if isinstance(event, AttemptStarted)] == [None, "t1.1"]
    assert yard.git("log", "--format=%s", "main..paddock/t1-task-1").splitlines() == ["Add b", "Add a"]
    assert not yard.task().inbox


@pytest.mark.parametrize("point", ["turn.claimed_in_log#2", "turn.claimed#2", "turn.over#2", "attempt.judged"])
def test_a_message_arrives_once_though_the_daemon_dies(yard: Yard, point: str) -> None:
    told, ready, gate = (yard.folder / name for name in ("told", "ready", "gate"))
    yard.add(touch(ready), {"wait_for": str(gate)}, write("a.txt"), commit("Add a"))
    first = yard.start("run", env={"PADDOCK_TEST_CRASH_AT": point})
    await_agent(yard, ready)
    yard.paddock("message", "t1", play({"run": ["sh", "-c", f"echo told >> '{told}'"]}))
    gate.touch()
    assert first.wait() == -signal.SIGKILL
    yard.run(code=0)
    assert told.read_text().split() == ["told"]
    assert yard.attempt().turn == 2
    assert not yard.task().inbox


def test_an_engine_without_memory_is_told_the_task_and_what_was_done(make_yard: MakeYard) -> None:
    yard = make_yard()
    seen = yard.folder / "seen"
    yard.env["PADDOCK_SEEN"] = str(seen)
    config = yard.top / "paddock.toml"
    config.write_text(config.read_text() + FORGETFUL)
    brief = "test -e a.txt && exit 0; echo hi > a.txt && git add -A && git commit -qm 'Add a'"
    yard.add_all([{"brief": brief, "engine": "forgetful", "title": "Forget"}])
    yard.run(code=0)
    yard.paddock("message", "t1", "Now think of b.")
    yard.run(code=0)
    first, second = seen.read_text().split("=== end\n")[:2]
    assert "Now think of b." not in first
    assert "# Task t1: Forget" in second
    assert "- Add a" in second
    assert "Now think of b." in second
    yard.paddock("message", "t1", "And of c.")
    yard.run(code=0)
    third = seen.read_text().split("=== end\n")[2]
    assert third.index("Now think of b.") < third.index("And of c.")


def test_a_message_for_nobody_is_refused(yard: Yard) -> None:
    yard.add(write("a.txt"))
    assert "has no agent yet" in yard.paddock("message", "t1", "hello", code=1)
    assert "there is no task to send it to" in yard.paddock("message", "hello", code=2)


def test_a_message_reaches_all_that_match(yard: Yard) -> None:
    done = [write("a.txt"), commit("Add a")]
    yard.add_all([{"brief": play(*done)}, {"brief": play(*done)}, {"brief": play({"noop": "nothing"})}])
    yard.run(code=0)
    answer = json.loads(yard.paddock("message", "--phase", "approval", "More, please.", "--json"))
    assert answer["ids"] == ["t1", "t2"]
    assert [len(yard.task(name).inbox) for name in ("t1", "t2", "t3")] == [1, 1, 0]


def test_a_message_sent_while_the_work_is_judged_is_answered_by_the_same_attempt(yard: Yard) -> None:
    """The verdict on the first turn is not recorded once there is more to say."""
    yard.add(write("a.txt"), commit("Add a"))
    fleet = yard.start("run", "--until-idle", env={"PADDOCK_TEST_STOP_AT": "attempt.judged#1"})
    process = psutil.Process(fleet.pid)
    yard.await_that(lambda: process.status() == psutil.STATUS_STOPPED, "the judge")
    yard.paddock("message", "t1", play(write("b.txt"), commit("Add b")))
    fleet.send(signal.SIGCONT)
    assert fleet.wait() == 0, fleet.words
    attempt = yard.attempt()
    assert (attempt.id, attempt.turn, attempt.outcome) == ("t1.1", 2, "delivered")
    assert not yard.task().inbox
