"""A worktree for an attempt: claimed from the pool or made, on its own branch, furnished, and given back.

`prepare` and `release` may be killed anywhere and called again; the second call does what is left to do. Each
takes a `checkpoint` that is told the name of every point between two effects.
"""

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from paddock.core.errors import PaddockError
from paddock.git.checkout import (
    add_worktree,
    admin_dir,
    attach_branch,
    bring_to,
    check_out,
    clean,
    drop_stale_locks,
    mark_for_watchers,
    start_branch,
)
from paddock.git.disk import below_floor
from paddock.git.furnish import Checkpoint, Worktree, describe, furnish, no_checkpoint
from paddock.git.lock import Lock, hold
from paddock.git.release import Released, make_idle, release
from paddock.git.setup import SetupResult
from paddock.git.slots import (
    Slot,
    SlotRecord,
    SlotState,
    WorktreeRoot,
    belongs_to,
    find_slot,
    hold_claims,
    hold_if_free,
    hold_slot,
    next_slot,
    read_record,
    read_records,
    recall_slot,
    write_record,
)

__all__ = ["Order", "Prepared", "Released", "Worktree", "check_room", "find", "prepare", "release"]

_ATTEMPT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class Order:
    """What an attempt needs: its branch, beginning at the commit `start` (a full sha)."""

    attempt: str
    branch: str
    start: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """`setup` is None when no command had to run. The engine may start only if `ready`."""

    worktree: Worktree
    warm: bool
    setup: SetupResult | None = None
    skipped: tuple[str, ...] = ()  # of .worktreeinclude, and why

    @property
    def ready(self) -> bool:
        return self.setup is None or self.setup.ok


def prepare(root: WorktreeRoot, order: Order, checkpoint: Checkpoint = no_checkpoint) -> Prepared:
    """A worktree on `order.branch` at `order.start`; the same one as before if the attempt has one already.

    Where it raises PaddockError the slot stays the attempt's: call it again, or `release`.
    """
    if not _ATTEMPT.fullmatch(order.attempt):
        raise PaddockError(f"`{order.attempt}` cannot name an attempt's folder")
    with _claim(root, order, checkpoint) as (slot, lock):
        record = read_record(slot)
        assert record is not None
        if record.state is SlotState.READY:
            return Prepared(describe(root, slot, record), warm=True)
        admin = admin_dir(root.repo, slot.path)
        warm = admin is not None and record.at != ""
        attached = False
        if admin is None:
            admin = add_worktree(root, slot, order.start, lock)
            checkpoint("added")
            check_out(slot.path, admin, order.start, lock)
            checkpoint("checked-out")
        elif record.unswept:
            attached = start_branch(root.repo, slot.path, admin, order.branch, order.start, lock)
            if not attached:
                check_out(slot.path, admin, order.start, lock)
            clean(slot.path, (), lock)
            record = msgspec.structs.replace(record, unswept=False)
            checkpoint("checked-out")
        elif not _is_known_clean(record, order) and bring_to(slot.path, admin, order.start, lock):
            checkpoint("checked-out")
        if not attached:
            drop_stale_locks(admin)
            attach_branch(root.repo, slot.path, admin, order.branch, order.start, lock)
        checkpoint("attached")
        mark_for_watchers(admin)
        checkpoint("watchers-marked")
        record, setup, skipped = furnish(root, slot, record, order.start, lock, checkpoint)
        worktree = describe(root, slot, record)
        if setup is None or setup.ok:
            write_record(slot, msgspec.structs.replace(record, state=SlotState.READY), lock)
            checkpoint("ready")
        return Prepared(worktree, warm, setup, skipped)


def find(root: WorktreeRoot, attempt: str) -> Worktree | None:
    """The worktree an attempt works in, None when it has none that is ready."""
    found = find_slot(root, attempt)
    if found is None or found[1].state not in (SlotState.READY, SlotState.KEPT):
        return None
    return describe(root, *found)


