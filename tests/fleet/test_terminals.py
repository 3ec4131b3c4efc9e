"""Agents of mode `tmux` in a fleet: the real claude in its own terminal, whose server is killed half-way."""

import contextlib
import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from paddock.core.events import MessagesDelivered, MessageSent, TurnStarted
from paddock.core.ids import TaskId
from paddock.engines.tmux_order import socket_argv, tmux_socket
from paddock.sessions.local import TurnFiles
from tests.bubblewrap import need_bubblewrap
from tests.engines.real.fixtures import mock_model, provider_of, real_cli
from tests.fleet.conftest import MakeYard
from tests.fleet.tmux_screen import require_tmux
from tests.fleet.yard import Yard
from tests.mockmodel import MockModel, play

__all__ = ["mock_model", "real_cli"]

pytestmark = pytest.mark.xdist_group("real-engines")
ADD_A = {"commit": {"path": "a.txt", "content": "first\n", "message": "Add a"}}
DONE = {"text": "all done"}


def settle_in(yard: Yard, *, trusts: bool) -> None:
    """What claude remembers of somebody who has used it; `trusts`: also in this repository."""
    home = Path(yard.env["HOME"])
    projects = {str(yard.top): {"hasTrustDialogAccepted": True}} if trusts else {}
    approved = {"customApiKeyResponses": {"approved": ["mock-key"]}, "projects": projects}
    (home / ".claude.json").write_text(json.dumps({"hasCompletedOnboarding": True, **approved}))
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text('{"skipDangerousModePermissionPrompt": true}')


@pytest.fixture
def terminal_yard(make_yard: MakeYard, mock_model: MockModel, real_cli: Callable[[str], Path]) -> Yard:
    yard = make_yard(**dict(provider_of("claude", mock_model.base_url)))
    config = f'engine = "claude"\n[engines.claude]\nprogram = "{real_cli("claude")}"\n[agents.watched]\nmode = "tmux"\n'
    (yard.top / "paddock.toml").write_text(config)
    return yard


def add(yard: Yard, brief: str) -> None:
    yard.add_all([{"brief": brief, "title": "Real work", "agent": "watched"}])


def detach(terminal: int) -> None:
    os.write(terminal, b"\x02d")


def watch(yard: Yard, leave: Callable[[int], object] = detach) -> str:
    """What somebody sees who watches and leaves."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(yard.top)
        argv = yard.argv("connect", "t1", "--watch")
        os.execvpe(argv[0], argv, {**yard.env, "TERM": "xterm-256color"})
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 48, 160, 0, 0))
    seen, again_at = b"", 0.0
    with contextlib.suppress(OSError):  # the end of a terminal whose last process has gone
        while True:
            if select.select([terminal], [], [], 0.5)[0]:
                seen += os.read(terminal, 65536)
            # Its first screen may come before it reads keys, and after that it is never silent.
            if b"Please" in seen and time.monotonic() > again_at:
                leave(terminal)
                again_at = time.monotonic() + 1.0
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, repr(seen[-700:])
    return seen.decode("utf-8", "replace")


@pytest.mark.engine("claude")
def test_a_turn_whose_server_is_killed_is_resumed_in_its_conversation(
    terminal_yard: Yard, mock_model: MockModel
) -> None:
    settle_in(terminal_yard, trusts=True)
    started = terminal_yard.folder / "tool-started"
    tool = {"shell": f"test -e '{started}' || {{ touch '{started}' && sleep 300; }}"}
    add(terminal_yard, f"Please do it. {play(tool, ADD_A, DONE)}")
    fleet = terminal_yard.start("run", "--until-idle")
    said = TurnFiles.of(terminal_yard.attempt_folder("t1.1"), 1).out
    terminal_yard.await_that(lambda: started.exists() and started.name in said.read_text(), "the tool")
    screen = watch(terminal_yard)
    assert "Please" in screen
    socket = tmux_socket(terminal_yard.attempt_folder("t1.1"), 1)
    subprocess.run((*socket_argv(socket), "kill-server"), cwd=socket.parent, check=True)
    assert fleet.wait() == 0, fleet.words
    task = terminal_yard.task()
    assert task.attempts[-1].outcome == "delivered"
    assert terminal_yard.git("log", "--format=%s", "main..paddock/t1-real-work").splitlines() == ["Add a"]
    assert len({attempt.session for attempt in task.attempts}) == 1
    assert any("Please do it." in text for text in mock_model.exchanges[-1].user_texts)
    terminal_yard.assert_nothing_is_left()


@pytest.mark.engine("claude")
def test_a_dialog_needs_an_answer_and_gets_it(terminal_yard: Yard) -> None:
    settle_in(terminal_yard, trusts=False)
    add(terminal_yard, f"Please do it. {play(ADD_A, DONE)}")
    fleet = terminal_yard.start("run", "--until-idle")
    board = terminal_yard.await_board(lambda board: board.tasks[TaskId("t1")].question, "a question")
    task = board.tasks[TaskId("t1")]
    assert task.options == ("No, exit", "Yes, I trust this folder")
    assert "asks: Quick safety check: Is this a project you created" in terminal_yard.paddock("status")
    terminal_yard.paddock("message", "t1", "yes")
    assert fleet.wait() == 0, fleet.words
    assert [attempt.outcome for attempt in terminal_yard.task().attempts] == ["delivered"]


def test_what_an_agents_tmux_has_its_watchers_run_runs_in_the_agents_fence(make_yard: MakeYard) -> None:
    """A tmux server can have its clients run any command, and this one is the agent's."""
    need_bubblewrap()
    yard = make_yard(PADDOCK_FENCE_LEVEL="files")
    del yard.env["PADDOCK_FENCE_WRITE"]
    (yard.top / "paddock.toml").write_text(
        'engine = "mine"\n[engines.mine]\ninteractive = ["sh", "-c", "echo Please wait; sleep 300"]\n'
        'session_log = "~/.mine/{session}.log"\n[agents.watched]\nmode = "tmux"\n'
    )
    add(yard, "anything")
    fleet = yard.start("run", "--until-idle")
    socket = tmux_socket(yard.attempt_folder("t1.1"), 1)
    yard.await_that(socket.is_socket, "the terminal")
    mark = f"touch '{yard.folder}/escaped' '{yard.top}/escaped'; touch ran; echo ran in $PWD"
    tmux = (*socket_argv(socket), "detach-client", "-s", "0", "-E", mark)
    seen = watch(yard, lambda _: subprocess.run(tmux, cwd=socket.parent, check=True))
    assert "ran in " in seen
    (socket.parent / "ran").unlink()
    assert not list(yard.folder.glob("**/escaped"))
    yard.paddock("cancel", "t1")
    assert fleet.wait() in (0, 1), fleet.words
    yard.assert_nothing_is_left()


