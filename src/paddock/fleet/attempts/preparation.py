"""The worktree of an attempt: made, or found again by whoever goes on with it."""

import asyncio
import contextlib
import shutil
from dataclasses import replace
from pathlib import Path

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.ids import AttemptId
from paddock.core.tasks.beginnings import branch_of, start_commit
from paddock.core.tasks.conversations import find_homes
from paddock.core.tasks.task import Attempt, Task
from paddock.fleet.attempts.ground import Unprepared, explain_failed_setup, explain_no_room
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.site import Site
from paddock.git.worktrees.furnish import Worktree
from paddock.git.worktrees.prepare import PreparedWorktree, WorktreeOrder

SETUP_OUTPUT = "setup.log"


def order_of(board: Board, task: Task, attempt: Attempt) -> WorktreeOrder:
    """The folder its conversation lives in, where it has one."""
    place = Path(attempt.worktree) if attempt.worktree else None
    return WorktreeOrder(attempt.id, branch_of(attempt), start_commit(task, attempt), place, find_homes(board))


async def prepare_worktree(
    site: Site, preparing: asyncio.Semaphore, board: Board, task: Task, attempt: Attempt
) -> Worktree | Unprepared:
    """The worktree, or why there is none."""
    site.attempt_folder(attempt.id).mkdir(parents=True, exist_ok=True)
    checkpoint("attempt.foldered")
    async with preparing:
        order = order_of(board, task, attempt)
        try:
            prepared = await asyncio.to_thread(_prepare, site, attempt, order)
        except (PaddockError, OSError) as error:
            return explain_no_room(site, error)
    if not prepared.ready:
        setup = prepared.setup
        assert setup is not None
        how = setup.stopped or f"exit {setup.code}"
        await asyncio.to_thread(_keep_setup_output, site, attempt.id, setup.output)
        shown = f"`paddock tail {attempt.id}` shows its output"
        return explain_failed_setup(site, f"the setup command failed ({how}); {shown}")
    checkpoint("attempt.prepared")
    return prepared.worktree


def _prepare(site: Site, attempt: Attempt, order: WorktreeOrder) -> PreparedWorktree:
    """One that has worked before, and whose folder is lost, finds at least what it had committed."""
    has_worked = attempt.turn > 0 and not attempt.role.only_reads
    start = site.ground.so_far(attempt, order.start) if has_worked else order.start
    return site.ground.prepare(replace(order, start=start))


def _keep_setup_output(site: Site, attempt: AttemptId, output: Path) -> None:
    """The next setup of the worktree would overwrite it."""
    kept = site.attempt_folder(attempt) / SETUP_OUTPUT
    kept.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        shutil.copyfile(output, kept)
