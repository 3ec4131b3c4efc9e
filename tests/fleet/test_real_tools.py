"""Real CLIs are given the fleet's MCP server: the agent asks a person through it, and the answer goes on with it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paddock.core.events import RequestRefused
from paddock.core.tasks.task import Phase
from tests.engines.real.agents import seed_home
from tests.engines.real.fixtures import engine_table, mock_model, provider_of, real_cli
from tests.fleet.conftest import MakeYard
from tests.fleet.test_real_conversations import DONE, SETTINGS, add_file
from tests.mockmodel import MockModel, play

__all__ = ["mock_model", "real_cli"]

pytestmark = pytest.mark.xdist_group("real-engines")


ENGINES = ("claude", "codex", "claude-agent-acp", "codex-acp")


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.engine(name)) for name in ENGINES])
def test_an_agent_asks_a_person_with_a_tool(
    make_yard: MakeYard, mock_model: MockModel, real_cli: Callable[[str], Path], name: str
) -> None:
    program = real_cli(name)
    yard = make_yard(**SETTINGS, **dict(provider_of(name, mock_model.base_url)))
    seed_home(Path(yard.env["HOME"]))
    table = engine_table(name, program, mock_model.base_url, yard.folder)
    (yard.top / "paddock.toml").write_text(f'engine = "{name}"\n[mcp]\nagents = true\n{table}')
    yard.git("commit", "-qam", "Configure")
    steps: list[dict[str, Any]] = [
        {"tool": "mcp__paddock__add_task", "input": {"brief": "More work"}},
        {"tool": "mcp__paddock__ask_human", "input": {"question": "Which entity?"}},
        DONE,
    ]
    yard.add_all([{"brief": f"Decide. {play(*steps)}", "title": "Real work"}])
    yard.run(code=1)
    task = yard.task()
    assert (task.phase, task.reason) == (Phase.BLOCKED, "asks: Which entity?")
    assert [record.event.request for record in yard.records(RequestRefused)] == ["add"]  # type: ignore[attr-defined]
    yard.paddock("message", "t1", f"The second one. {play(add_file('b'), DONE)}")
    yard.run(code=0)
    task = yard.task()
    assert (task.phase, [one.outcome for one in task.attempts]) == (Phase.APPROVAL, ["asked", "delivered"])
    assert task.attempts[0].session == task.attempts[1].session
    yard.assert_nothing_is_left()
