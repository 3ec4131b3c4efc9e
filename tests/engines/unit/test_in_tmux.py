"""Engines that run in their CLI's own terminal: who can, and what is refused before anything starts."""

import json
from pathlib import Path

import msgspec
import pytest

from paddock.core.errors import Misuse, PaddockError
from paddock.engines.in_tmux import InTmux, in_mode
from paddock.engines.registry import load_engine
from paddock.engines.settings import NO_SETTINGS, EngineSettings
from paddock.engines.tmux_order import TmuxOrder, socket_argv, tmux_socket, watching_argv
from tests.engines.unit.conftest import Place

ONLY_TUI = EngineSettings(interactive=("tui", "--session", "{session}"), session_log="~/.tui/{session}.log")


def in_tmux(name: str, settings: EngineSettings = NO_SETTINGS) -> InTmux:
    return InTmux(load_engine(name, {name: settings}), settings)


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_the_bridge_is_told_of_the_clis_terminal_and_its_file(name: str, place: Place, tmp_path: Path) -> None:
    settings = EngineSettings(set={"SECRET": "x"})
    request = place.request("P", mailbox=tmp_path / "mail", messages=(4,), new_session_id="new")
    launch = in_tmux(name, settings).launch(request)
    assert launch.argv[1:4] == ("-I", "-m", "paddock.bridges.tmux")
    [file] = [file for file in launch.files if str(file.path) == launch.argv[4]]
    order = msgspec.json.decode(file.content, type=TmuxOrder)
    inner = load_engine(name, {name: settings}).interactive(request)
    assert inner is not None
    assert (order.argv, order.session_log) == (inner.argv, inner.session_log)
    assert (order.prompt, order.messages, order.mailbox) == ("P", (4,), str(tmp_path / "mail"))
    assert order.session == ("new" if name == "claude" else "")
    assert "SECRET" not in file.content
    assert inner.argv[0] in launch.programs
    assert launch.mailbox == tmp_path / "mail"
    assert tmux_socket(request.folder, request.turn).parent in launch.writes


def test_such_an_engine_listens_and_has_a_last_word() -> None:
    capabilities = in_tmux("claude").capabilities
    assert (capabilities.listens, capabilities.final_event, capabilities.usage) == (True, True, True)
    assert not in_tmux("onlytui", ONLY_TUI).capabilities.usage


@pytest.mark.parametrize(
    ("name", "settings", "why"),
    [
        ("scripted", NO_SETTINGS, "no interactive mode"),
        ("gemini", NO_SETTINGS, "nothing tells what arrives"),
        ("mine", EngineSettings(command=("mine",)), "no interactive mode"),
        ("mine", EngineSettings(interactive=("mine",)), "nothing tells what arrives"),
    ],
)
def test_an_engine_that_cannot_run_so_is_refused(name: str, settings: EngineSettings, why: str) -> None:
    with pytest.raises(Misuse, match=why) as caught:
        in_mode(load_engine(name, {name: settings}), settings, "tmux")
    assert caught.value.hint


def test_an_engine_without_a_command_runs_in_a_terminal_only() -> None:
    engine = load_engine("onlytui", {"onlytui": ONLY_TUI})
    with pytest.raises(Misuse, match="in a terminal only") as caught:
        in_mode(engine, ONLY_TUI, "headless")
    assert 'mode = "tmux"' in (caught.value.hint or "")
    assert isinstance(in_mode(engine, ONLY_TUI, "tmux"), InTmux)


def test_without_tmux_nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(PaddockError, match="tmux is not installed") as caught:
        in_mode(load_engine("claude"), NO_SETTINGS, "tmux")
    assert 'mode = "headless"' in (caught.value.hint or "")


def test_a_session_log_from_nowhere_is_refused() -> None:
    with pytest.raises(Misuse, match="neither absolute"):
        load_engine("mine", {"mine": EngineSettings(interactive=("mine",), session_log="here.log")})


def test_whoever_watches_can_only_watch(tmp_path: Path) -> None:
    socket = tmux_socket(tmp_path, 3)
    argv = watching_argv(socket)
    assert argv[: len(socket_argv(socket))] == socket_argv(socket)
    assert "-r" in argv
    assert json.dumps(argv).count(str(tmp_path)) == 0
