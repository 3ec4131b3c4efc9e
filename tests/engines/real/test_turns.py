"""The real CLIs through their adapters: work done, provider's refusals, silence, death and resumption."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from paddock.core.summary import Final
from paddock.core.trace import SessionStarted, ToolCall
from tests.engines.real.agents import RealAgent, session_of
from tests.engines.real.install import ADAPTED
from tests.engines.refusals import refusal_of
from tests.mockmodel import MockModel, play

AgentMaker = Callable[[str], RealAgent]

ADD_A = {"commit": {"path": "a.txt", "content": "first\n", "message": "Add a"}}
ADD_B = {"commit": {"path": "b.txt", "content": "second\n", "message": "Add b"}}
DONE = {"text": "all done"}
# The others try again without a word.
TELLS_OF_RETRIES = ("claude", "codex", "gemini")
SOON, NEVER = {"retry-after": "1"}, {"retry-after": "3600"}


def engines(*names: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.engine(name)) for name in names])


every_engine = engines(*ADAPTED)
with_tools = engines("claude", "codex", "opencode", "gemini", "qwen", "copilot")


@every_engine
def test_a_turn_works_and_commits_in_an_attempts_worktree(name: str, real_agent: AgentMaker) -> None:
    agent = real_agent(name)
    done = agent.run(f"Please add a file. {play(ADD_A, DONE)}")
    assert done.returncode == 0, done.output[-4000:]
    assert agent.place.subjects() == ["Add a"]
    assert (agent.place.worktree / "a.txt").read_text() == "first\n"
    assert done.summary.trouble is None
    assert done.summary.saw_llm_call
    assert (done.summary.usage.output > 0) is agent.engine.capabilities.usage
    if agent.engine.capabilities.final_event:
        assert done.summary.final is Final.SUCCESS


@with_tools
def test_a_tool_call_is_in_the_trace_with_its_command(name: str, real_agent: AgentMaker) -> None:
    done = real_agent(name).run(f"Say it. {play({'shell': 'echo from-the-tool'}, DONE)}")
    calls = [entry for entry in done.entries if isinstance(entry, ToolCall)]
    assert len(calls) == 1
    assert "echo from-the-tool" in calls[0].argument


@every_engine
def test_429_then_success_leaves_no_trouble_behind(name: str, real_agent: AgentMaker, mock_model: MockModel) -> None:
    agent = real_agent(name)
    done = agent.run(play({"status": 429, "headers": SOON, "times": 1}, ADD_A, DONE))
    assert done.returncode == 0, done.output[-4000:]
    assert agent.place.subjects() == ["Add a"]
    if name in TELLS_OF_RETRIES:
        assert done.summary.refusals >= 1
    assert refusal_of(done.summary) == "none"
    assert mock_model.outcomes()[:2] == ["refuse 429", "answered"]


@every_engine
@pytest.mark.parametrize(
    ("status", "trouble"),
    [(429, "throttled"), (529, "overloaded"), (401, "auth")],
)
def test_a_lasting_refusal_is_named_for_what_it_is(
    name: str, status: int, trouble: str, real_agent: AgentMaker, mock_model: MockModel
) -> None:
    agent = real_agent(name)
    done = agent.run(play({"status": status, "headers": SOON}, ADD_A, DONE))
    assert refusal_of(done.summary) == trouble, done.output[-4000:]
    assert done.summary.final is not Final.SUCCESS
    assert agent.place.subjects() == []
    assert set(mock_model.outcomes()) == {f"refuse {status}"}


@engines("claude", "codex")
def test_an_overload_reported_inside_a_stream_is_no_success(name: str, real_agent: AgentMaker) -> None:
    agent = real_agent(name)
    done = agent.run(play({"stream_error": "overloaded_error"}, ADD_A, DONE))
    assert done.returncode != 0
    assert done.summary.final is Final.ERROR
    assert agent.place.subjects() == []


@engines("claude", "codex")
def test_a_stream_cut_once_is_tried_again(name: str, real_agent: AgentMaker, mock_model: MockModel) -> None:
    agent = real_agent(name)
    done = agent.run(play({"cut": True, "times": 1}, ADD_A, DONE))
    assert done.summary.final is Final.SUCCESS, done.output[-4000:]
    assert agent.place.subjects() == ["Add a"]
    assert mock_model.outcomes()[0] == "cut"


@engines("codex")
def test_a_turn_stopped_while_it_sleeps_out_an_hour_keeps_its_cause(
    name: str, real_agent: AgentMaker, mock_model: MockModel
) -> None:
    with real_agent(name).start(play({"status": 429, "headers": NEVER}, ADD_A, DONE)) as turn:
        turn.wait_for(lambda: turn.read().summary.refusals > 0)
        stopped = turn.stop()
    assert stopped.summary.final is Final.NONE
    assert refusal_of(stopped.summary) == "throttled"
    assert mock_model.outcomes() == ["refuse 429"]


@engines("claude")
def test_an_hour_of_waiting_is_refused_at_once(name: str, real_agent: AgentMaker, mock_model: MockModel) -> None:
    done = real_agent(name).run(play({"status": 429, "headers": NEVER}, ADD_A, DONE))
    assert refusal_of(done.summary) == "throttled"
    assert mock_model.outcomes() == ["refuse 429"]


@every_engine
@pytest.mark.parametrize("fault", ["silence", "stall"])
def test_a_silent_server_holds_the_turn_until_we_stop_it(
    name: str, fault: str, real_agent: AgentMaker, mock_model: MockModel
) -> None:
    agent = real_agent(name)
    with agent.start(play({fault: 300}, ADD_A, DONE)) as turn:
        turn.wait_for(lambda: mock_model.in_flight > 0)
        assert turn.outlives(1.0)
        stopped = turn.stop()
    assert stopped.summary.final is not Final.SUCCESS
    assert agent.place.subjects() == []
    assert mock_model.outcomes() == ["gone"]


@with_tools
def test_a_turn_killed_in_mid_tool_is_resumed_with_its_memory(
    name: str, real_agent: AgentMaker, mock_model: MockModel
) -> None:
    agent = real_agent(name)
    started = agent.place.folder / "tool-started"
    # A CLI that takes the id we choose may tell it at its end only.
    chosen = session_of(1) if agent.engine.capabilities.chooses_session_id else ""
    with agent.start(f"Long work. {play({'shell': f'touch {started} && sleep 300'}, DONE)}") as turn:
        turn.wait_for(lambda: started.exists() and bool(chosen or turn.read().summary.session_id))
        killed = turn.kill()
    assert killed.summary.final is Final.NONE
    session = killed.summary.session_id or chosen

    resumed = agent.run(f"Go on, briefly. {play(ADD_A, DONE)}", turn=2, session_id=session)
    assert resumed.summary.final is Final.SUCCESS, resumed.output[-4000:]
    assert resumed.summary.session_id == session
    assert agent.place.subjects() == ["Add a"]
    assert any("Long work." in text for text in mock_model.exchanges[-1].user_texts)


@with_tools
def test_a_follow_up_message_continues_the_conversation(
    name: str, real_agent: AgentMaker, mock_model: MockModel
) -> None:
    agent = real_agent(name)
    first = agent.run(f"Add the first file. {play(ADD_A, DONE)}")
    second = agent.run(f"Now another. {play(ADD_B, DONE)}", turn=2, session_id=first.summary.session_id)
    assert second.summary.final is Final.SUCCESS, second.output[-4000:]
    assert second.summary.session_id == first.summary.session_id
    assert [type(entry) for entry in second.entries].count(SessionStarted) >= 1
    assert agent.place.subjects() == ["Add b", "Add a"]
    said = mock_model.exchanges[-1].user_texts
    assert any("Add the first file." in text for text in said)
    assert any("Now another." in text for text in said)


@engines("aider")
def test_a_gateway_of_anthropics_kind_is_where_aider_asks(
    name: str, real_agent: AgentMaker, mock_model: MockModel
) -> None:
    gateway = (("ANTHROPIC_BASE_URL", mock_model.base_url), ("ANTHROPIC_API_KEY", "mock-key"))
    agent = replace(real_agent(name), provider=gateway, model="anthropic/claude-opus-5-5")
    done = agent.run(f"Add the first file. {play(ADD_A)}")
    assert done.summary.final is Final.SUCCESS, done.output[-4000:]
    assert {exchange.dialect for exchange in mock_model.exchanges} == {"anthropic"}
    assert agent.place.subjects() == ["Add a"]


@engines("aider")
def test_a_cli_without_memory_starts_anew_in_the_same_worktree(
    name: str, real_agent: AgentMaker, mock_model: MockModel
) -> None:
    agent = real_agent(name)
    prompt = f"Add the first file. {play({'silence': 300, 'times': 1}, ADD_A)}"
    with agent.start(prompt) as turn:
        turn.wait_for(lambda: mock_model.in_flight > 0)
        turn.kill()
    assert agent.place.subjects() == []

    assert agent.run(prompt, turn=2).summary.final is Final.SUCCESS
    follow_up = agent.run(f"Now another. {play(ADD_B)}", turn=3)
    assert follow_up.summary.final is Final.SUCCESS, follow_up.output[-4000:]
    assert agent.place.subjects() == ["Add b", "Add a"]
