"""Two real agents that speak the Agent Client Protocol, run by the fleet against a mock model."""

import json
import signal
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from paddock.core.events import MessagesDelivered, QuestionAsked, TurnStarted
from paddock.core.ids import TaskId
from tests.engines.real.fixtures import acp_words, mock_model, provider_of, real_cli
from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Yard
from tests.mockmodel import MockModel, play

__all__ = ["mock_model", "real_cli"]

ADD_A = {"commit": {"path": "a.txt", "content": "first\n", "message": "Add a"}}
ADD_B = {"commit": {"path": "b.txt", "content": "second\n", "message": "Add b"}}
DONE = {"text": "all done"}
AGENTS = ("claude-agent-acp", "codex-acp")

pytestmark = pytest.mark.xdist_group("real-engines")
every_agent = pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.engine(name)) for name in AGENTS])
MakeAcpYard = Callable[..., Yard]


@pytest.fixture
def acp_yard(make_yard: MakeYard, mock_model: MockModel, real_cli: Callable[[str], Path]) -> MakeAcpYard:
    """Makes a yard whose engine `mine` is the named agent, with the mock model as its provider."""

    def make(name: str, **settings: str) -> Yard:
        yard = make_yard(PADDOCK_TIMEOUTS_SILENCE="120s", **dict(provider_of(name, mock_model.base_url)))
        table = {"acp": list(acp_words(name, real_cli(name), mock_model.base_url)), **settings}
        lines = [f"{key} = {json.dumps(value)}" for key, value in table.items()]
        (yard.top / "paddock.toml").write_text("\n".join(('engine = "mine"', "[engines.mine]", *lines)))
        return yard

    return make


def add(yard: Yard, *steps: Mapping[str, object], words: str) -> None:
    yard.add_all([{"brief": f"{words} {play(*map(dict, steps))}", "attempts": 1, "title": "Real work"}])


def subjects(yard: Yard) -> list[str]:
    return yard.git("log", "--format=%s", "main..paddock/t1-real-work").splitlines()


def times_told(model: MockModel, words: str) -> int:
    """How often any request of the conversation shows the words; claude-agent-acp also asks for titles, of its own."""
    asked = (one for one in model.exchanges if one.outcome != "side_call")
    return max(sum(text.count(words) for text in one.user_texts) for one in asked)


@every_agent
def test_work_is_stopped_resumed_and_delivered(name: str, acp_yard: MakeAcpYard, mock_model: MockModel) -> None:
    yard = acp_yard(name)
    started = yard.folder / "tool-started"
    add(yard, ADD_A, {"shell": f"touch '{started}' && sleep 300"}, DONE, words="Long work.")
    fleet = yard.start("run", "--until-idle")
    yard.await_that(started.exists, "the tool")
    yard.paddock("stop", "t1")
    assert fleet.wait() == 1, fleet.words
    yard.await_that(lambda: not yard.processes(), "the end of all processes")
    session = yard.attempt().session
    yard.paddock("message", "t1", f"Go on, briefly. {play(ADD_B, DONE)}")
    yard.run(code=0)
    attempt = yard.attempt()
    assert (attempt.continues, attempt.session, attempt.outcome) == ("t1.1", session, "delivered")
    assert (times_told(mock_model, "Long work."), times_told(mock_model, "Go on, briefly.")) == (1, 1)
    assert subjects(yard) == ["Add b", "Add a"]
    assert attempt.output_tokens > 0
    assert "Add b" in yard.paddock("tail", "t1")
    yard.assert_nothing_is_left()


@every_agent
def test_a_message_reaches_the_running_turn_once(name: str, acp_yard: MakeAcpYard, mock_model: MockModel) -> None:
    yard = acp_yard(name)
    add(yard, ADD_A, {"gate": "told"}, DONE, words="Add the first file.")
    fleet = yard.start("run", "--until-idle")
    assert mock_model.wait_until(lambda ledger: len(ledger.exchanges) > 0, 60.0)
    yard.await_board(lambda board: board.tasks[TaskId("t1")].last)
    yard.paddock("message", "t1", f"Now 'another'. {play(ADD_B, DONE)}")
    mock_model.open_gate("told")
    assert fleet.wait() == 0, fleet.words
    assert (yard.attempt().turn, yard.attempt().outcome) == (1, "delivered")
    assert subjects(yard) == ["Add b", "Add a"]
    assert times_told(mock_model, "Now 'another'.") == 1
    [receipt] = [record.event for record in yard.records(MessagesDelivered)]
    assert isinstance(receipt, MessagesDelivered)
    assert "session/" in receipt.evidence


@every_agent
def test_a_turn_outlives_the_daemon_and_is_adopted(name: str, acp_yard: MakeAcpYard, mock_model: MockModel) -> None:
    yard = acp_yard(name)
    add(yard, {"gate": "alone"}, ADD_A, DONE, words="Work alone.")
    first = yard.start("run")
    assert mock_model.wait_until(lambda ledger: ledger.in_flight > 0, 60.0)
    first.kill()
    mock_model.open_gate("alone")
    yard.run(code=0)
    assert (yard.attempt().id, yard.attempt().outcome) == ("t1.1", "delivered")
    assert len(yard.records(TurnStarted, "t1")) == 1
    assert subjects(yard) == ["Add a"]


@every_agent
def test_a_permission_is_asked_for_and_answered_by_a_message(name: str, acp_yard: MakeAcpYard) -> None:
    cautious = {"args": ["-c", 'approval_policy="untrusted"']} if name == "codex-acp" else {}
    yard = acp_yard(name, permissions="ask", **cautious)
    add(yard, ADD_A, DONE, words="Ask first.")
    fleet = yard.start("run", "--until-idle")
    [asked] = yard.await_that(lambda: yard.records(QuestionAsked) or None, "the question")
    assert isinstance(asked.event, QuestionAsked)
    assert "git commit" in asked.event.text
    assert 'run: paddock message t1 "…"' in yard.paddock("status")
    yard.paddock("message", "t1", "1")
    assert fleet.wait() == 0, fleet.words
    assert (yard.attempt().turn, yard.attempt().outcome) == (1, "delivered")
    assert subjects(yard) == ["Add a"]


@pytest.mark.engine("claude-agent-acp")
def test_429_for_ever_is_the_providers_doing(acp_yard: MakeAcpYard) -> None:
    yard = acp_yard("claude-agent-acp")
    add(yard, {"status": 429, "headers": {"retry-after": "3600"}}, ADD_A, DONE, words="Please.")
    fleet = yard.start("run", env={"PADDOCK_LIMITS_BACKOFF": "600s"})
    yard.await_board(
        lambda board: board.tasks[TaskId("t1")].attempts and board.tasks[TaskId("t1")].attempts[-1].outcome
    )
    fleet.send(signal.SIGTERM)
    assert fleet.wait() == 130, fleet.words
    assert (yard.attempt().outcome, yard.task().counted) == ("throttled", 0)
