"""Giving a worktree back: its work is secured first, then it is cleaned for the next attempt."""

import contextlib
import os
from dataclasses import dataclass, replace

import msgspec

from paddock.core.errors import PaddockError
from paddock.core.ids import recordable
from paddock.core.upkeep.survey import SlotState
from paddock.git.checkpoints import Checkpoint, no_checkpoint
from paddock.git.disk import remove_tree
from paddock.git.lock import Lock
from paddock.git.repo import GitFailed, GitKilled
from paddock.git.worktrees.checkout import (
    NotOurs,
    check_out,
    clean,
    clear,
    is_made,
    operation_in_progress,
    require_ours,
)
from paddock.git.worktrees.delivery import Saved, enclosure_of, listen, save_commits_aside, save_work
from paddock.git.worktrees.guests import has_guests
from paddock.git.worktrees.setup import stop_leftover
from paddock.git.worktrees.slots import (
    Slot,
    SlotRecord,
    WorktreeRoot,
    hold_attempt,
    read_record,
    write_record,
)


@dataclass(frozen=True, slots=True)
class Released:
    """What was saved before the worktree went back. `kept` says why it did not, "" when it did."""

    slot: int | None = None
    saved: Saved | None = None
    held: tuple[str, ...] = ()
    kept: str = ""


@dataclass(frozen=True, slots=True)
class Secured:
    """What somebody who looked after the last process had gone has seen: HEAD at `head`, nothing uncommitted, not even
    an ignored file. Refs hold all commits of `held`, for good."""

    head: str
    held: frozenset[str]


def release(
    root: WorktreeRoot,
    attempt: str,
    why: str,
    checkpoint: Checkpoint = no_checkpoint,
    secured: Secured | None = None,
    *,
    discard: bool = False,
) -> Released:
    """Secure what the attempt left and return its worktree to the pool. Nothing to do when it has none, or while
    somebody runs something there: whoever leaves last does it.

    No process of the attempt may be alive. `why` goes into the rescue commit's message. With `discard` nothing is
    secured.
    """
    with hold_attempt(root, attempt) as taken:
        if taken is None:
            return Released()
        slot, record, lock = taken
        if has_guests(slot):
            return Released()
        with contextlib.suppress(OSError):
            if secured is not None and _return_untouched(root, slot, record, lock, secured, checkpoint):
                return Released(slot.number)
        record = read_record(slot) or record
        return give_back(root, slot, record, lock, why, checkpoint, discard=discard)


def _return_untouched(
    root: WorktreeRoot, slot: Slot, record: SlotRecord, lock: Lock, secured: Secured, checkpoint: Checkpoint
) -> bool:
    """Where nothing lies about, nothing has to be saved or removed, and git need not be asked again; False if it must.

    No file is touched, so what a process unknown to us has written meanwhile is no worse off than in the pool.
    """
    if record.state is not SlotState.READY or not _is_as_seen(root, slot, record, secured):
        return False
    stop_leftover(slot.home)
    checkpoint("secured")
    write_record(slot, msgspec.structs.replace(record, state=SlotState.RETURNING), lock)
    checkpoint("returning")
    _forget(root, slot)
    checkpoint("forgotten")
    write_record(slot, _idle(record, secured.head, unswept=True), lock)
    checkpoint("idle")
    return True


def _is_as_seen(root: WorktreeRoot, slot: Slot, record: SlotRecord, secured: Secured) -> bool:
    try:
        enclosure = enclosure_of(root, slot, record)
        said = listen(enclosure, record)
    except PaddockError:
        return False
    return (
        said.branch == f"refs/heads/{record.branch}"
        and said.head == secured.head == enclosure.head()
        and not said.excess
        and operation_in_progress(enclosure.own) is None
        and not (enclosure.own / "modules").exists()
        and secured.held.union((record.start,)).issuperset(said.tips)
    )


def _idle(record: SlotRecord, at: str, *, unswept: bool = False) -> SlotRecord:
    made = (record.tree, record.control)
    return SlotRecord(SlotState.IDLE, at=at, used=True, unswept=unswept, tree=made[0], control=made[1])


