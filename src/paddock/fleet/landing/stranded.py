"""Tasks whose work began on a main that is gone: they land by their own commits; the rest is not their fault."""

import asyncio
from dataclasses import dataclass, field

from msgspec.structs import replace

from paddock.core.board import Board
from paddock.core.events import ChangeRebased, Draft
from paddock.core.ids import TaskId
from paddock.core.merge.events import ChangeCancelled
from paddock.core.merge.model import Change, Entry, Member, Queue
from paddock.core.tasks.task import Phase, Task
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.landing.entrance import next_version
from paddock.fleet.landing.lineage import Lineage
from paddock.fleet.ledger import Ledger
from paddock.fleet.site import Site
from paddock.git.landing.held import NotHeld, hold_change, hold_delivery
from paddock.git.landing.stranded import lost_ground, rebase_own


@dataclass(frozen=True, slots=True)
class Rebased:
    """`head` is None where its own commits do not apply to main; nothing is `lost` where its base is still in main."""

    lost: tuple[str, ...]
    head: str | None = None


@dataclass
class Stranded:
    """`mains` are commits that main is known to have, `settled` the heads that were looked at since it lost some."""

    site: Site
    ledger: Ledger
    main: str = ""
    mains: set[str] = field(default_factory=set)
    settled: set[str | None] = field(default_factory=set)

    async def rebase(self, board: Board) -> None:
        """What waits for approval or in the queue. Asks git only about work that began before main was last seen."""
        queue = board.queue
        if queue.main is None or queue.landing is not None or _may_come_back(queue):
            return
        await self._follow(queue, queue.main.commit)
        waiting = [board.tasks[name] for name in board.needy if board.tasks[name].phase is Phase.APPROVAL]
        queued = [board.tasks[TaskId(name)] for name in queue.entries if TaskId(name) in board.tasks]
        heads = {task.id: _head_of(queue, task) for task in (*waiting, *queued)}
        self.settled.intersection_update(heads.values())
        for name, head in heads.items():
            task = board.tasks[name]
            if head is None or head in self.settled or task.worker is None or not self.site.has_work_of(task):
                continue
            if task.worker.base not in self.mains:
                await self._rebase(queue, task, head)
            self.settled.add(head)

    async def _follow(self, queue: Queue, main: str) -> None:
        if main == self.main:
            return
        grew = any(run.commit == main and run.base == self.main for run in queue.ended.values())
        if not grew and self.main:
            grew = await asyncio.to_thread(self.site.repo.is_ancestor, self.main, main)
        if not grew:
            self.mains.clear()
            self.settled.clear()
        self.main = main
        self.mains.add(main)

    async def _rebase(self, queue: Queue, task: Task, head: str) -> None:
        rebased = await asyncio.to_thread(self._look, task, head)
        if not rebased.lost:
            return
        entry = queue.entries.get(task.id)
        if rebased.head is None:
            if entry is not None and not (entry.change.concerns and entry.change.approved_by):
                await self.ledger.note(_taken_out(entry.change, rebased.lost[0]))
            return
        if entry is None:
            await self._revise(task, head, rebased)
        else:
            await self._queue_again(queue, entry, rebased)
        checkpoint("queue.rebased")

    def _look(self, task: Task, head: str) -> Rebased:
        assert task.worker is not None
        # A fork begins at another task's commits, which main has never had.
        repo, sure = self.site.repo, not self.site.config.land.remote and task.forks is None
        lost = lost_ground(repo, self.main, head, task.worker.base, sure=sure)
        return Rebased(lost, rebase_own(repo, self.main, head, lost, task.title) if lost else None)

    async def _revise(self, task: Task, head: str, rebased: Rebased) -> None:
        assert task.worker is not None
        assert rebased.head is not None
        event = ChangeRebased(rebased.head, self.main, rebased.lost)
        await asyncio.to_thread(hold_delivery, self.site.repo, task.worker.id, rebased.head)
        checkpoint("queue.rebased_held")

        def decide(board: Board) -> list[Draft]:
            now = board.task(task.id)
            waits = now.phase is Phase.APPROVAL and now.head == head
            return [Draft(event, task=task.id)] if waits else []

        await self.ledger.record(decide)

    async def _queue_again(self, queue: Queue, entry: Entry, rebased: Rebased) -> None:
        """As another version, with what was said about the one before."""
        assert rebased.head is not None
        old, task = entry.change, TaskId(entry.change.id)
        version = await asyncio.to_thread(next_version, self.site, queue, old.id, rebased.head)
        member = Member(old.id, version, rebased.head)
        held = await asyncio.to_thread(hold_change, self.site.repo, member, self.main, self.site.checkpoint)
        if isinstance(held, NotHeld):
            return await self.ledger.note(_taken_out(old, rebased.lost[0]))
        change = replace(
            old, version=member.version, head=member.head, base=held.base, paths=held.paths, priority=entry.priority
        )
        lineage = Lineage(self.site, self.main)
        await asyncio.to_thread(lineage.queue, queue, change)
        event = ChangeRebased(member.head, held.base, rebased.lost)

        def decide(board: Board) -> list[Draft]:
            now = board.queue.entries.get(old.id)
            if now is None or now.change != old or board.queue.landing is not None:
                return []
            return [Draft(event, task=task), *lineage.queue(board.queue, change)]

        await self.ledger.record(decide)


def _may_come_back(queue: Queue) -> bool:
    """Main was rewound and a person has not said yet what is to become of it."""
    return queue.halted is not None and queue.halted.rewound


def _head_of(queue: Queue, task: Task) -> str | None:
    return queue.entries[task.id].change.head if task.id in queue.entries else task.head


def _taken_out(change: Change, lost: str) -> ChangeCancelled:
    reason = f"it is built on commit {lost[:10]}, which is no longer in main, and does not apply without it"
    return ChangeCancelled(change.id, change.version, reason)
