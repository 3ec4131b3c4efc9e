"""Main put back to an earlier commit, and checkouts with it; not at all where that would touch somebody's work."""

from dataclasses import dataclass

from paddock.git.checkpoints import Checkpoint, no_checkpoint
from paddock.git.command import run_git
from paddock.git.landing.durable import move_ref
from paddock.git.repo import ABSENT, Repo
from paddock.git.usertree.checkouts import following
from paddock.git.usertree.places import UserTree, trees_on


@dataclass(frozen=True, slots=True)
class PutBack:
    """Main is at the earlier commit."""


@dataclass(frozen=True, slots=True)
class NotPutBack:
    """Nothing was done, and why; `files` are those in the way."""

    reason: str
    files: tuple[str, ...] = ()


def put_back(
    repo: Repo, branch: str, old: str | None, new: str, checkpoint: Checkpoint = no_checkpoint
) -> PutBack | NotPutBack:
    """Takes `branch` from `old` (None: it is gone) to `new` by compare-and-swap. Safe to repeat."""
    if old is None or all(_shows(tree, new) for tree in trees_on(repo, branch)):
        return _swap(repo, branch, old, new)
    with following(repo, branch, old, new, update=True, checkpoint=checkpoint) as checkouts:
        if checkouts.left:
            tree, why = checkouts.left[0]
            return NotPutBack(f"{tree.path}: {why.reason}", why.files)
        moved = _swap(repo, branch, old, new)
        checkpoint("restore.swapped")
        if isinstance(moved, PutBack):
            checkouts.follow()
    return moved


def _shows(tree: UserTree, commit: str) -> bool:
    """Whoever moved the ref alone left the checkout as it was."""
    words = ("diff-index", "--cached", "--quiet", commit, "--")
    return run_git(tree.path, *words, check=False).ok


def _swap(repo: Repo, branch: str, old: str | None, new: str) -> PutBack | NotPutBack:
    if move_ref(repo, f"refs/heads/{branch}", new, old or ABSENT, "paddock: restore the last tested main"):
        return PutBack()
    return NotPutBack(f"{branch} was moved meanwhile")
