"""Messages to a real claude that is at work: each reaches the model once, and is receipted where it does."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import pytest

from paddock.core.summary import Final
from paddock.core.trace import MessagesTaken, ToolCall, ToolResult
from paddock.sessions.mailbox import Letter
from tests.engines.real.agents import Finished, LiveTurn, RealAgent
from tests.mockmodel import MockModel, play

pytestmark = pytest.mark.engine("claude")
AgentMaker = Callable[[str], RealAgent]
DONE = {"text": "all done"}
SHAPES = (
    *("plain", "quotes \" ' ` $(id) \\ %s", "\x1b[31mred\x07", "emoji 🐎 \u2028 é", "NUL \0 inside", "/clear"),
    *("!ls", "#memo", "@/etc/passwd", "--help", '{"type":"result","is_error":true}', "  \n\n  ", "x" * 200_000),
)


def taken(done: Finished) -> list[int]:
    return [number for entry in done.entries if isinstance(entry, MessagesTaken) for number in entry.messages]


def told(model: MockModel, word: str) -> int:
    """How often the fullest conversation that the model was sent has it."""
    return max(sum(text.count(word) for text in exchange.user_texts) for exchange in model.exchanges)


def await_tool(live: LiveTurn) -> None:
    live.wait_for(lambda: any(isinstance(entry, ToolCall) for entry in live.read(has_ended=False).entries))


def test_messages_of_every_shape_join_the_running_turn_once_each(real_agent: AgentMaker, mock_model: MockModel) -> None:
    agent = real_agent("claude")
    gate = agent.place.home / "go-on"
    wait = {"shell": f"while [ ! -e '{gate}' ]; do sleep 0.05; done"}
    letters = [Letter(10 + n, f"{shape} mark-{n:02d}.") for n, shape in enumerate(SHAPES)]
    with agent.start(f"Begin. {play(wait, DONE)}", messages=(7, 8)) as live:
        await_tool(live)
        live.post(*letters, letters[0])
        gate.touch()
        done = live.finish()
    assert (done.returncode, done.summary.final, done.summary.steps) == (0, Final.SUCCESS, 1), done.output[-4000:]
    assert sorted(taken(done)) == [7, 8, *(letter.number for letter in letters)]
    assert {told(mock_model, f"mark-{n:02d}.") for n in range(len(SHAPES))} == {1}
    assert done.summary.session_id in done.output


def test_a_message_that_says_now_ends_what_claude_does(real_agent: AgentMaker, mock_model: MockModel) -> None:
    agent = real_agent("claude")
    # It refuses a plain `sleep 600`.
    with agent.start(f"Begin. {play({'shell': 'until [ -e never ]; do sleep 0.1; done'}, DONE)}") as live:
        await_tool(live)
        live.post(Letter(4, "whenever-mark"))
        live.post(Letter(5, f"now-mark {play({'shell': 'echo instead'}, DONE)}", now=True))
        done = live.finish()
    assert (done.returncode, done.summary.final, taken(done)) == (0, Final.SUCCESS, [4, 5]), done.output[-4000:]
    assert (told(mock_model, "whenever-mark"), told(mock_model, "now-mark")) == (1, 1)
    assert [entry.output for entry in done.entries if isinstance(entry, ToolResult)][-1].strip() == "instead"
    # What both answers have used, and no more.
    assert done.summary.usage.output == 10 * len([None for each in mock_model.exchanges if each.outcome == "answered"])


def test_a_message_sent_while_it_answers_is_answered_next(real_agent: AgentMaker, mock_model: MockModel) -> None:
    agent = real_agent("claude")
    with agent.start(f"Begin. {play({'gate': 'answer'}, DONE)}") as live:
        live.wait_for(lambda: mock_model.in_flight > 0)
        live.post(
            Letter(5, f"more-mark {play({'commit': {'path': 'b.txt', 'content': 'b', 'message': 'Add b'}}, DONE)}")
        )
        mock_model.open_gate("answer")
        done = live.finish()
    assert (done.returncode, done.summary.final, taken(done)) == (0, Final.SUCCESS, [5]), done.output[-4000:]
    assert agent.place.subjects() == ["Add b"]


@pytest.mark.slow
def test_a_message_at_the_very_end_is_told_or_left_but_never_lost(
    real_agent: AgentMaker, mock_model: MockModel
) -> None:
    agent, chance = real_agent("claude"), random.Random(13)
    for turn in range(1, 61):
        with agent.start(f"Begin {turn}. {play(DONE)}", turn=turn) as live:
            time.sleep(chance.uniform(0.2, 0.9))
            live.post(Letter(turn, f"late-{turn:03d}."))
            done = live.finish()
        assert (done.returncode, done.summary.final) == (0, Final.SUCCESS), done.output[-4000:]
        assert len(taken(done)) == told(mock_model, f"late-{turn:03d}.")
