"""What people decide about a change: to land it, to reject it, to resolve its conflict."""

import re
from dataclasses import dataclass

from paddock.core.board import Board
from paddock.core.causes.probing import PROBE
from paddock.core.errors import Misuse, PaddockError
from paddock.core.events import Draft, TaskRejected
from paddock.core.ids import TaskId, parse_task, printable
from paddock.core.intent.obstacles import TaskAction, require_possible
from paddock.core.intent.queue import last_end
from paddock.core.merge import guards
from paddock.core.merge.model import Change, Ending
from paddock.core.tasks.task import Phase, Task

_COMMIT = re.compile("[0-9a-fA-F]{4,64}")


class Outdated(PaddockError):
    """What was decided is about another version than the one that is there now."""

    def __init__(self, task: TaskId, seen: str, now: str) -> None:
        super().__init__(
            f"task `{task}` is at `{now[:10]}` now; you decided about `{printable(seen, 64)[:10]}`",
            f"`paddock diff {task}` shows what would land; then decide again, with `--head {now[:10]}`",
        )
        self.seen = seen
        self.now = now


def require_seen(task: TaskId, seen: str | None, now: str) -> None:
    """Raises Outdated unless `seen`, a commit id or the beginning of one, is the version that is there `now`. Raises
    Misuse for anything else; None means that nobody says what was seen."""
    if seen is None:
        return
    if _COMMIT.fullmatch(seen) is None:
        raise Misuse(f"`{printable(seen, 80)}` is no commit id", f"e.g. --head {now[:10]}: at least 4 of its digits")
    if not now.startswith(seen.lower()):
        raise Outdated(task, seen, now)


def head_to_land(board: Board, task: Task, tip: str | None, *, in_main: bool) -> str:
    """The judged commit; for a task that is not waiting for approval, the current tip of its branch.

    `tip` is its branch, None when that is gone, and `in_main` whether main has it. What CI rejected may be tried
    again; a conflict must be resolved first.
    """
    if task.phase is Phase.APPROVAL and task.head is not None:
        return task.head
    conflicted = {old.head for old in board.queue.decided if old.outcome is Ending.CONFLICTED and old.id == task.id}
    if tip is None or tip in conflicted or in_main:
        raise PaddockError(
            f"task `{task.id}` {task.phase.words}: {task.reason}",
            f"run `{task.unblock or f'paddock retry {task.id}'}` first",
        )
    return tip


def is_approved_by_policy(board: Board, task: Task, approval: str) -> bool:
    """Whether `land.approval` lets it land without a person: nobody has to approve it, or its reviewers have passed
    exactly this version. Nothing lands with an open blocking finding, nor what only probes a failure."""
    if task.head is None or PROBE in task.labels or board.reviews.blocking_of(task.id):
        return False
    return approval == "none" or (approval == "review" and board.reviews.has_passed(task.id, task.head))


def require_wanted(change: Change, said: str, *, undo: bool) -> None:
    """Raises PaddockError for a change that takes landed work back, unless that is wanted."""
    if not undo and not guards.reversal_is_wanted(change):
        raise PaddockError(
            f"`{change.id}` undoes {'; '.join(change.undoes)}",
            f"`paddock diff {change.id}` shows what would land; if that is intended, run `paddock land {said} --undo`",
        )


def reject_task(board: Board, name: TaskId, message: str, seen: str | None = None) -> list[Draft]:
    """`message` is for its agent; without one a new attempt starts. Raises Outdated if it is not at what was `seen`."""
    task = board.task(name)
    require_possible(board, task, TaskAction.REJECT)
    assert task.head is not None
    require_seen(name, seen, task.head)
    return [Draft(TaskRejected(task.head, message), task=name)]


@dataclass(frozen=True, slots=True)
class Conflicted:
    """A change that does not merge: its branch, its head if that is gone, and the command that queues it again."""

    id: str
    branch: str
    head: str
    then: str


def conflict_to_resolve(board: Board, said: str) -> Conflicted:
    """The conflict of a task or a branch. Raises PaddockError if there is none."""
    return _conflicted_branch(board, said) or _conflicted_task(board, parse_task(said))


def _conflicted_task(board: Board, name: TaskId) -> Conflicted:
    found = board.task(name)
    require_possible(board, found, TaskAction.RESOLVE)
    assert found.head is not None
    assert found.branch is not None
    return Conflicted(found.id, found.branch, found.head, f"paddock land {found.id}")


def _conflicted_branch(board: Board, said: str) -> Conflicted | None:
    """None if no branch was queued under that name."""
    end = last_end(board, said)
    if end is None:
        return None
    if end.id in board.queue.entries or end.outcome is not Ending.CONFLICTED:
        state = (
            "is in the merge queue" if end.id in board.queue.entries else f"has left the queue ({end.outcome.value})"
        )
        raise PaddockError(
            f"branch `{end.branch}` {state}: there is no conflict to resolve", f"see `paddock queue why {end.id}`"
        )
    return Conflicted(end.id, end.branch, end.head, f"paddock land --branch {end.branch}")
