"""A person's own hand on a change that waits for approval: a worktree on its branch, and what they made there."""

from collections.abc import Sequence
from pathlib import Path

from paddock.core.errors import PaddockError
from paddock.core.ids import resolve_folder
from paddock.core.tasks.conversations import Homes
from paddock.core.tasks.task import Task
from paddock.fleet.site import Site
from paddock.git.patches import list_changes
from paddock.git.worktrees.delivery import save_attempt
from paddock.git.worktrees.merging import require_free
from paddock.git.worktrees.prepare import WorktreeOrder, prepare
from paddock.git.worktrees.slots import find_slot


def open_to_edit(site: Site, task: Task, head: str, homes: Homes) -> tuple[Path, Sequence[str]]:
    """A worktree on the task's branch, and the files that its change touches that are there and lead nowhere
    else. Opening it again finds the same worktree. Raises PaddockError if the branch is elsewhere than the change."""
    branch = task.branch
    assert branch is not None
    require_free(site.root, branch)
    folder = resolve_folder(task.id)
    opened = find_slot(site.root, folder)
    tip = site.repo.resolve(f"refs/heads/{branch}")
    if opened is None and tip not in (None, head):
        raise PaddockError(
            f"branch `{branch}` is at `{str(tip)[:10]}`, and what waits for approval is `{head[:10]}`",
            f"`git log {head[:10]}..{branch}` shows what was added; move the branch back, or reject the change",
        )
    prepared = prepare(site.root, WorktreeOrder(folder, branch, opened[1].start if opened else head, homes=homes))
    place = prepared.worktree.path
    changed = [one.path for one in list_changes(site.repo, task.base or head, head)]
    return place, [f"./{path}" for path in changed if _is_own_file(place, path)]


def _is_own_file(place: Path, path: str) -> bool:
    return (place / path).is_file() and (place / path).resolve() == place.resolve() / path


def take_edited(site: Site, task: Task) -> str | None:
    """The newest commit there, on the task's branch now; None if there is none."""
    saved = save_attempt(site.root, resolve_folder(task.id), "edited during its review")
    if saved is None:
        return None
    if saved.obstacle:
        raise PaddockError(f"what you made is kept, but not on its branch: {saved.obstacle}", f"it is at `{saved.ref}`")
    return saved.head
