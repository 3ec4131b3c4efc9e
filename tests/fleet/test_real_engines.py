"""The real claude and codex, run by the fleet against a mock model: from `paddock add` to the judge's verdict."""

import json
import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path

import psutil
import pytest

from paddock.core.events import AttemptEnded, TurnEnded
from paddock.core.ids import TaskId
from paddock.core.tasks.task import Task
from paddock.sessions.local import TurnFiles
from tests.engines.real.fixtures import mock_model, provider_of, real_cli
from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Yard
from tests.mockmodel import MockModel, play

__all__ = ["mock_model", "real_cli"]

ADD_A = {"commit": {"path": "a.txt", "content": "first\n", "message": "Add a"}}
ADD_B = {"commit": {"path": "b.txt", "content": "second\n", "message": "Add b"}}
DONE = {"text": "all done"}
SOON, IN_AN_HOUR = {"retry-after": "1"}, {"retry-after": "3600"}
# A CLI of 200 MB on a busy machine may need a while for its first word; only where silence is the end to be seen,
# less of it has to do.
SILENCE_SECONDS = 120
IMPATIENT = {"PADDOCK_TIMEOUTS_SILENCE": "12s"}
# So that a verdict can be looked at before the next attempt begins.
UNHURRIED = {"PADDOCK_LIMITS_BACKOFF": "600s"}

pytestmark = pytest.mark.xdist_group("real-engines")
every_engine = pytest.mark.parametrize(
    "engine_yard", [pytest.param(name, marks=pytest.mark.engine(name)) for name in ("claude", "codex")], indirect=True
)


@pytest.fixture
def engine_yard(
    make_yard: MakeYard, mock_model: MockModel, real_cli: Callable[[str], Path], request: pytest.FixtureRequest
) -> Yard:
    """A yard whose only engine is the test's, with the mock model as its provider."""
    name = request.param
    program = real_cli(name)
    yard = make_yard(PADDOCK_TIMEOUTS_SILENCE=f"{SILENCE_SECONDS}s", **dict(provider_of(name, mock_model.base_url)))
    model = 'model = "mock"\n' if name == "codex" else ""
    config = f'engine = "{name}"\n[engines.{name}]\nprogram = "{program}"\n{model}'
    (yard.top / "paddock.toml").write_text(config)
    return yard


def add(yard: Yard, *steps: Mapping[str, object], words: str = "Please do it.", attempts: int = 3) -> None:
    yard.add_all([{"brief": f"{words} {play(*map(dict, steps))}", "attempts": attempts, "title": "Real work"}])


def subjects(yard: Yard) -> list[str]:
    return yard.git("log", "--format=%s", "main..paddock/t1-real-work").splitlines()


def run_to_first_verdict(yard: Yard) -> tuple[Task, AttemptEnded]:
    """Runs the fleet until an attempt is judged; the task as it stands then."""
    fleet = yard.start("run", env={**IMPATIENT, **UNHURRIED})
    yard.await_that(lambda: yard.records(AttemptEnded), "a verdict")
    fleet.send(signal.SIGTERM)
    assert fleet.wait() == 130, fleet.words
    event = yard.records(AttemptEnded)[0].event
    assert isinstance(event, AttemptEnded)
    return yard.task(), event


@every_engine
def test_work_is_delivered(engine_yard: Yard) -> None:
    add(engine_yard, ADD_A, DONE)
    engine_yard.run(code=0)
    attempt = engine_yard.attempt()
    assert (attempt.outcome, subjects(engine_yard)) == ("delivered", ["Add a"])
    assert attempt.output_tokens > 0
    assert "Add a" in engine_yard.paddock("tail", "t1")
    engine_yard.assert_nothing_is_left()


@every_engine
def test_429_then_success_is_a_delivery(engine_yard: Yard) -> None:
    add(engine_yard, {"status": 429, "headers": SOON, "times": 1}, ADD_A, DONE)
    engine_yard.run(code=0)
    assert [attempt.outcome for attempt in engine_yard.task().attempts] == ["delivered"]
    assert subjects(engine_yard) == ["Add a"]


@every_engine
def test_429_for_ever_is_waited_out_and_costs_the_task_nothing(engine_yard: Yard) -> None:
    add(engine_yard, {"status": 429, "headers": IN_AN_HOUR}, ADD_A, DONE)
    task, verdict = run_to_first_verdict(engine_yard)
    assert (verdict.outcome, verdict.counted, verdict.next) == ("throttled", False, "retry")
    assert (task.phase, task.counted) == ("ready", 0)
    last_word = engine_yard.records(TurnEnded)[0].at
    assert task.not_before == verdict.retry_at
    assert task.not_before > last_word, "by the log alone: a machine may be slow to record the verdict"


@every_engine
def test_529_is_the_providers_doing(engine_yard: Yard) -> None:
    add(engine_yard, {"status": 529, "headers": SOON}, ADD_A, DONE)
    task, verdict = run_to_first_verdict(engine_yard)
    assert (verdict.outcome, verdict.counted, verdict.next) == ("overloaded", False, "retry")
    assert task.counted == 0


@every_engine
def test_401_blocks_the_task_and_names_what_helps(engine_yard: Yard) -> None:
    add(engine_yard, {"status": 401}, ADD_A, DONE)
    engine_yard.run(code=1)
    task = engine_yard.task()
    assert ([attempt.outcome for attempt in task.attempts], task.counted) == (["auth"], 0)
    assert (task.phase, task.unblock) == (
        "blocked",
        f"paddock engines check {engine_yard.attempt().engine}, then paddock retry t1",
    )


