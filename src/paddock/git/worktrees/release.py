"""Giving a worktree back: its work is secured first, then it is cleaned for the next attempt."""

import contextlib
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from paddock.core.errors import PaddockError
from paddock.core.ids import recordable
from paddock.core.upkeep.survey import SlotState
from paddock.git.checkpoints import Checkpoint, no_checkpoint
from paddock.git.disk import remove_tree
from paddock.git.lock import Lock
from paddock.git.repo import GitFailed, GitKilled, branch_of
from paddock.git.worktrees.checkout import (
    admin_dir,
    check_out,
    clean,
    detach,
    drop_stale_locks,
    forget_operation,
    is_cut_differently,
    operation_in_progress,
    remove_worktree,
    repair_worktree,
    set_head,
)
from paddock.git.worktrees.rescue import Rescued, hold_loose_commits, reflog_commits, rescue
from paddock.git.worktrees.setup import stop_leftover
from paddock.git.worktrees.slots import (
    Slot,
    SlotRecord,
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
) -> Released:
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
        with contextlib.suppress(OSError):
            if secured is not None and _return_untouched(root, slot, record, lock, secured, checkpoint):
                return Released(slot.number)
        return give_back(root, slot, record, lock, why, checkpoint)


def _return_untouched(
    root: WorktreeRoot, slot: Slot, record: SlotRecord, lock: Lock, secured: Secured, checkpoint: Checkpoint
) -> bool:
    """Where nothing lies about, nothing has to be saved or removed, and git need not be asked again; False if it must.

    No file is touched, so what a process unknown to us has written meanwhile is no worse off than in the pool.
    """
    admin = admin_dir(root.repo, slot.path)
    if record.state is not SlotState.READY or admin is None or not _is_as_seen(root, record, admin, secured):
        return False
    stop_leftover(slot.home)
    drop_stale_locks(admin)
    forget_operation(admin)
    checkpoint("secured")
    if not set_head(admin, secured.head):
        return False
    checkpoint("detached")
    _forget(slot, admin)
    write_record(slot, SlotRecord(SlotState.IDLE, at=secured.head, used=True, unswept=True), lock)
    checkpoint("idle")
    return True


def _is_as_seen(root: WorktreeRoot, record: SlotRecord, admin: Path, secured: Secured) -> bool:
    return (
        branch_of(admin) == record.branch
        and root.repo.branch_tip(record.branch) == secured.head
        and operation_in_progress(admin) is None
        and not (admin / "modules").is_dir()
        and not is_cut_differently(root.repo, admin)
        and secured.held.issuperset((secured.head, *reflog_commits(admin)))
    )


def _forget(slot: Slot, admin: Path) -> None:
    (admin / "logs" / "HEAD").unlink(missing_ok=True)
    remove_tree(slot.home / "tmp")


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
        except GitKilled:
            raise
        except (PaddockError, OSError) as error:
            return _keep(root, slot, record, lock, Released(slot.number, kept=str(error)))
        checkpoint("secured")
        if rescued is not None and rescued.left:
            reason = f"could not be saved in a commit: {', '.join(rescued.left[:5])}"
            return _keep(root, slot, record, lock, Released(slot.number, rescued, held, reason))
    record = msgspec.structs.replace(record, state=SlotState.RETURNING)
    write_record(slot, record, lock)
    checkpoint("returning")
    try:
        make_idle(root, slot, lock, checkpoint)
    except OSError as error:  # files of another user's, such as a container leaves behind
        return _keep(root, slot, record, lock, Released(slot.number, rescued, held, f"cannot be removed: {error}"))
    return Released(slot.number, rescued, held)


def make_idle(root: WorktreeRoot, slot: Slot, lock: Lock, checkpoint: Checkpoint = no_checkpoint) -> None:
    """Turn a worktree whose work is secured into a clean one for the next attempt, or remove it."""
    admin = admin_dir(root.repo, slot.path)
    stop_leftover(slot.home)
    try:
        if admin is None or is_cut_differently(root.repo, admin):
            raise FileNotFoundError(slot.path)
        head = detach(slot.path, admin, lock)
        checkpoint("detached")
        check_out(slot.path, admin, head, lock)
        checkpoint("reset")
        clean(slot.path, root.keep, lock)
        checkpoint("cleaned")
        _forget(slot, admin)
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
    admin = repair_worktree(root.repo, slot.path)
    if admin is None:
        if slot.path.exists():
            raise PaddockError(f"`{slot.path}` is no longer a worktree of this repository")
        return None, ()
    if (admin / "modules").is_dir():
        raise PaddockError("submodules were checked out here; their commits exist nowhere else")
    rescued = rescue(root.repo, slot.path, admin, record.branch, why, checkpoint)
    return rescued, hold_loose_commits(root.repo, slot.path, admin, record.attempt)


def _keep(root: WorktreeRoot, slot: Slot, record: SlotRecord, lock: Lock, released: Released) -> Released:
    """As it is, for a person to look at; only its branch is left, so that the task's next attempt can have it."""
    if released.rescued is not None and (admin := admin_dir(root.repo, slot.path)) is not None:
        with contextlib.suppress(GitFailed, OSError):
            detach(slot.path, admin, lock)
    kept = replace(released, kept=recordable(released.kept))
    write_record(slot, msgspec.structs.replace(record, state=SlotState.KEPT, reason=kept.kept), lock)
    return kept
