"""Looking at an agent that works in a terminal of its own.

Its tmux server is in the agent's hands, and a server can have its clients run commands (`detach-client -E`,
`lock-client`). So the client is run as the agent is: in its fence, and in a terminal of its own.
"""

import asyncio
import os
from pathlib import Path

from paddock.core.board import Board
from paddock.core.fence import Level
from paddock.core.ids import task_of
from paddock.core.tasks.task import Attempt, as_seen_by
from paddock.engines.environment import pass_on
from paddock.engines.protocol import Launch
from paddock.engines.tmux_order import tmux_socket, watching_argv
from paddock.fleet.attempts.turn import fence_turn
from paddock.fleet.site import Site
from paddock.fleet.visits.execution import run_in_terminal
from paddock.fleet.visits.place import find_place
from paddock.fleet.visits.program import Company, fence_of
from paddock.sessions.protocol import Turn, TurnOrder


def find_socket(site: Site, attempt: Attempt) -> Path | None:
    """Of the tmux server in which the agent works just now."""
    socket = tmux_socket(site.attempt_folder(attempt.id), attempt.turn)
    return socket if attempt.held is None and socket.is_socket() and not socket.is_symlink() else None


def look_on(site: Site, board: Board, attempt: Attempt, socket: Path, shown: int) -> int:
    """Shows it in the terminal `shown` until they detach or it ends; tmux's exit status. Raises PaddockError."""
    task = as_seen_by(board.task(task_of(attempt.id)), attempt)
    level = Level(attempt.fence) if attempt.fence else fence_of(site, task, attempt, Company())
    launch = Launch(watching_argv(socket), pass_on(os.environ), socket.parent, writes=(socket.parent,))
    launch, fence = fence_turn(site, attempt, find_place(site, attempt), level, launch)
    order = TurnOrder(Turn(attempt.id, attempt.turn), launch.argv, launch.env, launch.cwd, fence=fence)
    status = asyncio.run(run_in_terminal(order, shown))
    return status if status >= 0 else 128 - status
