"""Clean-up in two steps: a plan that only looks, and its application, which looks again before every removal."""

import enum
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from paddock.core.errors import PaddockError
from paddock.core.tasks.conversations import NOWHERE, Homes
from paddock.git.disk import disk_usage, remove_tree
from paddock.git.repo import Repo, branch_of, run_git
from paddock.git.worktrees.checkout import admin_dir, all_admin_dirs, hold_commit, is_loose, worktree_of
from paddock.git.worktrees.furnish import Checkpoint, no_checkpoint
from paddock.git.worktrees.release import give_back, remove_slot, secure
from paddock.git.worktrees.slots import (
    Slot,
    SlotRecord,
    SlotState,
    WorktreeRoot,
    hold_if_free,
    list_slots,
    read_record,
    slot_at,
)

_HALF_MADE_SECONDS = 3600.0  # `git worktree add` takes milliseconds between its first file and its last


class Waste(enum.Enum):
    SURPLUS = "surplus"  # idle, beyond what the pool needs
    ABANDONED = "abandoned"  # its attempt is over
    HALF_MADE = "half_made"  # left by a process that died
    UNREGISTERED = "unregistered"  # git's entry for a worktree of ours whose folder is gone
    KEPT = "kept"  # holds what could not be saved; goes only when asked for by force


@dataclass(frozen=True, slots=True)
class GcItem:
    waste: Waste
    path: Path  # the worktree, or git's entry for it
    size_bytes: int
    slot: int | None = None
    attempt: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class GcPlan:
    items: tuple[GcItem, ...] = ()

    @property
    def size_bytes(self) -> int:
        return sum(item.size_bytes for item in self.items)


@dataclass(frozen=True, slots=True)
class GcReport:
    freed_bytes: int = 0
    removed: tuple[GcItem, ...] = ()
    spared: tuple[tuple[GcItem, str], ...] = ()  # and why
    rescued: tuple[str, ...] = ()  # refs that now hold what was found


def plan_gc(
    root: WorktreeRoot, live: Collection[str], idle: int, *, force: bool = False, homes: Homes = NOWHERE
) -> GcPlan:
    """What may go: worktrees of attempts not in `live`, all but `idle` idle ones, remains of crashes.

    Worktrees that are not Paddock's are never in a plan. `force` adds those kept for a human and those that a
    conversation may come back to; such a one is made again where it was.
    """
    items: list[GcItem] = []
    spared = set() if force else {*homes.due, *homes.kept}
    spare = 0
    for slot in list_slots(root):
        record = read_record(slot)
        if record is not None and record.state is SlotState.IDLE:
            if str(slot.path) in spared:
                continue
            spare += 1
            if spare <= idle:
                continue
        waste = _judge(slot, record, live, force=force)
        if waste is not None:
            attempt, reason = (record.attempt, record.reason) if record else ("", "")
            size = disk_usage(slot.path) + disk_usage(slot.home)
            items.append(GcItem(waste, slot.path, size, slot.number, attempt, reason))
    items += [GcItem(Waste.UNREGISTERED, admin, disk_usage(admin)) for admin in _lost_admin_dirs(root)]
    return GcPlan(tuple(items))


def apply_gc(root: WorktreeRoot, plan: GcPlan, checkpoint: Checkpoint = no_checkpoint) -> GcReport:
    """Remove what `plan` lists, if it is still as planned. Commits get a ref, dirty files a rescue commit first."""
    removed: list[GcItem] = []
    spared: list[tuple[GcItem, str]] = []
    rescued: list[str] = []
    for item in plan.items:
        try:
            if item.slot is None:
                rescued += _remove_admin(root, item.path)
            else:
                rescued += _remove_item(root, item, slot_at(root, item.slot), checkpoint)
            removed.append(item)
        except (PaddockError, OSError) as error:
            spared.append((item, str(error)))
        checkpoint("item-done")
    return GcReport(sum(item.size_bytes for item in removed), tuple(removed), tuple(spared), tuple(rescued))


def _judge(slot: Slot, record: SlotRecord | None, live: Collection[str], *, force: bool) -> Waste | None:
    if record is None:
        return Waste.HALF_MADE if not slot.path.exists() else (Waste.KEPT if force else None)
    match record.state:
        case SlotState.IDLE:
            return Waste.SURPLUS
        case SlotState.MAKING | SlotState.RETURNING:
            with hold_if_free(slot) as lock:
                return Waste.HALF_MADE if lock is not None else None
        case SlotState.KEPT:
            return Waste.KEPT if force and record.attempt not in live else None
        case SlotState.CLAIMED | SlotState.READY:
            return Waste.ABANDONED if record.attempt not in live else None


