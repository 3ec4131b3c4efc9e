"""What enters the merge queue by policy and leaves it with its task, without a person and without the planner."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import Draft, TaskBlocked
from paddock.core.ids import TaskId
from paddock.core.merge.events import ChangeCancelled
from paddock.core.merge.model import Change, Entry, Queue
from paddock.core.tasks.task import Phase, Task
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.landing.entrance import hold_task, lineage_of, open_needs, queue_change
from paddock.fleet.landing.lineage import Lineage
from paddock.fleet.ledger import Ledger
from paddock.fleet.site import Site
from paddock.git.command import GitKilled


@dataclass
class Entries:
    site: Site
    ledger: Ledger

    async def queue_delivered(self, board: Board) -> None:
        """If no approval is required, what was delivered is queued at once."""
        if self.site.config.land.approval != "none":
            return
        needy = [board.tasks[name] for name in board.needy]
        for task in [task for task in needy if _waits_for_nobody(task)]:
            try:
                needs = open_needs(board, task)
                change = await asyncio.to_thread(hold_task, self.site, board.queue, task, str(task.head), needs)
                lineage = await asyncio.to_thread(self._lineage, board.queue, change)
            except GitKilled:
                raise
            except PaddockError as error:
                await self._block(task, error)
                continue
            checkpoint("queue.held")
            await self.ledger.record(partial(_queue_if_it_still_waits, change, lineage))
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
    """Delivered and not queued yet. What a person took out of the queue is approved already and stays out."""
    return task.phase is Phase.APPROVAL and task.head is not None and task.approved != task.head


def _queue_if_it_still_waits(change: Change, lineage: Lineage, board: Board) -> Sequence[Draft]:
    """A person may have rejected or cancelled the task since it was looked at."""
    task = board.task(TaskId(change.id))
    waits = _waits_for_nobody(task) and task.head == change.head
    return queue_change(board, change, lineage) if waits else []


def _task_is_cancelled(board: Board, entry: Entry) -> bool:
    task = board.tasks.get(TaskId(entry.change.task)) if entry.change.task else None
    return task is not None and task.phase is Phase.CANCELLED
