"""Folders of conversations: who is working in one, and what a turn does if it cannot have its own."""

from paddock.core.board import Board
from paddock.core.fence import Level
from paddock.core.ids import TaskId
from paddock.core.tasks.task import Attempt, Task
from paddock.engines.protocol import Engine
from paddock.fleet.site import Site


def folder_user(site: Site, board: Board, folder: str) -> str:
    """The attempt to wait for before a folder is free; empty if it is free or never will be.

    The log knows who should work there; only the folder itself knows whether its last user left it clean.
    """
    live = (board.tasks[name].live_attempt for name in board.live)
    user = next((attempt.id for attempt in live if attempt is not None and attempt.worktree == folder), "")
    if user:
        return user
    holder = site.ground.look(folder).taken_by
    return holder if _is_known(board, holder) else ""


def _is_known(board: Board, attempt: str) -> bool:
    """An attempt that is not in this log will never release its folder."""
    name, _, number = attempt.partition(".")
    task = board.tasks.get(TaskId(name))
    return task is not None and number.isdecimal() and 1 <= int(number) <= task.newest


def can_have_folder(site: Site, board: Board, attempt: Attempt) -> bool:
    """Whether another task can continue the attempt's conversation at once."""
    if not attempt.worktree:
        return False
    vacancy = site.ground.look(attempt.worktree)
    return not (folder_user(site, board, attempt.worktree) or vacancy.taken_by or vacancy.lost)


def why_new_conversation(site: Site, engine: Engine, task: Task, attempt: Attempt, folder: str, fence: str) -> str:
    """Why the attempt's next turn, in `folder` and at the level `fence`, cannot continue its conversation; empty if it
    can, or has none."""
    if not engine.capabilities.resume:
        return ""
    if attempt.session is None:
        return _why_given_up(task, attempt)
    if attempt.session_lost:
        return f"{attempt.engine} no longer has the previous one: {attempt.session_lost}"
    if fence not in ("", Level.NONE) and not site.memory_of(attempt).is_dir():
        return "what was kept of the previous one is gone"
    if attempt.fork:
        return "" if engine.capabilities.forks else f"{attempt.engine} cannot go on with a copy of another task's"
    if attempt.worktree == folder or not engine.capabilities.bound_to_folder:
        return ""
    if not attempt.worktree:
        return "the log does not say which folder the previous one used"
    vacancy = site.ground.look(attempt.worktree)
    why = vacancy.lost or (
        f"{vacancy.taken_by} is working there" if vacancy.taken_by else "another attempt is using it"
    )
    return f"the folder of the previous one, {attempt.worktree}, cannot be used: {why}"


def _why_given_up(task: Task, attempt: Attempt) -> str:
    """An attempt that continues another's work but not its conversation says so in its first turn."""
    if task.forks is not None and attempt.turn == 0 and attempt.continues is None:
        return f"there is nothing of the conversation of {task.forks} that {attempt.engine} could go on with"
    before = next((earlier for earlier in task.attempts if earlier.id == attempt.continues), None)
    if attempt.turn or before is None or before.session is None or before.engine != attempt.engine:
        return ""
    return f"the previous one could not be resumed: {before.reason}"