@every_engine
def test_a_silent_server_is_the_providers_doing(engine_yard: Yard) -> None:
    add(engine_yard, {"silence": 300}, ADD_A, DONE, attempts=1)
    task, verdict = run_to_first_verdict(engine_yard)
    assert (verdict.outcome, verdict.counted, verdict.next) == ("overloaded", False, "retry")
    assert (task.phase, task.counted) == ("ready", 0)
    assert task.not_before > 0
    engine_yard.await_that(lambda: not engine_yard.processes(), "the end of all processes")


@every_engine
def test_a_tool_may_be_silent_for_longer_than_the_provider(engine_yard: Yard) -> None:
    add(engine_yard, {"shell": "sleep 16"}, ADD_A, DONE, attempts=1)
    engine_yard.run(code=0, env=IMPATIENT)
    assert [attempt.outcome for attempt in engine_yard.task().attempts] == ["delivered"]


@every_engine
@pytest.mark.parametrize(
    ("status", "words", "outcome", "counted"),
    [
        (400, "This content was flagged: blocked by the content filter", "refused", True),
        (404, "The model `mock` does not exist or you do not have access to it.", "misconfigured", False),
    ],
)
def test_a_request_that_the_provider_refuses_blocks_its_task_alone(
    engine_yard: Yard, status: int, words: str, outcome: str, counted: bool
) -> None:
    """Also before any step was seen; and however many of them, the engine goes on for others."""
    brief = f"Please do it. {play({'status': status, 'message': words}, DONE)}"
    engine_yard.add_all([{"brief": brief, "title": f"Poison {n}"} for n in range(3)])
    engine_yard.add_all([{"brief": f"Please do it. {play(ADD_A, DONE)}", "title": "Real work"}])
    engine_yard.run(code=1)
    for name in ("t1", "t2", "t3"):
        task, attempt = engine_yard.task(name), engine_yard.attempt(name)
        assert (task.phase, attempt.outcome, attempt.counted) == ("blocked", outcome, counted), attempt
        assert outcome == "misconfigured" or words in attempt.reason
        assert task.unblock
    assert engine_yard.attempt("t4").outcome == "delivered"
    assert json.loads(engine_yard.paddock("status", "--json"))["stopped"] == []


@every_engine
def test_an_engine_killed_in_mid_tool_is_tried_again(engine_yard: Yard) -> None:
    started = engine_yard.folder / "tool-started"
    tool = {"shell": f"test -e '{started}' || {{ touch '{started}' && sleep 300; }}"}
    add(engine_yard, tool, ADD_A, DONE)
    fleet = engine_yard.start("run", "--until-idle")
    await_tool(engine_yard, started)
    os.kill(engine_process(engine_yard, "t1.1"), signal.SIGKILL)
    assert fleet.wait() == 0, fleet.words
    task = engine_yard.task()
    assert [attempt.outcome for attempt in task.attempts] == ["crashed", "delivered"]
    assert task.attempts[0].exit == -signal.SIGKILL
    assert subjects(engine_yard) == ["Add a"]
    engine_yard.assert_nothing_is_left()


def await_tool(yard: Yard, started: Path) -> None:
    """Until the tool runs and the CLI has said so; it may say so a moment later."""
    said = TurnFiles.of(yard.attempt_folder("t1.1"), 1).out
    yard.await_that(lambda: started.exists() and started.name in said.read_text(), "the tool")


def engine_process(yard: Yard, attempt: str) -> int:
    """The CLI itself: the only child of the turn's shim."""
    shim = int(TurnFiles.of(yard.attempt_folder(attempt), 1).pid.read_text().split()[0])
    [child] = psutil.Process(shim).children()
    return child.pid


@every_engine
def test_a_stopped_agent_resumes_its_conversation_when_told_to(engine_yard: Yard, mock_model: MockModel) -> None:
    started = engine_yard.folder / "tool-started"
    add(engine_yard, {"shell": f"touch '{started}' && sleep 300"}, DONE, words="Long work.")
    fleet = engine_yard.start("run", "--until-idle")
    await_tool(engine_yard, started)
    engine_yard.paddock("stop", "t1")
    assert fleet.wait() == 1, fleet.words
    session = engine_yard.attempt().session
    assert session is not None
    engine_yard.paddock("message", "t1", f"Go on, briefly. {play(ADD_A, DONE)}")
    engine_yard.run(code=0)
    attempt = engine_yard.attempt()
    assert (attempt.continues, attempt.session, attempt.outcome) == ("t1.1", session, "delivered")
    said = mock_model.exchanges[-1].user_texts
    assert any("Long work." in text for text in said)
    assert any("Go on, briefly." in text for text in said)


@every_engine
def test_a_follow_up_message_continues_the_conversation(engine_yard: Yard, mock_model: MockModel) -> None:
    add(engine_yard, ADD_A, {"gate": "told"}, DONE, words="Add the first file.")
    fleet = engine_yard.start("run", "--until-idle")
    assert mock_model.wait_until(lambda ledger: bool(ledger.exchanges), 60.0)
    engine_yard.await_board(lambda board: board.tasks[TaskId("t1")].last)
    engine_yard.paddock("message", "t1", f"Now another. {play(ADD_B, DONE)}")
    mock_model.open_gate("told")
    assert fleet.wait() == 0, fleet.words
    attempt = engine_yard.attempt()
    assert (attempt.id, attempt.outcome) == ("t1.1", "delivered")
    assert attempt.turn == 2 or attempt.engine == "claude", "others take no message while they work"
    assert subjects(engine_yard) == ["Add b", "Add a"]
    said = mock_model.exchanges[-1].user_texts
    assert any("Add the first file." in text for text in said)
    assert any("Now another." in text for text in said)
