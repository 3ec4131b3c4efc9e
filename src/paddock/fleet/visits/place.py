"""The worktree of an attempt, brought back where it is gone: in its own folder, on its branch, with its commits."""

import asyncio
import contextlib
import secrets
from collections.abc import Iterator

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.ids import task_of
from paddock.core.tasks.beginnings import start_commit
from paddock.core.tasks.conversations import find_homes
from paddock.core.tasks.task import Attempt, Task
from paddock.fleet.attempts.ground import Unprepared
from paddock.fleet.attempts.preparation import prepare_worktree
from paddock.fleet.site import Site
from paddock.fleet.workspace import Workspace
from paddock.git.worktrees.furnish import Worktree
from paddock.git.worktrees.guests import be_guest
from paddock.git.worktrees.prepare import PreparedWorktree, WorktreeOrder, find, release
from paddock.git.worktrees.slots import hold_attempt

BORROWED = "exec"
"""Begins the name under which a command has a worktree of an attempt that has ended."""


async def bring_back(site: Site, board: Board, task: Task, attempt: Attempt) -> Worktree:
    """The same one as long as the attempt has it. Raises PaddockError.

    The attempt must be live and held: what clears worktrees away spares those of live attempts.
    """
    prepared = await prepare_worktree(site, asyncio.Semaphore(), board, task, attempt)
    if isinstance(prepared, Unprepared):
        raise PaddockError(f"`{attempt.id}` has no worktree to work in: {prepared.reason}")
    return prepared


def find_place(site: Site, attempt: Attempt) -> Worktree:
    """The one it has. Raises PaddockError if it has none."""
    found = find(site.root, attempt.id)
    if found is not None and found.path.is_dir():
        return found
    if attempt.live and attempt.turn:
        raise PaddockError(
            f"the worktree of `{attempt.id}` is gone: something other than Paddock removed it",
            f"its commits are on `{attempt.branch}`; `paddock resurrect --up` brings it back",
        )
    if attempt.live:
        raise PaddockError(f"`{attempt.id}` has no worktree yet", "it is being prepared: try again in a moment")
    raise PaddockError(
        f"the worktree of `{attempt.id}` was given back when it ended; its commits are on `{attempt.branch}`",
        f"`paddock connect {task_of(attempt.id)} --shell` brings it back for you, "
        f"`paddock exec {attempt.id} -- …` for one command",
    )


@contextlib.contextmanager
def share_place(workspace: Workspace, attempt: Attempt) -> Iterator[Worktree]:
    """The worktree of a live attempt. Nobody else is given it before the block is left, also where the attempt ends
    meanwhile; then it is given back. Raises PaddockError if it has none."""
    site, task = workspace.site, task_of(attempt.id)
    find_place(site, attempt)  # nobody waits for one that is being prepared
    with be_guest(site.root, attempt.id):
        yield find_place(site, attempt)
    live = workspace.board().task(task).live_attempt
    if live is None or live.id != attempt.id:
        with contextlib.suppress(PaddockError, OSError):  # the janitor repeats it
            release(site.root, attempt.id, f"{attempt.id} ended", discard=attempt.role.only_reads)


@contextlib.contextmanager
def borrow_place(site: Site, board: Board, task: Task, attempt: Attempt) -> Iterator[Worktree]:
    """A worktree with the commits of an attempt that has ended, for as long as the block lasts. What is made there is
    thrown away. Nobody else is given it meanwhile: its lock is held. Raises PaddockError."""
    owner = f"{BORROWED}-{attempt.id}-{secrets.token_hex(3)}"
    start = attempt.head or start_commit(task, attempt)
    order = WorktreeOrder(owner, f"paddock/{BORROWED}-{attempt.id}", start, homes=find_homes(board))
    prepared = site.ground.prepare(order)
    try:
        if not prepared.ready:
            raise _failed_setup(prepared, f"its output is in `{prepared.setup and prepared.setup.output}`")
        with hold_attempt(site.root, owner) as taken:
            if taken is None:
                raise PaddockError("the worktree was cleared away again", "try again")
            yield prepared.worktree
    finally:
        release(site.root, owner, "its command has ended", discard=True)


def _failed_setup(prepared: PreparedWorktree, hint: str) -> PaddockError:
    setup = prepared.setup
    assert setup is not None
    return PaddockError(f"the setup command failed ({setup.stopped or f'exit {setup.code}'})", hint)
