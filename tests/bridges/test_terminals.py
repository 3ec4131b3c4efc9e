"""The bridge to a terminal, with a small program in it: dialogs, interruptions, refusals, deaths."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from paddock.core.trace import DialogClosed, DialogOpened, End, Error, MessagesTaken, Prompted, RateLimited, Text
from paddock.engines.protocol import TurnRequest
from paddock.engines.registry import load_engine
from paddock.engines.settings import EngineSettings
from tests.bridges.live import LiveBridge, start_bridge

TOY = Path(__file__).with_name("toy.py")


@contextmanager
def toy(
    folder: Path, prompt: str, *flags: str, messages: tuple[int, ...] = (1,), path: str = ""
) -> Iterator[LiveBridge]:
    """A turn of the toy; it passes for claude, whose files it writes. `path` comes before where programs are."""
    program = folder / "claude"
    log = folder / "home" / ".claude" / "projects" / "p" / "s1.jsonl"
    log.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -I {TOY} {log} {' '.join(flags)}\n")
    program.chmod(0o755)
    settings = EngineSettings(program=str(program))
    request = TurnRequest(
        prompt=prompt,
        worktree=folder,
        folder=folder / "attempt",
        new_session_id="s1",
        base_env={"PATH": f"{path}{os.environ['PATH']}", "HOME": str(folder / "home")},
        mailbox=folder / "mail",
        messages=messages,
    )
    request.folder.mkdir()
    with start_bridge(load_engine("claude", {"claude": settings}), settings, request) as bridge:
        yield bridge


def taken(bridge: LiveBridge) -> list[int]:
    return [number for entry in bridge.all(MessagesTaken) for number in entry.messages]


def prompts(bridge: LiveBridge) -> list[str]:
    return [entry.text for entry in bridge.all(Prompted)]


def release(folder: Path) -> None:
    (folder / "home" / ".claude" / "projects" / "p" / "s1.go").touch()


def test_a_turn_ends_when_the_conversation_says_so_and_leaves_no_server(tmp_path: Path) -> None:
    with toy(tmp_path, "hello there") as bridge:
        assert bridge.finish() == 0, bridge.words()
    assert (taken(bridge), prompts(bridge)) == ([1], ["hello there"])
    assert bridge.all(End) == [End(success=True, reason="end_turn")]
    assert not bridge.socket.exists()
    assert not [one for one in psutil.process_iter(["cmdline"]) if str(tmp_path) in " ".join(one.info["cmdline"] or ())]


def test_a_dialog_is_shown_and_its_answer_chooses_the_option(tmp_path: Path) -> None:
    with toy(tmp_path, "hello there", "--trust") as bridge:
        bridge.wait_for(lambda: bool(bridge.all(DialogOpened)), "dialog")
        [dialog] = bridge.all(DialogOpened)
        assert dialog.options == ("No, exit", "Yes, I trust this folder", "Yes, always")
        assert "a folder you trust?" in dialog.text
        bridge.send(2, "a message must not answer it")
        bridge.send(3, "Yes, I", request=dialog.request)
        assert bridge.finish() == 0, bridge.words()
    assert bridge.all(DialogClosed) == [DialogClosed(dialog.request)]
    assert sorted(taken(bridge)) == [1, 2, 3]
    assert prompts(bridge) == ["hello there", "a message must not answer it"]


def test_an_answer_that_names_no_option_types_nothing(tmp_path: Path) -> None:
    with toy(tmp_path, "ask something") as bridge:
        bridge.wait_for(lambda: bool(bridge.all(DialogOpened)), "dialog")
        [dialog] = bridge.all(DialogOpened)
        bridge.send(2, "Yes", request=dialog.request)  # two begin so
        bridge.send(3, "3", request=dialog.request)
        assert bridge.finish() == 0, bridge.words()
    assert [entry.text for entry in bridge.all(Text)] == ["chose Yes, always"]


def test_an_enter_without_effect_is_pressed_again_and_nothing_pasted_twice(tmp_path: Path) -> None:
    with toy(tmp_path, "hello there", "--deaf") as bridge:
        assert bridge.finish() == 0, bridge.words()
    assert (prompts(bridge), taken(bridge)) == (["hello there"], [1])


def test_a_message_now_interrupts_and_others_wait_for_their_turn(tmp_path: Path) -> None:
    with toy(tmp_path, "work long") as bridge:
        bridge.wait_for(lambda: 1 in taken(bridge), "receipt")
        bridge.send(2, "drop that", now=True)
        assert bridge.finish() == 0, bridge.words()
    assert (prompts(bridge), taken(bridge)) == (["work long", "drop that"], [1, 2])


def test_a_message_that_waits_in_the_terminal_is_taken_when_the_conversation_has_it(tmp_path: Path) -> None:
    with toy(tmp_path, "work long") as bridge:
        bridge.wait_for(lambda: 1 in taken(bridge), "receipt")
        bridge.send(2, "and then this")
        bridge.wait_for(lambda: "queued: and then this" in bridge.tmux("capture-pane", "-p"), "queued message")
        assert taken(bridge) == [1]
        release(tmp_path)
        assert bridge.finish() == 0, bridge.words()
    assert (prompts(bridge), taken(bridge)) == (["work long", "and then this"], [1, 2])


def test_a_refusal_looks_idle_and_is_no_success(tmp_path: Path) -> None:
    with toy(tmp_path, "limit me") as bridge:
        assert bridge.finish() == 1
    assert [entry.success for entry in bridge.all(End)] == [False]
    assert len(bridge.all(RateLimited)) == 1


def test_a_program_that_exits_gives_its_status(tmp_path: Path) -> None:
    with toy(tmp_path, "die now") as bridge:
        assert bridge.finish() == 7
    assert "status 7" in bridge.all(Error)[-1].message
    assert [entry.success for entry in bridge.all(End)] == [False]


def test_a_tmux_that_is_too_old_is_named_before_anything_runs_in_it(tmp_path: Path) -> None:
    old = tmp_path / "old" / "tmux"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\necho tmux 3.0a\n")
    old.chmod(0o755)
    with toy(tmp_path, "hello there", path=f"{old.parent}:") as bridge:
        assert bridge.finish() == 1
    assert [error.message for error in bridge.all(Error)] == [
        "tmux 3.0a is too old for an agent of mode `tmux`: 3.2 is needed"
    ]


def test_a_killed_server_is_a_failure_that_says_so(tmp_path: Path) -> None:
    with toy(tmp_path, "work long") as bridge:
        bridge.wait_for(lambda: 1 in taken(bridge), "receipt")
        bridge.send(2, "never typed" * 3)
        bridge.tmux("kill-server")
        assert bridge.finish() == 1
    assert "tmux server of this turn is gone" in bridge.all(Error)[-1].message
    assert 2 not in taken(bridge)


def test_sigterm_ends_the_program_and_the_server(tmp_path: Path) -> None:
    with toy(tmp_path, "work long") as bridge:
        bridge.wait_for(lambda: 1 in taken(bridge), "receipt")
        assert bridge.terminate() == 143
    assert bridge.all(End) == []
    assert not bridge.socket.exists()
