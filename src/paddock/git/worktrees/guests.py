"""Who runs something beside an agent, in its worktree: nobody else is given that before they have left.

A guest shares a lock with other guests. It is taken under the slot's own lock, under which the worktree is given back
too, so a guest never comes in while that happens.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator

from paddock.git.worktrees.slots import Slot, WorktreeRoot, hold_attempt


@contextlib.contextmanager
def be_guest(root: WorktreeRoot, attempt: str) -> Iterator[None]:
    """For as long as the block lasts. Nothing is kept where the attempt has no worktree."""
    with contextlib.ExitStack() as stack:
        with hold_attempt(root, attempt) as taken:
            if taken is not None:
                descriptor = os.open(_path(taken[0]), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
                stack.callback(os.close, descriptor)
                fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield


def has_guests(slot: Slot) -> bool:
    """For who holds the slot's lock."""
    try:
        descriptor = os.open(_path(slot), os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _path(slot: Slot) -> str:
    return f"{slot.home}/guests"
