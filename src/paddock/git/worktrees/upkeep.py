"""Worktrees nobody needs any more: looking at what there is, and doing away with what was judged so.

Every removal looks again first, under the slot's lock. Commits get a ref and dirty files a rescue commit before
anything goes. Worktrees that are not Paddock's are never seen.
"""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from paddock.core.errors import PaddockError
from paddock.core.upkeep.findings import ForgetEntry, RemoveWorktree, ReturnWorktree, WorktreeRemedy
from paddock.core.upkeep.survey import EntrySeen, SlotState, WorktreeSeen
from paddock.git.checkpoints import Checkpoint, no_checkpoint
from paddock.git.disk import disk_usage, remove_tree
from paddock.git.lock import Lock
from paddock.git.repo import Repo, branch_of, run_git
from paddock.git.worktrees.checkout import admin_dir, all_admin_dirs, hold_commit, is_loose, worktree_of
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


def look_at_entries(root: WorktreeRoot) -> tuple[EntrySeen, ...]:
    """Git's entries for worktrees below our root whose folder is gone and that no slot accounts for."""
    now = time.time()
    slots = {slot.path.resolve() for slot in list_slots(root)}
    home = root.path.resolve()
    found = []
    for admin in all_admin_dirs(root.repo):
        worktree = worktree_of(admin)
        if worktree is not None and worktree.parent == home and worktree not in slots and not worktree.exists():
            # Gone meanwhile: whoever makes its worktree again has removed it.
            with contextlib.suppress(FileNotFoundError):
                found.append(EntrySeen(str(admin), now - admin.stat().st_mtime))
    return tuple(found)


def measure_worktree(root: WorktreeRoot, remedy: RemoveWorktree | ForgetEntry) -> int:
    """The bytes that would be freed."""
    if isinstance(remedy, ForgetEntry):
        return disk_usage(Path(remedy.path))
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
        case ForgetEntry(path=path):
            return _forget(root, Path(path))


def _saved(released: Released) -> list[str]:
    if released.kept:
        raise PaddockError(released.kept)
    rescued = released.rescued
    return [*([rescued.ref] if rescued is not None and rescued.commit is not None else []), *released.held]


def _remove(root: WorktreeRoot, slot: Slot, seen: RemoveWorktree, checkpoint: Checkpoint) -> list[str]:
    with _hold_as_seen(root, slot, seen) as (record, lock):
        refs: list[str] = []
        if record is not None and record.state in (SlotState.CLAIMED, SlotState.READY):
            refs += _saved(give_back(root, slot, record, lock, "its attempt was over", checkpoint))
        elif record is None or record.state is SlotState.KEPT:
            refs += _save_what_can_be(root, slot, record)
        refs += _hold_head(root.repo, slot.path, f"w{slot.number}")
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
        record = read_record(slot)
        state, attempt = (record.state, record.attempt) if record is not None else (None, "")
        if (state, attempt, os.path.lexists(slot.path)) != (seen.state, seen.attempt, seen.present):
            raise ChangedMeanwhile
        yield record, lock


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
    return _saved(Released(slot.number, rescued, held))


def _forget(root: WorktreeRoot, admin: Path) -> list[str]:
    if not any(entry.path == str(admin) for entry in look_at_entries(root)):
        raise ChangedMeanwhile
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