TOY = Path(__file__).parent.with_name("bridges") / "toy.py"
CLAUDE_TOY = """\
#!/bin/sh
for word; do
    case "$before" in --session-id | --resume) session=$word ;; esac
    before=$word
done
git commit -q --allow-empty -m "Work"
mkdir -p "$HOME/.claude/projects/p"
exec '{python}' -I '{toy}' "$HOME/.claude/projects/p/$session.jsonl"
"""


def test_a_terminal_outlives_the_daemon_and_is_told_what_was_said_in_between_once(make_yard: MakeYard) -> None:
    """The toy passes for claude, whose files it writes."""
    require_tmux()
    yard = make_yard(PADDOCK_FENCE_LEVEL="none")
    program = yard.folder / "claude"
    program.write_text(CLAUDE_TOY.format(python=sys.executable, toy=TOY))
    program.chmod(0o755)
    (yard.top / "paddock.toml").write_text(
        f'engine = "claude"\n[land]\napproval = "human"\n[engines.claude]\nprogram = "{program}"\n'
        '[agents.watched]\nmode = "tmux"\n'
    )
    add(yard, "TOY-WORK, please.")
    projects = Path(yard.env["HOME"], ".claude", "projects", "p")
    first = yard.start("run")
    log = yard.await_that(lambda: next(projects.glob("*.jsonl"), None), "the conversation")
    yard.await_that(lambda: "TOY-WORK" in log.read_text() or None, "the prompt")
    first.kill()
    yard.paddock("message", "t1", "and the tests")
    second = yard.start("run", "--until-idle")
    [sent] = yard.records(MessageSent)
    screen = yard.attempt_folder("t1.1")
    yard.await_that(lambda: "queued: and the tests" in shown(tmux_socket(screen, 1)) or None, "the message")
    log.with_suffix(".go").touch()
    assert second.wait() == 0, second.words
    assert len(yard.records(TurnStarted)) == 1
    said = [json.loads(line)["message"]["content"] for line in log.read_text().splitlines()]
    assert said.count("and the tests") == 1
    receipts = [record.event for record in yard.records(MessagesDelivered)]
    assert [one.messages for one in receipts if isinstance(one, MessagesDelivered)] == [(sent.seq,)]
    assert yard.attempt().outcome == "delivered"
    yard.assert_nothing_is_left()


def shown(socket: Path) -> str:
    argv = (*socket_argv(socket), "capture-pane", "-p")
    return subprocess.run(argv, cwd=socket.parent, capture_output=True, text=True, check=False).stdout
