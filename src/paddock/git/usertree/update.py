"""Bringing one working tree from the main it shows to main, without touching uncommitted work.

Git makes the new index and the new files in a folder of ours, so filters, attributes and sparse checkouts are
its business; the files are then put in place under the index lock, one by one, each after a look at what it replaces.
"""

import contextlib
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from paddock.core.catchup import PathFacts, Todo, is_gitlink, judge_paths
from paddock.core.errors import PaddockError
from paddock.core.ids import recordable
from paddock.git.checkpoints import Checkpoint, no_checkpoint
from paddock.git.command import GitFailed, GitKilled
from paddock.git.usertree.facts import TreeFacts, read_facts
from paddock.git.usertree.places import UserTree, fingerprint
from paddock.git.usertree.stage import InTheWay, Item, TreeStage
from paddock.git.usertree.versions import ENTER_VERSIONS, index_rows

_PAUSES_SECONDS = (0.05, 0.25, 1.0)
"""Before what a killed git did not prepare is tried again. Whoever lands waits for it."""
IN_THE_WAY = "your uncommitted work is in the way"


@dataclass(frozen=True, slots=True)
class LeftAlone:
    """Nothing was touched, and why; `files` are the user's that are in the way, as can be written down."""

    reason: str
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UpToDate:
    """The tree shows main; `wrote` is how many files had to be changed for that."""

    wrote: int = 0


@dataclass
class PreparedUpdate:
    """All is ready in the stage. `take` and then `place`, or `drop`."""

    stage: TreeStage
    items: tuple[Item, ...]
    index_seen: tuple[int, int, int] | None

    def take(self) -> LeftAlone | None:
        """Locks the index, and sees that it is still the one prepared for; drops everything where it is not."""
        tree, refused = self.stage.tree, "another git command holds its index.lock"
        if self.stage.lock_index():
            self.stage.checkpoint("sync.locked")
            changed = tree.index_identity() != self.index_seen
            refused = tree.obstacle() or ("its index changed meanwhile" if changed else "")
        if not refused:
            return None
        self.drop()
        return LeftAlone(refused)

    def place(self) -> UpToDate | LeftAlone:
        """Under the index lock: the files, then the index. Whatever goes wrong leaves the tree as it was."""
        tree = self.stage.tree
        try:
            self.stage.place(self.items)
            with contextlib.suppress(GitKilled):  # it only spares the next git from reading the files
                tree.git("update-index", "-q", "--refresh", "--ignore-submodules", index=self.stage.index, check=False)
            self.stage.checkpoint("sync.refreshed")
            self.stage.commit_index()
        except InTheWay as busy:
            return LeftAlone(IN_THE_WAY, (recordable(busy.path),))
        except (OSError, PaddockError) as error:
            return LeftAlone(str(error))
        finally:
            self.stage.close()
        return UpToDate(len(self.items))

    def drop(self) -> None:
        self.stage.close()


def prepare_update(
    tree: UserTree,
    at: str,
    new: str,
    checkpoint: Checkpoint = no_checkpoint,
    saved: Mapping[str, str | None] | None = None,
) -> PreparedUpdate | UpToDate | LeftAlone:
    """Everything that can be done before the index is locked.

    Paths in `saved` may be replaced as long as their fingerprint is the one given there.
    """
    if reason := tree.obstacle():
        return LeftAlone(reason)
    stage = TreeStage(tree, checkpoint)
    for pause in (*_PAUSES_SECONDS, None):
        try:
            stage.open()
            prepared = _prepare(stage, at, new, saved or {})
            break
        except (OSError, GitFailed, GitKilled) as error:
            with contextlib.suppress(OSError):
                stage.close()
            if pause is None or not isinstance(error, GitKilled):
                return LeftAlone(str(error))
            time.sleep(pause)
    if not isinstance(prepared, PreparedUpdate):
        stage.close()
    checkpoint("sync.prepared")
    return prepared


def update_tree(
    tree: UserTree,
    at: str,
    new: str,
    checkpoint: Checkpoint = no_checkpoint,
    saved: Mapping[str, str | None] | None = None,
) -> UpToDate | LeftAlone:
    """All of it, for a main that has moved already."""
    prepared = prepare_update(tree, at, new, checkpoint, saved)
    return prepared.take() or prepared.place() if isinstance(prepared, PreparedUpdate) else prepared


