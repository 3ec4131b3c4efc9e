"""Checkouts of main follow it: while it is being moved, and afterwards for those that could not at once.

While main moves, every checkout's index is locked: a `git commit` in that moment is refused by git instead of taking
back what has just landed.
"""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field

from paddock.core.errors import PaddockError
from paddock.core.lead import Succeeded
from paddock.git.checkpoints import Checkpoint, no_checkpoint
from paddock.git.repo import Repo
from paddock.git.usertree.notes import CheckoutNotes, StaleTree, hold_checkouts, read_notes, write_notes
from paddock.git.usertree.places import UserTree, trees_on
from paddock.git.usertree.stage import TreeStage
from paddock.git.usertree.undone import notice_undone
from paddock.git.usertree.update import LeftAlone, PreparedUpdate, UpToDate, prepare_update, update_tree

READY = "nothing is in the way"


@dataclass
class Following:
    """The checkouts of a main that is about to move from `old` to `new`. `follow` once it has."""

    notes: CheckoutNotes
    new: str = ""
    ready: list[PreparedUpdate] = field(default_factory=list)
    left: list[tuple[UserTree, LeftAlone]] = field(default_factory=list)

    def follow(self) -> None:
        for prepared in self.ready:
            tree = prepared.stage.tree
            result = prepared.place()
            if isinstance(result, LeftAlone):
                self.left.append((tree, result))
            else:
                self.notes = self.notes.without_stale(tree.path)
        self.ready.clear()
        for tree, why in self.left:
            at = self.notes.stale_at(tree.path)
            assert at is not None
            self.notes = self.notes.with_stale(_entry(tree, at.at, self.new, why))
        self.left.clear()


@contextlib.contextmanager
def following(
    repo: Repo, branch: str, old: str, new: str, *, update: bool, checkpoint: Checkpoint
) -> Iterator[Following]:
    """Everything is prepared and locked inside; what was not followed is as it was before. Never keeps main back."""
    trees = trees_on(repo, branch)
    if not trees:
        yield Following(CheckoutNotes())
        return
    with hold_checkouts(repo):
        repo.lead.require()
        before = notice_undone(repo, branch, read_notes(repo))
        held = Following(before, new)
        for tree in trees:
            known = held.notes.stale_at(tree.path)
            claim = StaleTree(os.fsencode(tree.path), known.at if known else old, new, "main is being moved")
            held.notes = held.notes.with_stale(claim)
        write_notes(repo, held.notes)
        checkpoint("sync.claimed")
        kept = before
        try:
            for tree in trees:
                _hold_tree(held, tree, checkpoint, update=update)
            checkpoint("sync.held")
            yield held
            if not held.ready and not held.left:
                kept = held.notes
        except Succeeded:
            # Main may have been moved. What was claimed stays so, as if we had died: whoever leads now looks at it.
            kept = held.notes
            raise
        finally:
            for prepared in held.ready:
                prepared.drop()
            write_notes(repo, kept)
        checkpoint("sync.followed")


def _hold_tree(held: Following, tree: UserTree, checkpoint: Checkpoint, *, update: bool) -> None:
    entry = held.notes.stale_at(tree.path)
    assert entry is not None
    prepared = prepare_update(tree, entry.at, held.new, checkpoint) if update else LeftAlone(READY)
    if isinstance(prepared, PreparedUpdate):
        prepared = prepared.take() or prepared
    if isinstance(prepared, PreparedUpdate):
        held.ready.append(prepared)
    elif isinstance(prepared, LeftAlone):
        held.left.append((tree, prepared))
    else:
        held.notes = held.notes.without_stale(tree.path)


@dataclass(frozen=True, slots=True)
class TreeReport:
    """How one checkout of main stands now: `result` is what was done about it."""

    tree: UserTree
    at: str
    main: str
    result: UpToDate | LeftAlone

    @property
    def is_current(self) -> bool:
        return isinstance(self.result, UpToDate)


def catch_up(
    repo: Repo,
    branch: str,
    *,
    update: bool = True,
    checkpoint: Checkpoint = no_checkpoint,
    timeout_seconds: float = 60.0,
) -> tuple[TreeReport, ...]:
    """Brings every checkout that is known to show an older main up to date, if `update`; else only looks.

    Also puts right what a process that was killed left behind. An index that merely looks like an older main is left
    alone: it may be what somebody has staged.
    """
    main = repo.resolve(f"refs/heads/{branch}")
    if main is None:
        return ()
    trees = trees_on(repo, branch)
    with hold_checkouts(repo, timeout_seconds):
        repo.lead.require()
        notes = notice_undone(repo, branch, read_notes(repo))
        reports = []
        for tree in trees:
            TreeStage(tree, checkpoint).recover()
            known = notes.stale_at(tree.path)
            if known is None or known.at == main:
                notes = notes.without_stale(tree.path)
                reports.append(TreeReport(tree, main, main, UpToDate()))
                continue
            result = (update_tree if update else _look_at_tree)(tree, known.at, main, checkpoint)
            reports.append(TreeReport(tree, known.at, main, result))
            if isinstance(result, UpToDate):
                notes = notes.without_stale(tree.path)
            else:
                notes = notes.with_stale(_entry(tree, known.at, main, result))
        paths = {os.fsencode(tree.path) for tree in trees}
        for entry in notes.stale:
            if entry.path not in paths:
                notes = notes.without_stale(entry.folder)
        write_notes(repo, notes)
    return tuple(reports)


def _look_at_tree(tree: UserTree, at: str, main: str, checkpoint: Checkpoint) -> UpToDate | LeftAlone:
    """What `update_tree` would do, with nothing done."""
    prepared = prepare_update(tree, at, main, checkpoint)
    if not isinstance(prepared, PreparedUpdate):
        return prepared
    prepared.drop()
    return LeftAlone(READY)


def _entry(tree: UserTree, at: str, main: str, why: LeftAlone) -> StaleTree:
    return StaleTree(os.fsencode(tree.path), at, main, why.reason, why.files, tree.index_identity())


def is_checked_out(repo: Repo, branch: str) -> bool:
    try:
        return bool(trees_on(repo, branch))
    except PaddockError:
        return False
