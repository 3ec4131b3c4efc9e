"""One command of a person's in an attempt's worktree: with its ports, its folder for temporary files and its fence."""

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import AbstractContextManager

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.ids import printable, task_of
from paddock.core.tasks.task import Attempt, as_seen_by
from paddock.engines.environment import pass_on
from paddock.engines.protocol import Launch
from paddock.fleet.attempts.turn import fence_turn
from paddock.fleet.site import Site
from paddock.fleet.visits.place import borrow_place, share_place
from paddock.fleet.visits.program import Company, fence_of
from paddock.fleet.workspace import Workspace
from paddock.git.worktrees.furnish import Worktree
from paddock.sessions.protocol import Turn, TurnOrder
from paddock.sessions.terminal import Terminal, command_line, is_command_there

_PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)
_GRACE_SECONDS = 5.0


class CommandMissing(PaddockError):
    """Told as a shell tells it."""

    exit_code = 127


def execute_command(
    workspace: Workspace, board: Board, attempt: Attempt, argv: Sequence[str], *, fenced: bool, shown: int
) -> int:
    """Its exit status, 128 and more for a signal. With `shown`, a terminal, it runs in one of its own; otherwise, -1,
    it has our streams and no terminal. Nothing is recorded. Raises PaddockError."""
    with _worktree(workspace, board, attempt) as worktree:
        order = _order(workspace.site, board, attempt, worktree, argv, fenced=fenced)
        if not is_command_there(order):
            raise CommandMissing(f"`{printable(argv[0], 60)}` was not found in the worktree of `{attempt.id}`")
        status = asyncio.run(run_in_terminal(order, shown)) if shown >= 0 else _in_streams(order)
    return status if status >= 0 else 128 - status


def _worktree(workspace: Workspace, board: Board, attempt: Attempt) -> AbstractContextManager[Worktree]:
    if attempt.live:
        return share_place(workspace, attempt)
    return borrow_place(workspace.site, board, board.task(task_of(attempt.id)), attempt)


def _order(
    site: Site, board: Board, attempt: Attempt, worktree: Worktree, argv: Sequence[str], *, fenced: bool
) -> TurnOrder:
    """It carries no mark: what the fleet ends with a turn is not what a person runs beside it."""
    own = {
        **site.identity,
        **worktree.environment(),
        "PADDOCK_TASK": task_of(attempt.id),
        "PADDOCK_BRANCH": attempt.branch,
    }
    base = pass_on(os.environ) if fenced else dict(os.environ)
    launch = Launch(tuple(argv), {**base, **own}, worktree.path)
    task = as_seen_by(board.task(task_of(attempt.id)), attempt)
    level = fence_of(site, task, attempt, Company(tuple(argv), fenced=fenced))
    launch, fence = fence_turn(site, attempt, worktree, level, launch)
    return TurnOrder(Turn(attempt.id, attempt.turn), launch.argv, launch.env, launch.cwd, fence=fence)


async def run_in_terminal(order: TurnOrder, shown: int) -> int:
    """Its exit status, negative for a signal. Raises PaddockError."""
    leaving, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in _PASSED_ON:
        loop.add_signal_handler(number, leaving.set)
    return await Terminal(order, shown, None).run(leaving, _GRACE_SECONDS)


def _in_streams(order: TurnOrder) -> int:
    """In a session of its own: without our terminal there is nothing that it could type into."""
    try:
        process = subprocess.Popen(
            command_line(order), cwd=order.cwd, env={**order.env, "PWD": str(order.cwd)}, start_new_session=True
        )
    except OSError as error:
        raise PaddockError(f"`{order.argv[0]}` cannot be run: {error.strerror}") from error

    def pass_on_signal(number: int, _frame: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)

    before = [(number, signal.signal(number, pass_on_signal)) for number in _PASSED_ON]
    try:
        return process.wait()
    finally:
        for number, handler in before:
            signal.signal(number, handler)
