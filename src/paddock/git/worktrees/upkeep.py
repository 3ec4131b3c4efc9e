"""Worktrees nobody needs any more: looking at what there is, and doing away with what was judged so.

Every removal looks again first, under the slot's lock. Commits get a ref and dirty files a rescue commit before
anything goes. Worktrees that are not Paddock's are never seen.
"""

import contextlib
import os
from collections.abc import Iterator

import msgspec

from paddock.core.errors import PaddockError
from paddock.core.upkeep.findings import RemoveWorktree, ReturnWorktree, WorktreeRemedy
from paddock.core.upkeep.survey import SlotState, WorktreeSeen
from paddock.git.checkpoints import Checkpoint, no_checkpoint
from paddock.git.disk import disk_usage
from paddock.git.enclosure.enclosure import identify
from paddock.git.lock import Lock
from paddock.git.worktrees.branches import find_branch
from paddock.git.worktrees.delivery import enclosure_of, listen
from paddock.git.worktrees.guests import has_guests
from paddock.git.worktrees.release import Released, give_back, release, remove_slot, secure
from paddock.git.worktrees.slots import (
    Slot,
    SlotRecord,
    WorktreeRoot,
    hold_claims,
    hold_if_free,
    list_slots,
    read_record,
    slot_at,
)


class ChangedMeanwhile(PaddockError):
    """Something is no longer as it was seen: there is nothing to be done about it, or somebody else does it."""

    def __init__(self, how: str = "it has changed since it was inspected") -> None:
        super().__init__(how)


def look_at_worktrees(root: WorktreeRoot) -> tuple[WorktreeSeen, ...]:
    return tuple(_see(slot) for slot in list_slots(root))


def _see(slot: Slot) -> WorktreeSeen:
    record = read_record(slot)
    state, attempt, reason = (record.state, record.attempt, record.reason) if record else (None, "", "")
    busy = False
    if state in (None, SlotState.MAKING, SlotState.RETURNING):
        with hold_if_free(slot) as lock:
            busy = lock is None
    return WorktreeSeen(slot.number, str(slot.path), state, attempt, reason, os.path.lexists(slot.path), busy)


def measure_worktree(root: WorktreeRoot, remedy: RemoveWorktree) -> int:
    """The bytes that would be freed."""
    slot = slot_at(root, remedy.slot)
    return disk_usage(slot.path) + disk_usage(slot.home)


def sweep_worktree(root: WorktreeRoot, remedy: WorktreeRemedy, checkpoint: Checkpoint = no_checkpoint) -> list[str]:
    """Refs that now hold what was found. PaddockError when something cannot be saved, and is left where it is."""
    match remedy:
        case ReturnWorktree(attempt=attempt):
            released = release(root, attempt, "its attempt had ended", checkpoint)
            if released.slot is None:
                raise ChangedMeanwhile
            return _saved(released)
        case RemoveWorktree(slot=number):
            return _remove(root, slot_at(root, number), remedy, checkpoint)


def _saved(released: Released) -> list[str]:
    if released.kept:
        raise PaddockError(released.kept)
    saved = released.saved
    return [*([saved.ref] if saved is not None and saved.commit is not None else []), *released.held]


def _remove(root: WorktreeRoot, slot: Slot, seen: RemoveWorktree, checkpoint: Checkpoint) -> list[str]:
    with _hold_as_seen(root, slot, seen) as (record, lock):
        refs: list[str] = []
        if record is not None and record.state in (SlotState.CLAIMED, SlotState.READY):
            refs += _saved(give_back(root, slot, record, lock, "its attempt was over", checkpoint))
        elif record is None or record.state is SlotState.KEPT:
            refs += _save_what_can_be(root, slot, record or _guess(root, slot), lock)
        checkpoint("held")
        remove_slot(root, slot, lock)
        return refs


@contextlib.contextmanager
def _hold_as_seen(root: WorktreeRoot, slot: Slot, seen: RemoveWorktree) -> Iterator[tuple[SlotRecord | None, Lock]]:
    with contextlib.ExitStack() as stack:
        if seen.state is None:
            # Whoever takes a new slot holds the claims until its record is written: it cannot be under way now.
            stack.enter_context(hold_claims(root))
        lock = stack.enter_context(hold_if_free(slot))
        if lock is None:
            raise ChangedMeanwhile("it is in use, or gone already")
        if has_guests(slot):
            raise ChangedMeanwhile("somebody's command runs there")
        record = read_record(slot)
        state, attempt = (record.state, record.attempt) if record is not None else (None, "")
        if (state, attempt, os.path.lexists(slot.path)) != (seen.state, seen.attempt, seen.present):
            raise ChangedMeanwhile
        yield record, lock


def _save_what_can_be(root: WorktreeRoot, slot: Slot, record: SlotRecord, lock: Lock) -> list[str]:
    """A human gave up the rest."""
    try:
        saved, held, _ = secure(root, slot, record, lock, "its worktree was removed by force")
    except (PaddockError, OSError):
        return []
    return _saved(Released(slot.number, saved, held))


def _guess(root: WorktreeRoot, slot: Slot) -> SlotRecord:
    """What a lost record may have said, from what is there."""
    enclosure = root.enclosure(slot)
    folders = (slot.path, enclosure.control, enclosure.own)
    tree, control, own = (identify(folder) if folder.is_dir() else 0 for folder in folders)
    name = f"w{slot.number}"
    guess = SlotRecord(SlotState.KEPT, attempt=name, branch=f"paddock/lost-{name}", start=enclosure.head())
    guess = msgspec.structs.replace(guess, tree=tree, control=control, own=own)
    with contextlib.suppress(PaddockError):
        branch = listen(enclosure_of(root, slot, guess), guess).branch.removeprefix("refs/heads/")
        if branch.startswith("paddock/"):
            guess = msgspec.structs.replace(guess, branch=branch, placed=find_branch(root.repo, branch))
    return guess
