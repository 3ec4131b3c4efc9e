"""The warm pool: idle worktrees at main's tip, made and re-pointed in the background."""

import contextlib
from collections.abc import Collection
from dataclasses import dataclass

import msgspec

from paddock.core.errors import PaddockError
from paddock.core.tasks.conversations import NOWHERE, Homes
from paddock.core.upkeep.survey import SlotState
from paddock.git.checkpoints import Checkpoint, no_checkpoint
from paddock.git.disk import remove_tree
from paddock.git.lock import Lock, hold
from paddock.git.worktrees.checkout import bring_to, check_out, clean, is_made, make, move_in, sharpen_index
from paddock.git.worktrees.claims import check_room
from paddock.git.worktrees.furnish import furnish, is_setup_due
from paddock.git.worktrees.release import keep_if_foreign, remove_slot
from paddock.git.worktrees.slots import (
    Slot,
    SlotRecord,
    WorktreeRoot,
    hold_claims,
    hold_if_free,
    list_slots,
    next_slot,
    read_record,
    write_record,
)


@dataclass(frozen=True, slots=True)
class FillReport:
    """What was done. `problems` are worth a delay before the next call."""

    made: int = 0
    repointed: int = 0
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Filling:
    root: WorktreeRoot
    tip: str
    checkpoint: Checkpoint
    problems: list[str]


def fill(
    root: WorktreeRoot,
    tip: str,
    size: int,
    most: int | None = None,
    checkpoint: Checkpoint = no_checkpoint,
    homes: Homes = NOWHERE,
) -> FillReport:
    """Bring the pool to `size` idle worktrees at commit `tip`; stop after `most` pieces of work.

    Those that a conversation may come back to do not count, and are left as they are. What a dead process left half
    done is the janitor's. Safe beside claims and other fills.
    """
    done: list[Slot] = []
    lived_in = {*homes.due, *homes.kept}
    made = 0
    problems: list[str] = []
    filling = _Filling(root, tip, checkpoint, problems)
    limit = most if most is not None else size + len(list_slots(root))
    for slot in list_slots(root):
        if len(done) >= limit:
            break
        with hold_if_free(slot) as lock:
            if lock is None:
                continue
            record = read_record(slot)
            if record is not None and record.state is SlotState.IDLE and keep_if_foreign(slot, record, lock):
                continue
            try:
                if record is not None and _is_stale(root, record, tip) and str(slot.path) not in lived_in:
                    _repoint(filling, slot, record, lock)
                    done.append(slot)
            except (PaddockError, OSError) as error:
                problems.append(f"w{slot.number}: {error}")
    while _is_short(root, size, lived_in) and len(done) < limit and not problems:
        try:
            done.append(_make(filling, homes))
            made += 1
        except (PaddockError, OSError) as error:
            problems.append(str(error))
    _sharpen(root, done)
    return FillReport(made, len(done) - made, tuple(problems))


def _sharpen(root: WorktreeRoot, done: list[Slot]) -> None:
    """Comes last, so that entries can be claimed meanwhile and the wait inside is mostly over."""
    for slot in done:
        with hold_if_free(slot) as lock:
            record = read_record(slot)
            if lock is not None and record is not None and record.state is SlotState.IDLE:
                sharpen_index(root.enclosure(slot), lock)


def count_idle(root: WorktreeRoot, besides: Collection[str] = ()) -> int:
    records = (read_record(slot) for slot in list_slots(root) if str(slot.path) not in besides)
    return sum(record is not None and record.state is SlotState.IDLE for record in records)


def _is_stale(root: WorktreeRoot, record: SlotRecord, tip: str) -> bool:
    return record.state is SlotState.IDLE and (record.at != tip or is_setup_due(root, record, tip))


def _is_short(root: WorktreeRoot, size: int, lived_in: Collection[str]) -> bool:
    """Beyond the root's bound, what conversations may come back to has to do for the pool as well."""
    idle = count_idle(root, lived_in)
    return idle < size and (len(list_slots(root)) < root.most or count_idle(root) < size)


def _make(filling: _Filling, homes: Homes) -> Slot:
    root, checkpoint = filling.root, filling.checkpoint
    check_room(root)
    with contextlib.ExitStack() as stack:
        with hold_claims(root) as claims:
            slot = next_slot(root, claims, homes)
            root.ports.block(slot.number)
            lock = stack.enter_context(hold(slot.lock_path))
            checkpoint("slot-taken")
            write_record(slot, SlotRecord(SlotState.MAKING), lock)
        checkpoint("making")
        try:
            record = make(root, slot, SlotRecord(SlotState.MAKING), lock, checkpoint)
            check_out(root.enclosure(slot), filling.tip, lock)
            checkpoint("checked-out")
            _settle(filling, slot, record, lock)
        except (PaddockError, OSError):
            remove_slot(root, slot, lock)
            raise
        return slot


def _repoint(filling: _Filling, slot: Slot, record: SlotRecord, lock: Lock) -> None:
    enclosure = filling.root.enclosure(slot)
    if not is_made(filling.root, slot, record):
        remove_slot(filling.root, slot, lock)
        return
    # MAKING while it is neither here nor there: a claim after a crash must not trust it.
    making = msgspec.structs.replace(record, state=SlotState.MAKING, at="", unswept=False)
    write_record(slot, making, lock)
    filling.checkpoint("repointing")
    if record.unswept:
        check_out(enclosure, filling.tip, lock)
        clean(enclosure, (), lock)
    else:
        bring_to(enclosure, filling.tip, lock)
    filling.checkpoint("checked-out")
    _settle(filling, slot, making, lock)


def _settle(filling: _Filling, slot: Slot, record: SlotRecord, lock: Lock) -> None:
    """Furnish and enter into the pool. A failing setup command is tried again when the worktree is claimed."""
    if is_setup_due(filling.root, record, filling.tip):
        record = move_in(filling.root, slot, record, filling.tip)
    record, setup, _ = furnish(filling.root, slot, record, filling.tip, lock, filling.checkpoint)
    remove_tree(filling.root.enclosure(slot).own)
    if setup is not None and not setup.ok:
        filling.problems.append(f"w{slot.number}: the setup command failed, see `{setup.output}`")
    write_record(slot, msgspec.structs.replace(record, state=SlotState.IDLE, at=filling.tip), lock)
    filling.checkpoint("idle")
