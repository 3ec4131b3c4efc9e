"""What enters the merge queue by policy and leaves it with its task, without a person and without the planner."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from msgspec.structs import replace

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import ApprovalRequired, Draft, TaskBlocked
from paddock.core.ids import TaskId
from paddock.core.intent.landing import is_approved_by_policy
from paddock.core.merge.events import ChangeCancelled
from paddock.core.merge.model import Change, Entry, Queue
from paddock.core.tasks.task import Phase, Task
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.landing.entrance import hold_task, lineage_of, look_at, open_needs, queue_change
from paddock.fleet.landing.examination import Examined, subject_of
from paddock.fleet.landing.lineage import Lineage
from paddock.fleet.ledger import Ledger
from paddock.fleet.site import Site
from paddock.git.command import GitKilled

LOOKED_AT_TOGETHER = 4


@dataclass
class Entries:
    """`seen` are the heads that were looked at and need nobody in particular."""

    site: Site
    ledger: Ledger
    seen: set[str] = field(default_factory=set)

    async def queue_delivered(self, board: Board) -> bool:
        """What policy approves is queued at once, unless only a person may let it land.

        What waits for a person anyway is looked at too, a few at a time, so that they read what it is about; whether
        some are left to look at.
        """
        delivered = (task for name in board.needy if _waits_for_nobody(task := board.tasks[name]))
        waiting = [task for task in delivered if self.site.has_work_of(task)]
        approval = self.site.config.land.approval
        approved = {task.id for task in waiting if is_approved_by_policy(board, task, approval)}
        unseen = [task for task in waiting if task.id not in approved and str(task.head) not in self.seen]
        for task in (*(one for one in waiting if one.id in approved), *unseen[:LOOKED_AT_TOGETHER]):
            by_policy = task.id in approved
            try:
                subject = subject_of(self.ledger.store, task, str(task.head))
                examined = await asyncio.to_thread(look_at, self.site, subject)
                if examined.needs_person:
                    await self._ask(task, examined)
                elif by_policy:
                    await self._queue(board, task, examined)
                self.seen.add(str(task.head))
            except GitKilled:
                raise
            except PaddockError as error:
                if by_policy:
                    await self._block(task, error)
                self.seen.add(str(task.head))
        return len(unseen) > LOOKED_AT_TOGETHER

    async def _ask(self, task: Task, examined: Examined) -> None:
        undoes = tuple(one.words for one in examined.unwanted)
        event = ApprovalRequired(str(task.head), examined.concerns, undoes)

        def decide(board: Board) -> list[Draft]:
            now = board.task(task.id)
            return [Draft(event, task=task.id)] if _waits_for_nobody(now) and now.head == event.head else []

        await self.ledger.record(decide)
        checkpoint("queue.asked")

    async def _queue(self, board: Board, task: Task, examined: Examined) -> None:
        needs = open_needs(board, task)
        reviewers = board.reviews.passed_by(task.id, str(task.head))
        held = await asyncio.to_thread(hold_task, self.site, board.queue, task, str(task.head), needs, examined)
        change = replace(held, reviewed_by=reviewers)
        lineage = await asyncio.to_thread(self._lineage, board.queue, change)
        checkpoint("queue.held")
        approval = self.site.config.land.approval
        await self.ledger.record(partial(_queue_if_it_still_waits, change, lineage, approval))
        checkpoint("queue.queued")

    def _lineage(self, queue: Queue, change: Change) -> Lineage:
        """Read outside the log's transaction; raises PaddockError where the change would wait for itself."""
        lineage = lineage_of(self.site)
        lineage.queue(queue, change)
        return lineage

    async def _block(self, task: Task, error: PaddockError) -> None:
        reason = f"{error.message}; {error.hint}" if error.hint else error.message
        event = TaskBlocked(reason, unblock=f"paddock land {task.id}")
        await self.ledger.note(event, task=task.id)

    async def drop_cancelled(self, board: Board) -> None:
        """A cancelled task takes its change with it, unless main is already being moved to it."""
        queue = board.queue
        landing = queue.ended[queue.landing.run] if queue.landing is not None else None
        unwanted = [entry for entry in queue.entries.values() if _task_is_cancelled(board, entry)]
        for entry in unwanted:
            if landing is not None and landing.holds(entry.change.id):
                continue
            await self.ledger.note(ChangeCancelled(entry.change.id, entry.change.version, "its task was cancelled"))


def _waits_for_nobody(task: Task) -> bool:
    """Delivered and not queued yet. What a person took out of the queue is approved already and stays out, and what
    only a person may let land waits for one."""
    waits = task.phase is Phase.APPROVAL and task.head is not None
    return waits and task.head not in (task.approved, task.questioned)


def _queue_if_it_still_waits(change: Change, lineage: Lineage, approval: str, board: Board) -> Sequence[Draft]:
    """A person may have rejected or cancelled the task since it was looked at, or a reviewer found something."""
    task = board.task(TaskId(change.id))
    waits = _waits_for_nobody(task) and task.head == change.head and is_approved_by_policy(board, task, approval)
    return queue_change(board, change, lineage) if waits else []


def _task_is_cancelled(board: Board, entry: Entry) -> bool:
    task = board.tasks.get(TaskId(entry.change.task)) if entry.change.task else None
    return task is not None and task.phase is Phase.CANCELLED
