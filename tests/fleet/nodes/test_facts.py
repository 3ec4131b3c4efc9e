"""What a node tells of its machine: versions of tools as numbers that compare, and its worktrees by their state."""

from pathlib import Path

import msgspec
import pytest

from paddock.core.upkeep.survey import SlotState
from paddock.fleet.nodes.facts import NodeLook
from paddock.fleet.nodes.home import NodeHome
from paddock.fleet.nodes.order import NodeOrder
from paddock.git.worktrees.slots import SlotRecord

ORDER = NodeOrder("log", "app", "origin", "/app.git", "main", "~/nodes", {}, (), {}, 60.0)


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of programs."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def install(tools: Path, name: str, says: str, status: int = 0) -> None:
    (tools / name).write_text(f"#!/bin/sh\necho '{says}'\nexit {status}\n")
    (tools / name).chmod(0o755)


def test_versions_are_numbers_whatever_a_tool_says_around_them(tools: Path, tmp_path: Path) -> None:
    install(tools, "git", "git version 2.39.5 (Apple Git-154)")
    install(tools, "claude", "2.1.0 (Claude Code)")
    install(tools, "codex", "codex-cli 0.9.1-beta.2")
    install(tools, "bwrap", "bubblewrap 0.8.0")
    install(tools, "aider", "nightly")
    told = NodeLook(NodeHome(tmp_path, "n1")).facts(ORDER, deputy=True, problem="").tools
    assert {name: version for name, version in told.items() if name not in ("os", "python")} == {
        "git": "2.39.5",
        "claude": "2.1.0",
        "codex": "0.9.1-beta.2",
        "bwrap": "0.8.0",
        "aider": "nightly",
    }


@pytest.mark.usefixtures("tools")
def test_worktrees_are_counted_by_their_state_and_torn_records_are_passed_over(tmp_path: Path) -> None:
    for number, state in enumerate((SlotState.READY, SlotState.IDLE, SlotState.IDLE), 1):
        home = tmp_path / "app.paddock/.slots" / f"w{number}"
        home.mkdir(parents=True)
        (home / "record.json").write_bytes(msgspec.json.encode(SlotRecord(state=state)))
    torn = tmp_path / "app.paddock/.slots/w4"
    torn.mkdir()
    (torn / "record.json").write_text('{"state"')
    told = NodeLook(NodeHome(tmp_path, "n1")).facts(ORDER, deputy=False, problem="its deputy is starting")
    assert told.worktrees == {"ready": 1, "idle": 2}
    assert (told.node, told.problem) == ("n1", "its deputy is starting")