@contextlib.contextmanager
def _claim(root: WorktreeRoot, order: Order, checkpoint: Checkpoint) -> Iterator[tuple[Slot, Lock]]:
    """The attempt's slot, recorded as its own, with the lock held."""
    with contextlib.ExitStack() as stack:
        taken: tuple[Slot, Lock] | None = None
        while taken is None:
            with hold_claims(root) as claims:
                found = recall_slot(root, order.attempt)
                records = read_records(root) if found is None else []
                found = found or next((pair for pair in records if belongs_to(pair[1], order.attempt)), None)
                if found is None:
                    taken = _claim_idle(records, order, stack) or _claim_new(root, order, claims, stack)
                    checkpoint("claimed")
            if found is not None and found[1].state is SlotState.RETURNING:
                _finish_return(root, found[0])
            elif found is not None:
                _check_claim(*found, order)
                taken = found[0], stack.enter_context(hold_slot(found[0]))
        yield taken


def _finish_return(root: WorktreeRoot, slot: Slot) -> None:
    """An attempt that comes back while its old worktree is on the way to the pool waits for that to end."""
    with hold_slot(slot) as lock:
        record = read_record(slot)
        if record is not None and record.state is SlotState.RETURNING:
            make_idle(root, slot, lock)


def _check_claim(slot: Slot, record: SlotRecord, order: Order) -> None:
    if record.state not in (SlotState.CLAIMED, SlotState.READY):
        raise PaddockError(
            f"the worktree of attempt `{order.attempt}` is held back at `{slot.path}`: {record.reason}",
            "save what you need from there, then run `paddock gc --force`",
        )
    if (record.branch, record.start) != (order.branch, order.start):
        raise PaddockError(
            f"attempt `{order.attempt}` has a worktree on `{record.branch}` from `{record.start[:10]}`, "
            f"not on `{order.branch}` from `{order.start[:10]}`"
        )


def _claim_idle(
    records: list[tuple[Slot, SlotRecord]], order: Order, stack: contextlib.ExitStack
) -> tuple[Slot, Lock] | None:
    idle = [pair for pair in records if pair[1].state is SlotState.IDLE]
    idle.sort(key=lambda pair: pair[1].at != order.start)
    for slot, _ in idle:
        with contextlib.ExitStack() as trying:
            lock = trying.enter_context(hold_if_free(slot))
            record = _idle_record(slot) if lock is not None else None
            if lock is None or record is None:
                continue
            claimed = msgspec.structs.replace(
                record,
                state=SlotState.CLAIMED,
                attempt=order.attempt,
                branch=order.branch,
                start=order.start,
            )
            write_record(slot, claimed, lock)
            stack.push(trying.pop_all())
            return slot, lock
    return None


def _is_known_clean(record: SlotRecord, order: Order) -> bool:
    """Made for the pool at this very commit and never lived in: asking git would cost more than the claim."""
    return record.at == order.start and not record.used


def _claim_new(root: WorktreeRoot, order: Order, claims: Lock, stack: contextlib.ExitStack) -> tuple[Slot, Lock]:
    check_room(root)
    slot = next_slot(root, claims)
    root.ports.block(slot.number)
    lock = stack.enter_context(hold(slot.lock_path))
    record = SlotRecord(SlotState.CLAIMED, attempt=order.attempt, branch=order.branch, start=order.start)
    write_record(slot, record, lock)
    return slot, lock


def check_room(root: WorktreeRoot) -> None:
    """PaddockError when a new worktree would go below the disk floor."""
    short = below_floor(root.path, root.floor)
    if short is not None:
        raise PaddockError(f"no room for a new worktree: {short}", "free space, for example with `paddock gc`")


def _idle_record(slot: Slot) -> SlotRecord | None:
    record = read_record(slot)
    return record if record is not None and record.state is SlotState.IDLE else None
