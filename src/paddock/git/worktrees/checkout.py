"""The git side of a slot: making its enclosure, pointing it at a commit, cleaning it, and telling whether it is
ours."""

import contextlib
import os
import time
from pathlib import Path

import msgspec

from paddock.core.errors import PaddockError
from paddock.git.checkpoints import Checkpoint
from paddock.git.disk import remove_tree
from paddock.git.enclosure.enclosure import (
    Enclosure,
    identify,
    is_cut_as_the_users,
    is_still,
    make_control,
    sweep,
    switch,
)
from paddock.git.enclosure.residence import Residence, settle, shown_refs, user_wants_hooks
from paddock.git.enclosure.traps import remove_traps
from paddock.git.lock import Lock
from paddock.git.repo import ABSENT, Repo, branch_of
from paddock.git.settings import read_settings
from paddock.git.worktrees.slots import Slot, SlotRecord, WorktreeRoot, remember_repository, write_record

_INDEX_WORTH_SHARPENING_BYTES = 200_000  # some 2,000 files; reading fewer takes less than asking
_OPERATIONS = {
    "rebase-merge": "rebase",
    "rebase-apply/applying": "am",
    "rebase-apply": "rebase",
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "BISECT_LOG": "bisect",
}
# Not `--all`, which counts the HEAD of every worktree as a holder, also of the one about to be removed.
ALL_REFS = "--glob=refs/*"
KEPT = "refs/paddock/kept"


class NotOurs(PaddockError):
    """What is at a slot's place is not what we made there: nothing of it is touched."""


def is_made(root: WorktreeRoot, slot: Slot, record: SlotRecord) -> bool:
    """Whether there is a worktree that can be brought to a commit; False where it has to be made.

    Raises NotOurs where something else is in its place.
    """
    require_ours(slot, record)
    enclosure = root.enclosure(slot)
    if not record.tree or not record.control or not slot.path.is_dir():
        return False
    return bool(enclosure.head()) and is_cut_as_the_users(enclosure, read_settings(root.repo.common_dir).render())


def require_ours(slot: Slot, record: SlotRecord) -> None:
    """Raises NotOurs where the worktree, or what we keep of it, is there and not the folder that was made."""
    for folder, identity in ((slot.path, record.tree), (slot.home / "control", record.control)):
        if identity and os.path.lexists(folder) and not is_still(folder, identity):
            raise NotOurs(
                f"`{folder}` is not the folder that Paddock made: nothing in it is touched",
                "move it away, save what you need from it, then run `paddock gc --force`",
            )


def make(root: WorktreeRoot, slot: Slot, record: SlotRecord, lock: Lock, checkpoint: Checkpoint) -> SlotRecord:
    """An empty worktree, and its record; whatever is left of an earlier try goes first."""
    clear(root.repo, slot, record)
    remember_repository(root)
    slot.path.mkdir(parents=True)
    enclosure = root.enclosure(slot)
    make_control(enclosure, read_settings(root.repo.common_dir).render())
    made = msgspec.structs.replace(
        record, tree=identify(slot.path), control=identify(enclosure.control), own=0, at="", setup_at=""
    )
    write_record(slot, made, lock)
    checkpoint("added")
    return made


def clear(repo: Repo, slot: Slot, record: SlotRecord) -> None:
    """Delete the worktree and its git directories. Raises NotOurs where something else is in its place."""
    require_ours(slot, msgspec.structs.replace(record, control=0))
    for folder in (slot.path, slot.home / "repo", slot.home / "control"):
        remove_tree(folder)
    if not record.tree:
        forget_link(repo, slot.path)


def check_out(enclosure: Enclosure, commit: str, lock: Lock) -> None:
    """Make the tracked files those of `commit`, whatever state the worktree is in."""
    switch(enclosure, commit, lock.inherit)


def bring_to(enclosure: Enclosure, commit: str, lock: Lock) -> bool:
    """check_out, and remove untracked files (ignored ones stay); False when nothing of it was needed."""
    remove_traps(enclosure.tree)
    told = enclosure.git(
        *("status", "--porcelain=v2", "-z", "--untracked-files=normal", "--ignore-submodules=dirty"), check=False
    )
    is_dirty = not told.ok or bool(told.records)
    if not is_dirty and enclosure.head() == commit:
        return False
    check_out(enclosure, commit, lock)
    if is_dirty:
        sweep(enclosure, lock.inherit, "-ffdq")
    return True


