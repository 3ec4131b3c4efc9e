"""The review loop's hands: what `core/review/plan.py` asks for is done here, and recorded.

Every decision is made again on the board it is recorded on, so a daemon that dies between two steps leaves nothing
half done: the next one asks the same question and gets the same answer. Reviewers are started by the dispatcher,
like any other agent.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, assert_never

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import Draft, TaskAdded, TaskBlocked, TaskEdited
from paddock.core.ids import TaskId, printable, task_id
from paddock.core.review import plan as act
from paddock.core.review.events import (
    Claim,
    FindingReported,
    FindingRouted,
    FindingSettled,
    ReviewPassed,
    ReviewSentBack,
)
from paddock.core.review.plan import Policy, ReviewAction, next_action
from paddock.core.review.wording import brief_for_owner, word_findings
from paddock.core.tasks.task import Phase, Task
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.ledger import Ledger
from paddock.fleet.review.policy import review_policy
from paddock.fleet.site import Site
from paddock.git.patches import list_changes
from paddock.store.protocol import Store

TITLE_CHARS = 100
REVIEWING = "reviewing changes"


class Checks(Protocol):
    def start(self, task: Task, names: tuple[str, ...]) -> None:
        """Has these run on the task's head, and what came of them recorded. Nothing new if that is under way."""


@dataclass
class ReviewLoop:
    site: Site
    ledger: Ledger
    checks: Checks | None = None
    touched: dict[str, frozenset[str]] = field(default_factory=dict)
    """The paths of changes under review, by their head."""

    async def step(self, board: Board) -> float | None:
        """Does all there is to do now; returns when to look again although nothing happens."""
        times = [await self._advance(board.tasks[name]) for name in list(board.reviewing)]
        self._forget(board)
        return min((at for at in times if at is not None), default=None)

    async def _advance(self, task: Task) -> float | None:
        try:
            policy = await self._policy(self.ledger.board, task)
        except PaddockError as error:
            await self.ledger.record(partial(_block_if_it_still_waits, task, error.message))
            return None
        action = next_action(self.ledger.board, task, policy, self.site.clock.now())
        match action:
            case act.RunChecks(names=names) if self.checks is not None:
                self.checks.start(task, names)
            case act.Wait(until=until):
                return until
            case act.StartReview() | act.RunChecks():
                return None
            case _:
                await self.ledger.record(partial(self._decide, task.id, policy, action))
                checkpoint(f"review.{type(action).__name__.lower()}")
        return None

    def _decide(self, name: TaskId, policy: Policy, action: ReviewAction, board: Board) -> Sequence[Draft]:
        """Nothing if somebody has changed the answer meanwhile."""
        task = board.task(name)
        if next_action(board, task, policy, self.site.clock.now()) != action:
            return []
        return drafts_of(board, self.ledger.store, task, policy, action)

    async def _policy(self, board: Board, task: Task) -> Policy:
        paths = [one.path for one in board.reviews.blocking_of(task.id) if one.path and one.routed is None]
        touched = await self._touched(task) if paths else frozenset()
        return review_policy(self.site, task, paths, touched)

    async def _touched(self, task: Task) -> frozenset[str]:
        if task.head is None or task.base is None:
            return frozenset()
        if task.head not in self.touched:
            changes = await asyncio.to_thread(list_changes, self.site.repo, task.base, task.head)
            self.touched[task.head] = frozenset(one.path for one in changes)
        return self.touched[task.head]

    def _forget(self, board: Board) -> None:
        heads = {board.tasks[name].head for name in board.reviewing} if self.touched else set()
        self.touched = {head: paths for head, paths in self.touched.items() if head in heads}


def drafts_of(board: Board, store: Store, task: Task, policy: Policy, action: ReviewAction) -> list[Draft]:
    """What is recorded of a decision."""
    assert task.head is not None
    review = board.reviews.of(task.id)
    match action:
        case act.SettleFindings(findings=names, how=how, by=by, why=why):
            return [Draft(FindingSettled(name, how, task.head, by, why), task=task.id) for name in names]
        case act.RouteFindings(owners=owners):
            return _route(board, store, task, owners)
        case act.SendBack(findings=names):
            claims = [(name, claim_of(store, board, name)) for name in names]
            text = word_findings(claims, task.head, review.round, policy.rounds)
            return [Draft(ReviewSentBack(task.head, review.round, names, text), task=task.id)]
        case act.Pass(by=by):
            return [Draft(ReviewPassed(task.head, review.round, by), task=task.id)]
        case act.Block(reason=reason, unblock=unblock):
            return [_blocked(task, reason, unblock)]
        case act.RunChecks() | act.StartReview() | act.Wait():
            return []
        case _:
            assert_never(action)


def claim_of(store: Store, board: Board, name: str) -> Claim:
    """A finding with all that stays in the log."""
    found = board.reviews.findings[name]
    event = store.record(found.seq).event
    assert isinstance(event, FindingReported)
    return event.claim


def _route(board: Board, store: Store, task: Task, owners: Sequence[tuple[str, str]]) -> list[Draft]:
    """A task for each finding, which the change waits for."""
    drafts: list[Draft] = []
    added: list[TaskId] = []
    for offset, (name, owner) in enumerate(owners):
        claim, new = claim_of(store, board, name), task_id(board.next_task + offset)
        title = printable(f"Fix {name}: {claim.claim.split(chr(10))[0]}", TITLE_CHARS)
        brief = brief_for_owner(name, claim, task.id, task.title)
        event = TaskAdded(title, brief, agent=owner, convoy=task.convoy, priority=task.priority, paths=(claim.path,))
        drafts += [Draft(event, task=new), Draft(FindingRouted(name, new), task=task.id)]
        added.append(new)
    return [*drafts, Draft(TaskEdited(after=(*task.after, *added)), task=task.id)]


def _block_if_it_still_waits(task: Task, reason: str, board: Board) -> list[Draft]:
    waits = board.task(task.id).phase is Phase.REVIEWING and board.task(task.id).live_attempt is None
    return [_blocked(task, reason, f"paddock retry {task.id}")] if waits else []


def _blocked(task: Task, reason: str, unblock: str) -> Draft:
    return Draft(TaskBlocked(reason, unblock), task=task.id)
