"""The tokens a CLI tells, against the model server's own ledger: two turns of one conversation, input partly cached."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from paddock.core.summary import turn_usage, uncounted_calls
from paddock.core.trace import TokenUsage
from tests.engines.real.agents import Finished, RealAgent
from tests.engines.real.install import ADAPTED
from tests.mockmodel import MockModel, Settings, play
from tests.mockmodel.wire import Tokens

AgentMaker = Callable[[str], RealAgent]
DONE = {"text": "all done"}
TELLS_PART, TELLS_NOTHING = ("aider",), ("cn",)
EXACT = tuple(name for name in ADAPTED if name not in (*TELLS_PART, *TELLS_NOTHING))


def engines(*names: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.engine(name)) for name in names])


def add(word: str) -> str:
    commit = {"commit": {"path": f"{word}.txt", "content": "x\n", "message": f"Add {word}"}}
    return f"Please add {word}. {play(commit, DONE)}"


def two_turns(agent: RealAgent) -> tuple[tuple[Finished, TokenUsage], tuple[Finished, TokenUsage]]:
    """Each turn with what it alone used."""
    first = agent.run(add("a"))
    used = turn_usage(first.summary, TokenUsage())
    session = first.summary.session_id if agent.engine.capabilities.resume else None
    second = agent.run(add("b"), turn=2, session_id=session)
    return (first, used), (second, turn_usage(second.summary, used))


@engines(*EXACT)
def test_tokens_are_exactly_what_the_server_counted(name: str, real_agent: AgentMaker, mock_model: MockModel) -> None:
    mock_model.settings = Settings(varied_tokens=True)
    (first, used), (second, more) = two_turns(real_agent(name))
    total, billed = used.plus(more), mock_model.billed()
    told = Tokens(total.input_uncached + total.cache_write, total.cache_read, total.output)
    assert told == billed, (first.output + second.output)[-4000:]
    assert billed.cached > 0
    assert (uncounted_calls(first.summary), uncounted_calls(second.summary)) == (0, 0)


@engines(*TELLS_PART)
def test_aider_tells_all_but_the_calls_that_word_its_commits(
    name: str, real_agent: AgentMaker, mock_model: MockModel
) -> None:
    mock_model.settings = Settings(varied_tokens=True)
    done = real_agent(name).run(add("a"))
    main, wording = (exchange.tokens for exchange in mock_model.exchanges)
    assert (done.summary.usage.input_total, done.summary.usage.output) == (main.input, main.output), done.output
    assert mock_model.billed() == main.plus(wording)
    assert uncounted_calls(done.summary) == 1
    assert done.summary.usage.cost_usd is None, "a model without a price does not cost nothing"


@engines(*TELLS_NOTHING)
def test_a_cli_that_tells_no_tokens_is_known_to(name: str, real_agent: AgentMaker) -> None:
    done = real_agent(name).run(add("a"))
    assert (done.summary.usage, done.summary.usage_told) == (TokenUsage(), False)
    assert uncounted_calls(done.summary) >= 1
