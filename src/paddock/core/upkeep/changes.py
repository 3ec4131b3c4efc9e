"""Refs of changes that are of no more use: their owner has finished, and another ref of ours holds their commits."""

from collections.abc import Iterable, Mapping

from paddock.core.board import Board
from paddock.core.ids import CHANGES, TaskId, change_folder, is_task
from paddock.core.tasks.task import FINISHED
from paddock.core.upkeep.survey import HeldChanges


def spare_changes(board: Board, held: HeldChanges) -> dict[str, str]:
    """Ref → commit. Of several finished changes with the same work one stays, unless main has it."""
    over = {ref: _is_over(board, ref) for ref in held.refs}
    needed = _reach(held.loose, (held.refs[ref] for ref in over if over[ref] is False))
    finished = {ref: held.refs[ref] for ref in sorted(over) if over[ref]}
    last = {commit for commit in finished.values() if commit in held.loose and commit not in needed}
    last -= _reach(held.loose, (parent for commit in last for parent in held.loose[commit]))
    spare = {}
    for ref, commit in finished.items():
        if commit in last:
            last.remove(commit)
        else:
            spare[ref] = commit
    return spare


def _is_over(board: Board, ref: str) -> bool | None:
    """Whether nobody will ask for what the ref holds; None for a ref that is not one of ours."""
    name, _, version = ref.removeprefix(f"{CHANGES}/").partition("/v")
    owner, _, attempt = name.partition(".")
    if not version and attempt.isdecimal():
        return _task_is_over(board, owner)
    if not version.isdecimal():
        return None
    if is_task(name):
        return _task_is_over(board, name)
    folder = f"{CHANGES}/{name}"
    if any(change_folder(queued) == folder for queued in board.queue.entries):
        return False
    # A version that is not decided may be about to be queued.
    ends = (old for old in board.queue.decided if change_folder(old.id) == folder and old.version == int(version))
    return next((not old.lost for old in ends), None)


def _task_is_over(board: Board, name: str) -> bool | None:
    task = board.tasks.get(TaskId(name))
    if task is None:
        return None
    return task.phase in FINISHED and task.live_attempt is None and name not in board.queue.entries


def _reach(parents: Mapping[str, tuple[str, ...]], commits: Iterable[str]) -> set[str]:
    """Those of the commits, and of their ancestors, that `parents` knows."""
    found: set[str] = set()
    waiting = [commit for commit in commits if commit in parents]
    while waiting:
        commit = waiting.pop()
        if commit not in found:
            found.add(commit)
            waiting += [parent for parent in parents[commit] if parent in parents]
    return found
