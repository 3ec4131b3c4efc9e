"""Finding a slot for an attempt and recording it as the attempt's own.

An attempt that goes on with a conversation gets the very slot that lives in, made again if it was removed. Others
get an idle slot that no conversation may come back to, then a new one, and only beyond the root's bound one that
a conversation may want.
"""

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from paddock.core.errors import PaddockError
from paddock.core.ids import RESOLVE_SUFFIX
from paddock.core.tasks.conversations import NOWHERE, Homes
from paddock.core.upkeep.survey import SlotState
from paddock.git.checkpoints import Checkpoint
from paddock.git.disk import below_floor
from paddock.git.lock import Lock, hold
from paddock.git.worktrees.release import keep_if_foreign, make_idle
from paddock.git.worktrees.slots import (
    Slot,
    SlotRecord,
    WorktreeRoot,
    belongs_to,
    hold_claims,
    hold_if_free,
    hold_slot,
    next_slot,
    read_record,
    read_records,
    recall_slot,
    slot_of,
    write_record,
)

_PLACE_SECONDS = 120.0
_PLACE_PAUSE_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class WorktreeOrder:
    """What an attempt needs: its branch, beginning at the commit `start` (a full sha).

    `place` is the folder it has to be in, None for any; `homes` are the folders that others may come back to.
    """

    attempt: str
    branch: str
    start: str
    place: Path | None = None
    homes: Homes = NOWHERE


class PlaceTaken(PaddockError):
    """The folder an order insists on cannot be had."""


@dataclass(frozen=True, slots=True)
class Vacancy:
    """Whether a conversation can have its folder: `taken_by` is the attempt at work there, `lost` why it never can."""

    taken_by: str = ""
    lost: str = ""


def look_at_place(root: WorktreeRoot, place: Path) -> Vacancy:
    slot = slot_of(root, place)
    if slot is None:
        return Vacancy(lost=f"worktrees are in {root.path} now")
    record = read_record(slot)
    if record is None:
        occupied = os.path.lexists(slot.path)
        return Vacancy(lost="it contains something that is not Paddock's" if occupied else "")
    match record.state:
        case SlotState.KEPT:
            return Vacancy(lost=f"it is kept for you: {record.reason}")
        case SlotState.CLAIMED | SlotState.READY if record.attempt.endswith(RESOLVE_SUFFIX):
            return Vacancy(lost=f"{record.attempt.removesuffix(RESOLVE_SUFFIX)} is being resolved there")
        case SlotState.CLAIMED | SlotState.READY | SlotState.RETURNING:
            return Vacancy(taken_by=record.attempt)
        case _:
            return Vacancy()


@contextlib.contextmanager
def claim_slot(root: WorktreeRoot, order: WorktreeOrder, checkpoint: Checkpoint) -> Iterator[tuple[Slot, Lock]]:
    """The attempt's slot, recorded as its own, with the lock held."""
    root.repo.lead.require()
    give_up_at = time.monotonic() + _PLACE_SECONDS
    with contextlib.ExitStack() as stack:
        taken: tuple[Slot, Lock] | None = None
        while taken is None:
            with hold_claims(root) as claims:
                found = recall_slot(root, order.attempt)
                records = read_records(root) if found is None else []
                found = found or next((pair for pair in records if belongs_to(pair[1], order.attempt)), None)
                if found is None:
                    taken = _claim(root, order, records, claims, stack)
                    checkpoint("claimed")
            if found is not None and found[1].state is SlotState.RETURNING:
                _finish_return(root, found[0])
            elif found is not None:
                _check_claim(*found, order)
                taken = found[0], stack.enter_context(hold_slot(found[0]))
            elif taken is None:
                if time.monotonic() > give_up_at:
                    raise PlaceTaken(f"`{order.place}` is being prepared for the pool")
                time.sleep(_PLACE_PAUSE_SECONDS)
        yield taken


