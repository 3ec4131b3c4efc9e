"""Slots that an older Paddock made with `git worktree add`: given a git directory of their own where they stand.

Their commits are among the user's objects already. HEAD, its reflog and the index move to the new directory, so whoever
works there goes on; git's entry for the worktree is removed, once a ref has the commit.
"""

import os
import shutil

import msgspec

from paddock.core.upkeep.survey import SlotState
from paddock.git.disk import remove_tree
from paddock.git.enclosure.enclosure import identify, make_control
from paddock.git.lock import Lock
from paddock.git.settings import read_settings
from paddock.git.worktrees.checkout import (
    hold_commit,
    is_loose,
    linked_to,
    move_in,
)
from paddock.git.worktrees.slots import Slot, SlotRecord, WorktreeRoot, remember_repository, write_record

_LIVED_IN = (SlotState.READY, SlotState.KEPT)
_CARRIED = ("logs", "modules", "MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "CHERRY_PICK_HEAD", "REVERT_HEAD")


def adopt(root: WorktreeRoot, slot: Slot, record: SlotRecord, lock: Lock) -> SlotRecord:
    """The record of a slot as slots are now; the same where it is one already. May be killed anywhere and done
    again."""
    if record.tree or record.state not in _LIVED_IN or slot.path.is_symlink() or not slot.path.is_dir():
        return record
    admin = linked_to(root.repo, slot.path)
    if admin is None:
        return record
    head = root.repo.git(f"--git-dir={admin}", "rev-parse", "--verify", "--quiet", "HEAD^{commit}", check=False)
    commit = head.text if head.ok else record.start
    if head.ok and is_loose(root.repo, commit):
        hold_commit(root.repo, commit, record.attempt or slot.path.name)
    remember_repository(root)
    enclosure = root.enclosure(slot)
    remove_tree(enclosure.control)
    make_control(enclosure, read_settings(root.repo.common_dir).render())
    shutil.copy2(admin / "index", enclosure.index)
    made = msgspec.structs.replace(record, tree=identify(slot.path), control=identify(enclosure.control))
    made = move_in(root, slot, made, commit)
    for name in _CARRIED:
        if os.path.lexists(admin / name):
            os.rename(admin / name, enclosure.own / name)
    made = msgspec.structs.replace(made, placed=(commit,), taken=commit)
    write_record(slot, made, lock)
    remove_tree(admin)
    return made
