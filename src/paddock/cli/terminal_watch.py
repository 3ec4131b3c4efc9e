"""Watching an agent that works in a terminal of its own."""

import os
import subprocess
from pathlib import Path

import click

from paddock.core.ids import TaskId
from paddock.engines.tmux_order import tmux_socket, watching_argv
from paddock.fleet.workspace import Workspace


def find_terminal(workspace: Workspace, name: TaskId) -> Path | None:
    """The socket of the tmux server in which the task's agent works just now."""
    task = workspace.board().tasks.get(name)
    attempt = task.live_attempt if task is not None else None
    if attempt is None or attempt.held is not None:
        return None
    socket = tmux_socket(workspace.site.attempt_folder(attempt.id), attempt.turn)
    return socket if socket.is_socket() else None


def watch_terminal(socket: Path) -> int:
    click.echo("Ctrl-b d leaves; nothing that you type reaches the agent", err=True)
    # Inside tmux, another one in it is refused unless it does not know.
    environment = {name: value for name, value in os.environ.items() if name not in ("TMUX", "TMUX_PANE")}
    return subprocess.call(watching_argv(socket), cwd=socket.parent, env=environment)