def check_room(root: WorktreeRoot) -> None:
    """PaddockError when a new worktree would go below the disk floor."""
    short = below_floor(root.path, root.floor)
    if short is not None:
        raise PaddockError(f"no room for a new worktree: {short}", "free space, for example with `paddock gc`")


def _claim(
    root: WorktreeRoot,
    order: WorktreeOrder,
    records: list[tuple[Slot, SlotRecord]],
    claims: Lock,
    stack: contextlib.ExitStack,
) -> tuple[Slot, Lock] | None:
    """None when it has to be a slot that somebody is making ready at this moment."""
    if order.place is not None:
        return _claim_place(root, order, order.place, stack)
    idle = [pair for pair in records if pair[1].state is SlotState.IDLE]
    lived_in = {*order.homes.due, *order.homes.kept}
    free = [pair for pair in idle if str(pair[0].path) not in lived_in]
    free.sort(key=lambda pair: pair[1].at != order.start)
    if (taken := _claim_idle(free, order, stack)) is not None:
        return taken
    by_path = {str(slot.path): (slot, record) for slot, record in idle}
    unlikely = [by_path[path] for path in order.homes.kept if path in by_path]
    if unlikely and (len(records) >= root.most or below_floor(root.path, root.floor) is not None):
        taken = _claim_idle(unlikely, order, stack)
    return taken or _claim_new(root, order, next_slot(root, claims, order.homes), stack)


def _claim_place(
    root: WorktreeRoot, order: WorktreeOrder, place: Path, stack: contextlib.ExitStack
) -> tuple[Slot, Lock] | None:
    vacancy, slot = look_at_place(root, place), slot_of(root, place)
    if vacancy.taken_by or vacancy.lost or slot is None:
        raise PlaceTaken(vacancy.lost or f"{vacancy.taken_by} is working there")
    if read_record(slot) is None:
        return _claim_new(root, order, slot, stack)
    with hold_if_free(slot) as lock:
        record = read_record(slot)
        if lock is not None and record is not None and record.state is SlotState.MAKING:
            make_idle(root, slot, record, lock)
    return _claim_idle([(slot, record)] if record is not None else [], order, stack)


def _finish_return(root: WorktreeRoot, slot: Slot) -> None:
    """An attempt that comes back while its old worktree is on the way to the pool waits for that to end."""
    with hold_slot(slot) as lock:
        record = read_record(slot)
        if record is not None and record.state is SlotState.RETURNING:
            make_idle(root, slot, record, lock)


def _check_claim(slot: Slot, record: SlotRecord, order: WorktreeOrder) -> None:
    if record.state not in (SlotState.CLAIMED, SlotState.READY):
        raise PaddockError(
            f"the worktree of attempt `{order.attempt}` was kept at `{slot.path}`: {record.reason}",
            "save what you need from there, then run `paddock gc --force`",
        )
    if (record.branch, record.start) != (order.branch, order.start):
        raise PaddockError(
            f"attempt `{order.attempt}` has a worktree on `{record.branch}` from `{record.start[:10]}`, "
            f"not on `{order.branch}` from `{order.start[:10]}`"
        )


def _claim_idle(
    idle: Sequence[tuple[Slot, SlotRecord]], order: WorktreeOrder, stack: contextlib.ExitStack
) -> tuple[Slot, Lock] | None:
    """The first that is still idle and that nobody holds."""
    for slot, _ in idle:
        with contextlib.ExitStack() as trying:
            lock = trying.enter_context(hold_if_free(slot))
            record = read_record(slot)
            if lock is None or record is None or record.state is not SlotState.IDLE:
                continue
            if keep_if_foreign(slot, record, lock):
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


def _claim_new(root: WorktreeRoot, order: WorktreeOrder, slot: Slot, stack: contextlib.ExitStack) -> tuple[Slot, Lock]:
    check_room(root)
    root.ports.block(slot.number)
    lock = stack.enter_context(hold(slot.lock_path))
    record = SlotRecord(SlotState.CLAIMED, attempt=order.attempt, branch=order.branch, start=order.start)
    write_record(slot, record, lock)
    return slot, lock
