"""A merge in a worktree, begun for the person who is to resolve it: ours does it, the worktree's own directory has
it."""

import os
import shutil
from pathlib import Path

from paddock.core.errors import PaddockError
from paddock.git.enclosure.enclosure import Enclosure
from paddock.git.worktrees.checkout import branch_user
from paddock.git.worktrees.delivery import enclosure_of, import_head
from paddock.git.worktrees.rescue import dirty_files, unmerged_in
from paddock.git.worktrees.slots import Slot, SlotRecord, WorktreeRoot, hold_attempt

_STATE = ("MERGE_HEAD", "MERGE_MODE", "MERGE_MSG", "AUTO_MERGE")


def require_free(root: WorktreeRoot, branch: str) -> None:
    """PaddockError where a person has the branch checked out: what is resolved elsewhere could not move it."""
    user = branch_user(root.repo, branch)
    if user is not None:
        raise PaddockError(
            f"branch `{branch}` is checked out at `{user}`", "switch that worktree to another branch, or remove it"
        )


def begin_merge(root: WorktreeRoot, attempt: str, commit: str) -> tuple[str, ...]:
    """Merge `commit` into the attempt's worktree, unless a merge is under way there. Returns the paths that
    conflict."""
    with hold_attempt(root, attempt) as held:
        if held is None:
            raise PaddockError(f"`{attempt}` has no worktree")
        slot, record, _ = held
        enclosure = enclosure_of(root, slot, record)
        if not os.path.lexists(enclosure.own / "MERGE_HEAD"):
            _merge(enclosure, slot, record, commit)
        return unmerged_in(enclosure)


def _merge(enclosure: Enclosure, slot: Slot, record: SlotRecord, commit: str) -> None:
    head = import_head(enclosure, record)
    dirty_files(enclosure, head)
    enclosure.git("merge", "--quiet", "--no-edit", commit, check=False)
    for name in _STATE:
        if (enclosure.control / name).exists():
            os.replace(enclosure.control / name, enclosure.own / name)
    if enclosure.head() != head:
        _put(slot.home / "ref.new", enclosure.own / "refs" / "heads" / record.branch, f"{enclosure.head()}\n")
    shutil.copy2(enclosure.index, slot.home / "index.new")
    os.replace(slot.home / "index.new", enclosure.own / "index")


def _put(draft: Path, target: Path, text: str) -> None:
    draft.write_text(text)
    target.parent.mkdir(parents=True, exist_ok=True)
    os.replace(draft, target)