def _remove_item(root: WorktreeRoot, item: GcItem, slot: Slot, checkpoint: Checkpoint) -> list[str]:
    with hold_if_free(slot) as lock:
        if lock is None:
            raise PaddockError("it is in use, or gone already")
        record = read_record(slot)
        if _judge_again(slot, record) is not item.waste or (record is not None and record.attempt != item.attempt):
            raise PaddockError("it has changed since it was planned")
        refs: list[str] = []
        if item.waste is Waste.ABANDONED and record is not None:
            released = give_back(root, slot, record, lock, "its attempt was over", checkpoint)
            if released.kept:
                raise PaddockError(released.kept)
            if released.rescued is not None and released.rescued.commit is not None:
                refs.append(released.rescued.ref)
            refs += released.held
        if item.waste is Waste.KEPT:
            refs += _save_what_can_be(root, slot, record)
        refs += _hold_head(root.repo, slot.path, f"w{slot.number}")
        checkpoint("held")
        remove_slot(root, slot, lock)
        return refs


def _save_what_can_be(root: WorktreeRoot, slot: Slot, record: SlotRecord | None) -> list[str]:
    """A human gave up the rest. Without a record the branch is the one the worktree is on."""
    if record is None:
        admin = admin_dir(root.repo, slot.path)
        branch = (branch_of(admin) if admin else None) or f"paddock/lost-w{slot.number}"
        record = SlotRecord(SlotState.KEPT, attempt=f"w{slot.number}", branch=branch)
    try:
        rescued, held = secure(root, slot, record, "its worktree was removed by force")
    except (PaddockError, OSError):
        return []
    return [*([rescued.ref] if rescued is not None and rescued.commit else []), *held]


def _judge_again(slot: Slot, record: SlotRecord | None) -> Waste:
    """As `_judge`, for who holds the lock; whether the attempt is live was the caller's knowledge."""
    if record is None:
        return Waste.KEPT if slot.path.exists() else Waste.HALF_MADE
    return {
        SlotState.IDLE: Waste.SURPLUS,
        SlotState.MAKING: Waste.HALF_MADE,
        SlotState.RETURNING: Waste.HALF_MADE,
        SlotState.KEPT: Waste.KEPT,
        SlotState.CLAIMED: Waste.ABANDONED,
        SlotState.READY: Waste.ABANDONED,
    }[record.state]


def _lost_admin_dirs(root: WorktreeRoot) -> list[Path]:
    """Git's entries for worktrees below our root whose folder is gone and that no slot accounts for."""
    now = time.time()
    slots = {slot.path.resolve() for slot in list_slots(root)}
    home = root.path.resolve()
    found = []
    for admin in all_admin_dirs(root.repo):
        worktree = worktree_of(admin)
        ours = worktree is not None and worktree.parent == home and worktree not in slots
        if ours and worktree is not None and not worktree.exists() and now - _modified(admin, now) > _HALF_MADE_SECONDS:
            found.append(admin)
    return found


def _modified(admin: Path, now: float) -> float:
    """`now` when it is gone meanwhile: whoever makes its worktree again has removed it."""
    try:
        return admin.stat().st_mtime
    except FileNotFoundError:
        return now


def _remove_admin(root: WorktreeRoot, admin: Path) -> list[str]:
    if admin not in _lost_admin_dirs(root):
        raise PaddockError("it has changed since it was planned")
    if (admin / "modules").is_dir():
        raise PaddockError("it holds the commits of submodules")
    refs = _hold_head(root.repo, admin, admin.name)
    remove_tree(admin)
    return refs


def _hold_head(repo: Repo, directory: Path, label: str) -> list[str]:
    """A ref for the commit at HEAD when no other ref has it; nothing when there is no such commit."""
    is_admin = directory.parent == repo.common_dir / "worktrees"
    if not is_admin and admin_dir(repo, directory) is None:
        return []
    where = (f"--git-dir={directory}",) if is_admin else ()
    head = run_git(directory, *where, "rev-parse", "--verify", "--quiet", "HEAD^{commit}", check=False)
    if not head.ok:
        return []
    return [hold_commit(repo, head.text, label)] if is_loose(repo, head.text) else []
