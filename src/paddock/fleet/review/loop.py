"""The review loop's hands: what `core/review/plan.py` asks for is done here, and recorded.

Every decision is made again on the board it is recorded on, so a daemon that dies between two steps leaves nothing
half done: the next one asks the same question and gets the same answer. Reviewers are started by the dispatcher,
like any other agent.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from paddock.config.roster import roster
from paddock.config.schema import Config
from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import Draft, TaskBlocked
from paddock.core.ids import TaskId
from paddock.core.review import plan as act
from paddock.core.review.decisions import drafts_of
from paddock.core.review.filed import filed_findings, is_done, settle_filed
from paddock.core.review.model import Finding, Reviews, TaskReview
from paddock.core.review.plan import ReviewAction, ReviewPolicy, next_action
from paddock.core.routing import owner_of
from paddock.core.tasks.task import Phase, Task
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.ledger import Ledger
from paddock.fleet.review.claims import claim_reader
from paddock.fleet.review.policy import review_policy
from paddock.fleet.site import Site
from paddock.git.patches import list_changes

REVIEWING = "reviewing changes"


class Checks(Protocol):
    def start(self, task: Task, names: tuple[str, ...]) -> None:
        """Has these run on the task's head, and what came of them recorded. Nothing new if that is under way."""


@dataclass
class ReviewLoop:
    site: Site
    ledger: Ledger
    checks: Checks
    touched: dict[str, frozenset[str]] = field(default_factory=dict)
    """The paths of changes under review, by their head."""
    left: dict[TaskId, tuple[Config, Task, TaskReview]] = field(default_factory=dict)
    """Changes that wait for their reviewer, and all that this was decided by: nothing else can change it."""

    known: Reviews | None = None
    filed: tuple[Finding, ...] = ()
    """Of what is known of reviews, the findings that became tasks."""

    async def step(self, board: Board) -> float | None:
        """Does all there is to do now; returns when to look again although nothing happens."""
        waiting = [board.tasks[name] for name in board.reviewing if not self._is_left(board, name)]
        times = [await self._advance(task) for task in waiting if self.site.has_work_of(task)]
        await self._settle_filed(board)
        self._forget(board)
        return min((at for at in times if at is not None), default=None)

    async def _advance(self, task: Task) -> float | None:
        grounds = self.site.config, task, self.ledger.board.reviews.of(task.id)
        try:
            policy = await self._policy(self.ledger.board, task)
        except PaddockError as error:
            await self.ledger.record(partial(_block_if_it_still_waits, task, error.message))
            return None
        action = next_action(self.ledger.board, task, policy, self.site.clock.now())
        match action:
            case act.RunChecks(names=names):
                self.checks.start(task, names)
            case act.Wait(until=until):
                return until
            case act.StartReview():
                self.left[task.id] = grounds
            case _:
                await self.ledger.record(partial(self._decide, task.id, policy, action))
                checkpoint(f"review.{type(action).__name__.lower()}")
        return None

    async def _settle_filed(self, board: Board) -> None:
        if board.reviews is not self.known:
            self.known, self.filed = board.reviews, filed_findings(board.reviews)
        if any(is_done(board, one) for one in self.filed):
            await self.ledger.record(settle_filed)
            checkpoint("review.settlefiled")

    def _is_left(self, board: Board, name: TaskId) -> bool:
        if name not in self.left:
            return False
        config, task, review = self.left[name]
        return config is self.site.config and task is board.tasks[name] and review == board.reviews.of(name)

    def _decide(self, name: TaskId, policy: ReviewPolicy, action: ReviewAction, board: Board) -> Sequence[Draft]:
        """Nothing if somebody has changed the answer meanwhile."""
        task = board.task(name)
        if next_action(board, task, policy, self.site.clock.now()) != action:
            return []
        return drafts_of(board, task, policy, action, claim_reader(self.ledger.store, board))

    async def _policy(self, board: Board, task: Task) -> ReviewPolicy:
        agents = roster(self.site.config)
        blocking = board.reviews.blocking_of(task.id)
        paths = [one.path for one in blocking if one.path and one.routed is None and owner_of(one.path, agents)]
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
        if len(self.left) > len(board.reviewing):
            self.left = {name: grounds for name, grounds in self.left.items() if name in board.reviewing}


def _block_if_it_still_waits(task: Task, reason: str, board: Board) -> list[Draft]:
    waits = board.task(task.id).phase is Phase.REVIEWING and board.task(task.id).live_attempt is None
    return [Draft(TaskBlocked(reason, f"paddock retry {task.id}"), task=task.id)] if waits else []