def sharpen_index(enclosure: Enclosure, lock: Lock) -> None:
    """Spare the next `git status` from reading every file.

    Git without sub-second timestamps distrusts what it wrote in the same second as the index, which is most of
    a fresh checkout, until the index is written again in a later second.
    """
    with contextlib.suppress(FileNotFoundError):
        index = enclosure.index.stat()
        if index.st_size < _INDEX_WORTH_SHARPENING_BYTES:
            return
        time.sleep(min(1.0, max(0.0, int(index.st_mtime) + 1 - time.time())))
        enclosure.git("update-index", "-q", "--refresh", "--force-write-index", check=False, inherit=lock.inherit)


def move_in(root: WorktreeRoot, slot: Slot, record: SlotRecord, commit: str) -> SlotRecord:
    """Give the worktree, which is at `commit`, a git directory for who works in it: on the record's branch if it has
    one."""
    settings = read_settings(root.repo.common_dir)
    enclosure = root.enclosure(slot)
    plan = Residence(
        commit, record.branch, settings.render_for_others(), shown_refs(root.repo), hooks=user_wants_hooks(settings)
    )
    given = settle(enclosure, plan)
    return msgspec.structs.replace(record, own=identify(enclosure.own), given=given)


def clean(enclosure: Enclosure, keep: tuple[str, ...], lock: Lock) -> None:
    """Remove every file git does not track, except ignored ones whose name is in `keep`."""
    kept = [part for name in keep for part in ("-e", name)]
    sweep(enclosure, lock.inherit, "-ffdxq", *kept)
    if keep:  # what has a kept name without being ignored
        sweep(enclosure, lock.inherit, "-ffdq")


def operation_in_progress(git_dir: Path) -> str | None:
    """merge, rebase, am, cherry-pick, revert or bisect; None when there is none."""
    return next((name for sign, name in _OPERATIONS.items() if os.path.lexists(git_dir / sign)), None)


def branch_user(repo: Repo, branch: str) -> Path | None:
    """The working tree of a person that has `branch` checked out, None when none has."""
    if repo.main is not None and branch_of(repo.common_dir) == branch:
        return repo.main
    for admin in linked_worktrees(repo):
        with contextlib.suppress(OSError):
            if branch_of(admin) == branch:
                return worktree_of(admin)
    return None


def linked_worktrees(repo: Repo) -> list[Path]:
    """The git directories of worktrees that `git worktree add` has made."""
    try:
        return sorted((repo.common_dir / "worktrees").iterdir())
    except FileNotFoundError:
        return []


def worktree_of(admin: Path) -> Path | None:
    """Where the worktree of a git directory is, or was; None when that is not recorded."""
    try:
        back = (admin / "gitdir").read_text(errors="surrogateescape").rstrip("\n")
    except OSError:
        return None
    return (admin / back).parent.resolve() if back else None


def is_loose(repo: Repo, commit: str, besides: str = "") -> bool:
    """Whether no ref (other than `besides`) holds `commit`."""
    others = (f"--exclude={besides}",) if besides else ()
    return repo.git("rev-list", "-n", "1", commit, "--not", *others, ALL_REFS).stdout != b""


def hold_commit(repo: Repo, commit: str, label: str) -> str:
    """Hold `commit` by a ref of its own under refs/paddock/kept; returns the ref."""
    ref = f"{KEPT}/{label}/{commit[:12]}"
    if not repo.update_ref(ref, commit, ABSENT) and repo.refs(ref).get(ref) != commit:
        raise PaddockError(f"`{ref}` already holds a commit other than `{commit}`")
    return ref


def require_room_for(repo: Repo, branch: str) -> None:
    """PaddockError where git could never make the branch."""
    for parent in Path(branch).parents:
        ref = f"refs/heads/{parent}"
        if str(parent) != "." and (repo.common_dir / ref).is_file():
            raise PaddockError(
                f"branch `{branch}` cannot exist beside the branch `{parent}`",
                f"rename that one: `git branch -m {parent} {parent}-old`",
            )


def linked_to(repo: Repo, worktree: Path) -> Path | None:
    """Git's directory for a worktree it has made, where both sides say so; None for any other folder."""
    found = [admin for admin in linked_worktrees(repo) if worktree_of(admin) == worktree.resolve()]
    return found[0] if len(found) == 1 else None


def forget_link(repo: Repo, worktree: Path) -> None:
    """For who has made sure that nothing of value is in it."""
    admin = linked_to(repo, worktree)
    if admin is not None:
        remove_tree(admin)