def clashing_paths(tree: UserTree, at: str, new: str) -> tuple[TreeFacts, tuple[str, ...]]:
    """What the tree has, and the paths at which uncommitted work is in the way. Nothing stays written."""
    stage = TreeStage(tree, no_checkpoint)
    stage.open()
    try:
        _copy_index(tree, stage.index)
        facts = read_facts(tree, stage.index, at, new)
    finally:
        stage.close()
    todo = judge_paths(facts.paths)
    return facts, tuple(path for path, what in todo.items() if what is Todo.CLASH)


def _prepare(
    stage: TreeStage, at: str, new: str, saved: Mapping[str, str | None]
) -> PreparedUpdate | UpToDate | LeftAlone:
    tree = stage.tree
    seen = _copy_index(tree, stage.index)
    facts = read_facts(tree, stage.index, at, new)
    if facts.unmerged:
        return LeftAlone("its index has unmerged paths", tuple(map(recordable, facts.unmerged)))
    todo = judge_paths(facts.paths)
    todo |= {path: Todo.WRITE for path, known in saved.items() if path in todo and facts.prints[path] == known}
    if clashes := _name_clashes(facts, todo):
        return LeftAlone(IN_THE_WAY, clashes)
    if all(what is Todo.NOTHING for what in todo.values()):
        return UpToDate()
    hidden = _hidden(stage)
    _make_index(stage, facts, todo, saved, at, new)
    changed = {one.path for one in facts.paths}
    if hidden - changed != _hidden(stage) - changed:
        return LeftAlone("its sparse checkout does not match its patterns; run `git sparse-checkout reapply` first")
    items = [_item(stage, one, facts.prints[one.path]) for one in facts.paths if todo[one.path] is Todo.WRITE]
    return PreparedUpdate(stage, tuple(item for item in items if item is not None), seen)


def _copy_index(tree: UserTree, copy: Path) -> tuple[int, int, int] | None:
    """Git replaces an index whole, so one that has the same identity before and after was copied whole."""
    for _ in range(10):
        seen = tree.index_identity()
        if seen is not None:
            shutil.copy2(tree.index, copy)
        if tree.index_identity() == seen:
            return seen
    raise OSError("its index keeps changing")


def _name_clashes(facts: TreeFacts, todo: dict[str, Todo]) -> tuple[str, ...]:
    names = (
        name for path, what in todo.items() if what is Todo.CLASH for name in facts.blocked_by.get(path) or (path,)
    )
    return tuple(dict.fromkeys(map(recordable, names)))


def _hidden(stage: TreeStage) -> set[str]:
    if stage.tree.git("config", "--type=bool", "--get", "core.sparseCheckout", check=False).text != "true":
        return set()
    told = stage.tree.git("ls-files", "-t", "-z", index=stage.index).records
    return {record[2:] for record in told if record.startswith("S ")}


def _make_index(
    stage: TreeStage, facts: TreeFacts, todo: dict[str, Todo], saved: Mapping[str, str | None], at: str, new: str
) -> None:
    """The index of `new` with the user's staged work carried over, and every file it takes, in the stage."""
    tree = stage.tree
    if reset := [one for one in facts.paths if one.path in saved and one.staged != one.old]:
        rows = index_rows({one.path: one.old for one in reset})
        tree.git(*ENTER_VERSIONS, index=stage.index, input=rows)
    tree.git("read-tree", "-m", "-u", at, new, index=stage.index, work=stage.new)
    missing = [
        one.path
        for one in facts.paths
        if todo[one.path] is Todo.WRITE and one.staged == one.new and one.new is not None and one.path not in saved
    ]
    if missing:
        listed = b"".join(os.fsencode(path) + b"\0" for path in missing)
        tree.git("checkout-index", "-q", "-z", "--stdin", index=stage.index, work=stage.new, input=listed)


def _item(stage: TreeStage, one: PathFacts, before: str | None) -> Item | None:
    """What happens on disk, None for nothing. A submodule's folder is made, and otherwise left alone."""
    if is_gitlink(one.old) and (one.new is None or is_gitlink(one.new)):
        return None
    if before == "folder":
        before = None
    after = fingerprint(stage.new / one.path)
    if before is None and (after is None or (is_gitlink(one.new) and (stage.tree.path / one.path).exists())):
        return None
    return Item(os.fsencode(one.path), before, after, is_folder=after == "folder")
