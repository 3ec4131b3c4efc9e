"""A worktree for an attempt: claimed from the pool or made, on its own branch, furnished, and given back.

`prepare` and `release` may be killed anywhere and called again; the second call does what is left to do. Each
takes a `checkpoint` that is told the name of every point between two effects.
"""

import re
from dataclasses import dataclass

import msgspec

from paddock.core.errors import PaddockError
from paddock.core.upkeep.survey import SlotState
from paddock.git.checkpoints import Checkpoint, no_checkpoint
from paddock.git.lock import Lock
from paddock.git.worktrees.branches import start_branch
from paddock.git.worktrees.checkout import bring_to, check_out, clean, is_made, make, move_in, require_room_for
from paddock.git.worktrees.claims import PlaceTaken, WorktreeOrder, claim_slot
from paddock.git.worktrees.furnish import Worktree, describe, furnish
from paddock.git.worktrees.release import Released, release
from paddock.git.worktrees.setup import SetupResult
from paddock.git.worktrees.slots import Slot, SlotRecord, WorktreeRoot, find_slot, read_record, write_record

__all__ = ["PlaceTaken", "PreparedWorktree", "Released", "Worktree", "WorktreeOrder", "find", "prepare", "release"]

_ATTEMPT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class PreparedWorktree:
    """`setup` is None when no command had to run. The engine may start only if `ready`."""

    worktree: Worktree
    warm: bool
    setup: SetupResult | None = None
    skipped: tuple[str, ...] = ()  # of .worktreeinclude, and why

    @property
    def ready(self) -> bool:
        return self.setup is None or self.setup.ok


def prepare(root: WorktreeRoot, order: WorktreeOrder, checkpoint: Checkpoint = no_checkpoint) -> PreparedWorktree:
    """A worktree on `order.branch` at `order.start`; the same one as before if the attempt has one already.

    PlaceTaken when it has to be `order.place` and cannot; nothing was done then. Where it raises another PaddockError
    the slot stays the attempt's: call it again, or `release`.
    """
    if not _ATTEMPT.fullmatch(order.attempt):
        raise PaddockError(f"`{order.attempt}` cannot name an attempt's folder")
    with claim_slot(root, order, checkpoint) as (slot, lock):
        record = read_record(slot)
        assert record is not None
        if record.state is SlotState.READY:
            return PreparedWorktree(describe(root, slot, record), warm=True)
        return _prepare(root, slot, record, order, lock, checkpoint)


def _prepare(
    root: WorktreeRoot, slot: Slot, record: SlotRecord, order: WorktreeOrder, lock: Lock, checkpoint: Checkpoint
) -> PreparedWorktree:
    require_room_for(root.repo, order.branch)
    enclosure = root.enclosure(slot)
    is_there = is_made(root, slot, record)
    warm = is_there and record.at != ""
    if not is_there:
        record = make(root, slot, record, lock, checkpoint)
        check_out(enclosure, order.start, lock)
        checkpoint("checked-out")
    elif record.unswept:
        check_out(enclosure, order.start, lock)
        clean(enclosure, (), lock)
        record = msgspec.structs.replace(record, unswept=False)
        checkpoint("checked-out")
    elif not _is_known_clean(record, order) and bring_to(enclosure, order.start, lock):
        checkpoint("checked-out")
    record = move_in(root, slot, record, order.start)
    placed = start_branch(root.repo, order.branch, order.start)
    record = msgspec.structs.replace(record, placed=placed, taken=order.start, rescued="")
    write_record(slot, record, lock)
    checkpoint("attached")
    record, setup, skipped = furnish(root, slot, record, order.start, lock, checkpoint)
    worktree = describe(root, slot, record)
    if setup is None or setup.ok:
        write_record(slot, msgspec.structs.replace(record, state=SlotState.READY), lock)
        checkpoint("ready")
    return PreparedWorktree(worktree, warm, setup, skipped)


def find(root: WorktreeRoot, attempt: str) -> Worktree | None:
    """The worktree an attempt works in, None when it has none that is ready."""
    found = find_slot(root, attempt)
    if found is None or found[1].state not in (SlotState.READY, SlotState.KEPT):
        return None
    return describe(root, *found)


def _is_known_clean(record: SlotRecord, order: WorktreeOrder) -> bool:
    """Made for the pool at this very commit and never lived in: asking git would cost more than the claim."""
    return record.at == order.start and not record.used
