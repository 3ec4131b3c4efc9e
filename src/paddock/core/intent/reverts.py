"""What people ask about a change that should not have landed: to take it back, and what that says about its review."""

from collections.abc import Sequence
from dataclasses import dataclass

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import Draft
from paddock.core.ids import TaskId, branch_slug, is_task, parse_task, printable
from paddock.core.intent.queue import change_named
from paddock.core.merge.model import Decided, Ending
from paddock.core.review.events import ConfirmedBy, FindingConfirmed, ReviewMissed
from paddock.core.review.model import Status
from paddock.core.tasks.task import Phase

UNHEEDED = (Status.WAIVED, Status.REFUTED, Status.OUTVOTED)


@dataclass(frozen=True, slots=True)
class LandedChange:
    """`task` is None for a branch that was queued by name."""

    id: str
    title: str
    task: TaskId | None = None

    @property
    def branch(self) -> str:
        """What the reverse is put on."""
        return f"paddock/revert-{self.id if is_task(self.id) else branch_slug(self.id)}"


def landed_to_revert(board: Board, said: str) -> LandedChange:
    """Raises PaddockError for what has not landed, was lost from main, or is reverted already or being so."""
    name = change_named(board, said)
    ends = [old for old in board.queue.decided if old.id == name]
    is_branch = ends and ends[-1].branch
    found = _landed_branch(name, ends[-1]) if is_branch else _landed_task(board, parse_task(said))
    require_not_reverted(board, found.id)
    return found


def _landed_task(board: Board, name: TaskId) -> LandedChange:
    task = board.task(name)
    if task.lost:
        raise PaddockError(
            f"task `{name}` has landed and was lost from main: there is nothing to revert",
            f"`paddock land {name}` would bring it back",
        )
    if task.phase is not Phase.LANDED:
        hint = f"`paddock queue cancel {name}` takes it out of the queue"
        raise PaddockError(
            f"task `{name}` {task.phase.words}: only what has landed can be reverted",
            hint if task.phase is Phase.QUEUED else f"see `paddock show {name}`",
        )
    return LandedChange(name, task.title, name)


def _landed_branch(name: str, end: Decided) -> LandedChange:
    shown = printable(end.branch, 60)
    if end.lost:
        raise PaddockError(
            f"branch `{shown}` has landed and was lost from main: there is nothing to revert",
            f"`paddock land --branch {shown}` would bring it back",
        )
    if end.outcome is not Ending.LANDED:
        raise PaddockError(
            f"branch `{shown}` has not landed ({end.outcome.value}): only what has landed can be reverted",
            f"see `paddock queue why {shown}`",
        )
    return LandedChange(name, end.title)


def require_not_reverted(board: Board, name: str) -> None:
    """Raises PaddockError if its reverse is queued, or has landed since it did itself."""
    for entry in board.queue.entries.values():
        if entry.change.reverts == name:
            raise PaddockError(
                f"the reverse of `{name}` is in the merge queue already", f"see `paddock queue why {entry.change.id}`"
            )
    if (by := reverted_by(board, name)) is not None:
        raise PaddockError(
            f"`{name}` was reverted by `{by.id}`, which landed in `{(by.commit or by.head)[:10]}`",
            f"`paddock revert {by.id}` would bring it back",
        )


def reverted_by(board: Board, name: str) -> Decided | None:
    """The change that has taken it back since it landed last; as far as the queue remembers."""
    for end in reversed(board.queue.decided):
        if end.outcome is Ending.LANDED and not end.lost and name in (end.id, end.reverts):
            return end if end.reverts == name else None
    return None


def blame_review(board: Board, change: LandedChange, passed_by: Sequence[str], why: str) -> list[Draft]:
    """What a revert says about the reviews of a task: findings that nobody heeded were true, and of its reviewers,
    `passed_by`, those missed something that did not hold one of these."""
    if change.task is None:
        return []
    unheeded = [one for one in board.reviews.findings_of(change.task) if one.status in UNHEEDED]
    right = {name for one in unheeded for name in one.by}
    missed = tuple(name for name in dict.fromkeys(passed_by) if name not in right)
    drafts = [
        Draft(FindingConfirmed(one.id, ConfirmedBy.REVERT, why), task=change.task)
        for one in unheeded
        if ConfirmedBy.REVERT not in one.confirmed
    ]
    return [*drafts, *([Draft(ReviewMissed(missed, why), task=change.task)] if missed else [])]
