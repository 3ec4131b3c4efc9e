"""Giving a worktree back: its work is secured first, then it is cleaned for the next attempt."""

from dataclasses import dataclass

import msgspec

from paddock.core.errors import PaddockError
from paddock.git.checkout import admin_dir, check_out, clean, detach, mend, remove_worktree
from paddock.git.disk import remove_tree
from paddock.git.furnish import Checkpoint, no_checkpoint
from paddock.git.lock import Lock
from paddock.git.repo import GitFailed
from paddock.git.rescue import Rescued, hold_loose_commits, rescue
from paddock.git.setup import stop_leftover
from paddock.git.slots import (
    Slot,
    SlotRecord,
    SlotState,
    WorktreeRoot,
    find_slot,
    hold_slot,
    read_record,
    write_record,
)


@dataclass(frozen=True, slots=True)
class Released:
    """What was saved before the worktree went back. `kept` says why it did not, "" when it did."""

    slot: int | None = None
    rescued: Rescued | None = None
    held: tuple[str, ...] = ()
    kept: str = ""


def release(root: WorktreeRoot, attempt: str, why: str, checkpoint: Checkpoint = no_checkpoint) -> Released:
    """Secure what the attempt left and return its worktree to the pool. Nothing to do when it has none.

    No process of the attempt may be alive. `why` goes into the rescue commit's message.
    """
    found = find_slot(root, attempt)
    if found is None:
        return Released()
    slot, _ = found
    with hold_slot(slot) as lock:
        record = read_record(slot)
        if record is None or record.attempt != attempt:
            return Released()
        return give_back(root, slot, record, lock, why, checkpoint)


def give_back(
    root: WorktreeRoot, slot: Slot, record: SlotRecord, lock: Lock, why: str, checkpoint: Checkpoint
) -> Released:
    """release, for who holds the slot's lock already."""
    if record.state is SlotState.KEPT:
        return Released(slot.number, kept=record.reason)
    rescued: Rescued | None = None
    held: tuple[str, ...] = ()
    if record.state is SlotState.READY:
        try:
            rescued, held = secure(root, slot, record, why, checkpoint)
        except (PaddockError, OSError) as error:
            return _keep(slot, record, lock, Released(slot.number, kept=str(error)))
        checkpoint("secured")
        if rescued is not None and rescued.left:
            reason = f"could not be saved in a commit: {', '.join(rescued.left[:5])}"
            return _keep(slot, record, lock, Released(slot.number, rescued, held, reason))
    record = msgspec.structs.replace(record, state=SlotState.RETURNING)
    write_record(slot, record, lock)
    checkpoint("returning")
    make_idle(root, slot, lock, checkpoint)
    return Released(slot.number, rescued, held)


def make_idle(root: WorktreeRoot, slot: Slot, lock: Lock, checkpoint: Checkpoint = no_checkpoint) -> None:
    """Turn a worktree whose work is secured into a clean one for the next attempt, or remove it."""
    admin = admin_dir(root.repo, slot.path)
    stop_leftover(slot.home)
    try:
        if admin is None:
            raise FileNotFoundError(slot.path)
        head = detach(slot.path, admin, lock)
        checkpoint("detached")
        check_out(slot.path, admin, head, lock)
        checkpoint("reset")
        clean(slot.path, root.keep, lock)
        checkpoint("cleaned")
        (admin / "logs" / "HEAD").unlink(missing_ok=True)
        remove_tree(slot.home / "tmp")
        checkpoint("forgotten")
    except (GitFailed, OSError):
        remove_slot(root, slot, lock)
        return
    write_record(slot, SlotRecord(SlotState.IDLE, at=head, used=True), lock)
    checkpoint("idle")


def remove_slot(root: WorktreeRoot, slot: Slot, lock: Lock) -> None:
    """The worktree, then all trace of it. The caller has made sure that nothing of value is in it."""
    stop_leftover(slot.home)
    remove_worktree(root, slot, lock)
    remove_tree(slot.home)


def secure(
    root: WorktreeRoot, slot: Slot, record: SlotRecord, why: str, checkpoint: Checkpoint = no_checkpoint
) -> tuple[Rescued | None, tuple[str, ...]]:
    """A rescue commit for dirty files, refs for loose commits. PaddockError when something cannot be saved."""
    admin = mend(root.repo, slot.path)
    if admin is None:
        if slot.path.exists():
            raise PaddockError(f"`{slot.path}` is not a worktree of this repository any more")
        return None, ()
    if (admin / "modules").is_dir():
        raise PaddockError("submodules were checked out here; their commits exist nowhere else")
    rescued = rescue(root.repo, slot.path, admin, record.branch, why, checkpoint)
    return rescued, hold_loose_commits(root.repo, slot.path, admin, record.attempt)


def _keep(slot: Slot, record: SlotRecord, lock: Lock, released: Released) -> Released:
    write_record(slot, msgspec.structs.replace(record, state=SlotState.KEPT, reason=released.kept), lock)
    return released
