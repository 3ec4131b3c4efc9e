"""What is recorded when the review loop has decided: the events of each action."""

from collections.abc import Sequence
from typing import assert_never

from paddock.core.board import Board
from paddock.core.events import Draft, TaskBlocked, TaskEdited
from paddock.core.ids import TaskId, task_id
from paddock.core.review import plan as act
from paddock.core.review.events import FindingSettled, ReviewPassed, ReviewSentBack
from paddock.core.review.filed_tasks import ReadClaim, file_finding
from paddock.core.review.plan import ReviewAction, ReviewPolicy
from paddock.core.review.wording import word_findings
from paddock.core.tasks.task import Task


def drafts_of(board: Board, task: Task, policy: ReviewPolicy, action: ReviewAction, read: ReadClaim) -> list[Draft]:
    """What is recorded of a decision; nothing of what is not decided but done."""
    assert task.head is not None
    review = board.reviews.of(task.id)
    match action:
        case act.SettleFindings(findings=names, how=how, by=by, why=why):
            return [Draft(FindingSettled(name, how, task.head, by, why), task=task.id) for name in names]
        case act.RouteFindings(owners=owners):
            return _route(board, task, owners, read)
        case act.SendBack(findings=names):
            claims = [(name, read(name)) for name in names]
            text = word_findings(claims, task.head, review.round, policy.rounds)
            return [Draft(ReviewSentBack(task.head, review.round, names, text), task=task.id)]
        case act.Pass(by=by):
            return [Draft(ReviewPassed(task.head, review.round, by), task=task.id)]
        case act.Block(reason=reason, unblock=unblock):
            return [Draft(TaskBlocked(reason, unblock), task=task.id)]
        case act.RunChecks() | act.StartReview() | act.Wait():
            return []
        case _:
            assert_never(action)


def _route(board: Board, task: Task, owners: Sequence[tuple[str, str]], read: ReadClaim) -> list[Draft]:
    """A task for each finding, which the change waits for."""
    drafts: list[Draft] = []
    added: list[TaskId] = []
    for offset, (name, owner) in enumerate(owners):
        new = task_id(board.next_task + offset)
        drafts += file_finding(task, name, read(name), new=new, agent=owner, priority=task.priority)
        added.append(new)
    return [*drafts, Draft(TaskEdited(after=(*task.after, *added)), task=task.id)]