def _forget(root: WorktreeRoot, slot: Slot) -> None:
    remove_tree(root.enclosure(slot).own)
    remove_tree(slot.home / "tmp")


def give_back(
    root: WorktreeRoot,
    slot: Slot,
    record: SlotRecord,
    lock: Lock,
    why: str,
    checkpoint: Checkpoint,
    *,
    discard: bool = False,
) -> Released:
    """release, for who holds the slot's lock already."""
    if record.state is SlotState.KEPT:
        return Released(slot.number, kept=record.reason)
    saved: Saved | None = None
    held: tuple[str, ...] = ()
    if record.state is SlotState.READY and not discard:
        try:
            saved, held, record = secure(root, slot, record, lock, why, checkpoint)
        except GitKilled:
            raise
        except (PaddockError, OSError) as error:
            return _keep(slot, record, lock, Released(slot.number, kept=str(error)))
        checkpoint("secured")
        if saved is not None and saved.left:
            reason = f"could not be saved in a commit: {', '.join(saved.left[:5])}"
            return _keep(slot, record, lock, Released(slot.number, saved, held, reason))
    record = msgspec.structs.replace(record, state=SlotState.RETURNING)
    write_record(slot, record, lock)
    checkpoint("returning")
    try:
        make_idle(root, slot, record, lock, checkpoint)
    except (OSError, NotOurs) as error:  # files of another user's, such as a container leaves behind
        return _keep(slot, record, lock, Released(slot.number, saved, held, f"cannot be removed: {error}"))
    return Released(slot.number, saved, held)


def make_idle(
    root: WorktreeRoot, slot: Slot, record: SlotRecord, lock: Lock, checkpoint: Checkpoint = no_checkpoint
) -> None:
    """Turn a worktree whose work is secured into a clean one for the next attempt, or remove it."""
    stop_leftover(slot.home)
    enclosure = root.enclosure(slot)
    try:
        if not is_made(root, slot, record):
            raise FileNotFoundError(slot.path)
        _forget(root, slot)
        checkpoint("forgotten")
        head = enclosure.head()
        check_out(enclosure, head, lock)
        checkpoint("reset")
        clean(enclosure, root.keep, lock)
        checkpoint("cleaned")
    except (GitFailed, OSError):
        remove_slot(root, slot, lock)
        return
    write_record(slot, _idle(record, head), lock)
    checkpoint("idle")


def remove_slot(root: WorktreeRoot, slot: Slot, lock: Lock) -> None:
    """The worktree, then all trace of it. The caller has made sure that nothing of value is in it.

    Raises NotOurs where something else is in its place.
    """
    assert lock.path == slot.lock_path
    stop_leftover(slot.home)
    clear(root.repo, slot, read_record(slot) or SlotRecord(SlotState.MAKING))
    remove_tree(slot.home)


def secure(
    root: WorktreeRoot, slot: Slot, record: SlotRecord, lock: Lock, why: str, checkpoint: Checkpoint = no_checkpoint
) -> tuple[Saved | None, tuple[str, ...], SlotRecord]:
    """A rescue commit for dirty files, refs for all commits. PaddockError when something cannot be saved."""
    if not os.path.lexists(slot.path) and not record.own:
        return None, (), record
    saved, record = save_work(root, slot, record, lock, why, checkpoint)
    held = save_commits_aside(root, slot, record)
    if (root.enclosure(slot).own / "modules").exists() or saved.links:
        raise PaddockError("submodules were checked out here; their commits exist nowhere else")
    return saved, held, record


def _keep(slot: Slot, record: SlotRecord, lock: Lock, released: Released) -> Released:
    """As it is, for a person to look at."""
    kept = replace(released, kept=recordable(released.kept))
    write_record(slot, msgspec.structs.replace(record, state=SlotState.KEPT, reason=kept.kept), lock)
    return kept


def keep_if_foreign(slot: Slot, record: SlotRecord, lock: Lock) -> bool:
    """Whether something else is in the slot's place; then it is left for a person to look at."""
    try:
        require_ours(slot, record)
    except NotOurs as error:
        _keep(slot, record, lock, Released(slot.number, kept=str(error)))
        return True
    return False
