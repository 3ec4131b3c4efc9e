"""What tmux says of a pane, also where it knows less than it could."""

import os
from pathlib import Path

import pytest

from paddock.bridges.pane import ServerGone, TurnPane

MISSED = """#!/bin/sh
# Hears how the program has ended only when another child of its own ends.
case "$*" in
  *run-shell*) touch heard ;;
  *) [ -e heard ] && echo "42,1,7,,0" || echo "42,1,,,0"; echo "the screen" ;;
esac
"""


def play_tmux(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> TurnPane:
    program = folder / "bin" / "tmux"
    program.parent.mkdir()
    program.write_text(script)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    return TurnPane(folder / "turn.tmux")


def test_a_status_that_tmux_has_missed_is_asked_for_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state, screen = play_tmux(tmp_path, monkeypatch, MISSED).look()
    assert (state.pid, state.status, screen) == (42, 7, "the screen\n")


@pytest.mark.parametrize("said", ["", "no server running", "1,2", ",,,,"])
def test_an_answer_that_is_none_means_that_the_server_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    with pytest.raises(ServerGone, match="tmux server of this turn is gone"):
        play_tmux(tmp_path, monkeypatch, f"#!/bin/sh\necho '{said}'\n").look()
