"""What follows from a decision: what landed is released, what was returned goes to its agent, a notifier is called."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from paddock.core.ids import TaskId
from paddock.core.merge.model import Decided, Ending
from paddock.core.tasks.task import Task
from paddock.fleet.landing.followups import SentBack
from paddock.fleet.landing.notices import Notices
from paddock.fleet.ledger import Ledger
from paddock.fleet.site import Site
from paddock.git.landing.held import held_units, release_unit
from paddock.git.repo import ABSENT
from paddock.git.worktrees.release import release


@dataclass
class Decisions:
    """Each daemon handles those the queue remembers once more: the one before may have died first."""

    site: Site
    ledger: Ledger
    sent_back: SentBack
    notices: Notices
    seen: frozenset[tuple[str, float]] = frozenset()

    @classmethod
    def since(cls, site: Site, ledger: Ledger) -> "Decisions":
        return cls(site, ledger, SentBack(site, ledger), Notices.since(site, ledger.board.queue))

    async def look_after(self) -> str | None:
        """Handles every decision once; returns why a notifier could not be called, None if none had to be."""
        queue = self.ledger.board.queue
        fresh = [new for new in queue.decided if (new.id, new.at) not in self.seen]
        await self.sent_back.look_after(self.ledger.board, fresh)
        await self._let_go([new for new in fresh if new.outcome is Ending.LANDED])
        self.seen = frozenset((old.id, old.at) for old in queue.decided)
        return self.notices.tell(queue, fresh)

    async def _let_go(self, landed: Sequence[Decided]) -> None:
        if landed:
            tasks = [] if self.site.config.land.keep_branches else list(filter(None, map(self._task_of, landed)))
            await asyncio.to_thread(_let_go, self.site, {old.commit for old in landed}, tasks)

    def _task_of(self, old: Decided) -> tuple[Task, str] | None:
        """Whose branch it is, and where it was; one that a person queued by name is theirs to delete."""
        task = self.ledger.board.tasks.get(TaskId(old.task)) if old.task else None
        return (task, old.head) if task is not None and task.branch is not None else None


def _let_go(site: Site, units: Collection[str | None], tasks: Sequence[tuple[Task, str]]) -> None:
    """A branch that has gained commits since then stays."""
    for unit in held_units(site.repo):
        if unit in units:
            release_unit(site.repo, unit)
    present = site.repo.refs("refs/heads/") if tasks else {}
    for task, head in tasks:
        ref = f"refs/heads/{task.branch}"
        if present.get(ref) == head:
            _give_back(site, task)
            site.repo.update_ref(ref, ABSENT, head, "paddock: landed")


def _give_back(site: Site, task: Task) -> None:
    """A worktree that is still on its way to the pool: without its branch all its files would look uncommitted."""
    for attempt in task.attempts:
        if not attempt.live:
            release(site.root, attempt.id, f"{attempt.id} ended")
