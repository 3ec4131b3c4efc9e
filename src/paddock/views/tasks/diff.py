"""The difference a task makes, or made between two of its versions, as JSON."""

from paddock.core.board import Board
from paddock.core.errors import Misuse, PaddockError
from paddock.core.ids import printable
from paddock.core.tasks.task import Task
from paddock.fleet.landing.entrance import main_ref
from paddock.fleet.landing.preview import preview
from paddock.fleet.site import Site
from paddock.git.patches import list_changes
from paddock.views.tasks.patch import DiffView, view_difference

SHA_CHARS = (7, 64)


def view_task_diff(site: Site, board: Board, task: Task, *, own: bool = False, path: str | None = None) -> DiffView:
    """What would land, or what has; with `own` what its agents did since they started. Raises PaddockError."""
    shown = preview(site, board, task, own=own)
    return view_difference(site.repo, shown.before, shown.after, shown.note, path)


def view_versions_diff(site: Site, task: Task, old: str, new: str, path: str | None = None) -> DiffView:
    """From one version of the task's change to another. Where main moved between them, only files that either version
    changes are shown. Raises PaddockError."""
    before, after = _commit(site, old), _commit(site, new)
    known = {one.head: one.base for one in task.attempts} | {task.head: task.base}
    bases = [known.get(head) or site.repo.merge_base(head, main_ref(site)) for head in (before, after)]
    if bases[0] == bases[1] or None in bases or before in bases or after in bases:
        return view_difference(site.repo, before, after, path=path)
    touched = _touched(site, bases[0], before) | _touched(site, bases[1], after)
    note = f"{site.config.landing_branch} moved between the two: only files that {task.id} changes are shown"
    return view_difference(site.repo, before, after, note, path, only=touched)


def _commit(site: Site, said: str) -> str:
    is_sha = SHA_CHARS[0] <= len(said) <= SHA_CHARS[1] and not said.strip("0123456789abcdef")
    found = site.repo.resolve(said) if is_sha else None
    if not is_sha:
        raise Misuse(f"`{printable(said, 80)}` is not a commit", "give the commits of two versions of the task")
    if found is None:
        raise PaddockError(f"commit `{said}` is not there any more", "an older version may have been removed")
    return found


def _touched(site: Site, base: str | None, head: str) -> frozenset[str]:
    changes = list_changes(site.repo, base, head) if base is not None else []
    return frozenset(path for one in changes for path in (one.path, one.old_path) if path is not None)
