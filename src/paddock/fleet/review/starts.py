"""Which reviewers may start now, as the dispatcher sees them: like tasks of their own, which only the log knows not."""

from collections import Counter
from collections.abc import Collection

from msgspec.structs import replace

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import AttemptStarted, Draft
from paddock.core.ids import TaskId, attempt_id
from paddock.core.review.plan import StartReview, next_action
from paddock.core.tasks.task import REVIEWING, Task
from paddock.core.tasks.vocabulary import Role
from paddock.fleet.dispatch.pricing import expected_cost
from paddock.fleet.review.policy import Reviewer, find_reviewer, review_policy
from paddock.fleet.site import Site
from paddock.sessions.host import Host


def due_reviews(site: Site, board: Board, now: float, most: int, only: Collection[TaskId] | None) -> list[Task]:
    """The tasks whose next step is a review, each as its reviewer would have it. Oldest first, and at most so many for
    one reviewer: where its provider refuses it, hundreds may wait, and those for others must not wait behind them."""
    found: list[Task] = []
    waiting: Counter[str] = Counter()
    for name in board.reviewing:
        task = board.tasks[name]
        if task.live_attempt is not None or (only is not None and name not in only):
            continue
        reviewer = due_reviewer(site, board, task, now)
        if reviewer is not None and waiting[reviewer.name] < most:
            waiting[reviewer.name] += 1
            found.append(for_reviewer(task, reviewer))
    return found


def due_reviewer(site: Site, board: Board, task: Task, now: float) -> Reviewer | None:
    try:
        action = next_action(board, task, review_policy(site, task), now)
        return find_reviewer(site, action.reviewer) if isinstance(action, StartReview) else None
    except PaddockError:
        return None  # the review loop says so, and blocks the task


def for_reviewer(task: Task, reviewer: Reviewer) -> Task:
    return replace(task, agent=reviewer.name, engine=reviewer.engine, kind=REVIEWING, paths=(), inbox=())


def claim_review(site: Site, board: Board, task: Task, account: str, now: float, host: Host) -> Draft | None:
    """The claim of the reviewer whose turn it is; None if meanwhile it is nobody's."""
    reviewer = due_reviewer(site, board, task, now)
    if reviewer is None or task.head is None or task.branch is None:
        return None
    cost = expected_cost(site, board, for_reviewer(task, reviewer), reviewer.engine, now)
    event = AttemptStarted(
        engine=reviewer.engine,
        base=task.head,
        branch=task.branch,
        agent=reviewer.name,
        model=reviewer.model or None,
        host=host.name,
        host_id=host.id,
        account=account,
        reserved_usd=cost.money,
        reserved_tokens=cost.tokens,
        role=Role.REVIEW,
    )
    return Draft(event, task=task.id, attempt=attempt_id(task.id, task.newest + 1))
