"""After a decision: what landed is let go of, what was sent back goes to its agent, the outside world is told."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from paddock.core.ids import TaskId
from paddock.core.merge.model import Decided, Ending, Queue
from paddock.core.tasks.task import Task
from paddock.fleet.landing.followups import SentBack
from paddock.fleet.landing.notices import Notices
from paddock.fleet.ledger import Ledger
from paddock.fleet.site import Site
from paddock.git.landing.held import held_units, release_unit
from paddock.git.repo import ABSENT, Repo
from paddock.git.worktrees.release import release


@dataclass
class Aftermath:
    site: Site
    ledger: Ledger
    sent_back: SentBack
    notices: Notices
    tidied: set[tuple[str, int]] = field(default_factory=set)

    @classmethod
    def of(cls, site: Site, ledger: Ledger) -> "Aftermath":
        return cls(site, ledger, SentBack(site, ledger), Notices.since(site, ledger.board.queue))

    async def look_after(self) -> str:
        """Deals with every decision once; why somebody could not be told, empty when all is well."""
        await self.sent_back.look_after(self.ledger.board)
        await self._tidy(self.ledger.board.queue)
        return self.notices.tell(self.ledger.board.queue)

    async def _tidy(self, queue: Queue) -> None:
        """Lets go of what landed. Done again by the next daemon if this one dies first."""
        landed = [old for old in queue.decided if old.outcome is Ending.LANDED]
        fresh = [old for old in landed if (old.id, old.version) not in self.tidied]
        self.tidied.update((old.id, old.version) for old in fresh)
        if not fresh:
            return
        branches = {}
        if not self.site.config.land.keep_branches:
            landed_tasks = [(task, old.head) for old in fresh if (task := self._task_of(old)) is not None]
            await asyncio.to_thread(_give_back, self.site, [task for task, _ in landed_tasks])
            branches = {f"refs/heads/{task.branch}": head for task, head in landed_tasks}
        await asyncio.to_thread(_let_go, self.site.repo, {old.commit for old in fresh}, branches)

    def _task_of(self, old: Decided) -> Task | None:
        """Whose branch it is; one that a person queued by name is theirs to delete."""
        task = self.ledger.board.tasks.get(TaskId(old.task)) if old.task else None
        return task if task is not None and task.branch is not None else None


def _give_back(site: Site, tasks: Sequence[Task]) -> None:
    """A worktree that is still on its way to the pool: without its branch all its files would look uncommitted."""
    for attempt in (attempt for task in tasks for attempt in task.attempts if not attempt.live):
        release(site.root, attempt.id, f"{attempt.id} ended")


def _let_go(repo: Repo, units: Collection[str | None], branches: Mapping[str, str]) -> None:
    """A branch that somebody has committed to since stays."""
    for unit in held_units(repo):
        if unit in units:
            release_unit(repo, unit)
    present = repo.refs("refs/heads/") if branches else {}
    for ref, head in branches.items():
        if present.get(ref) == head:
            repo.update_ref(ref, ABSENT, head, "paddock: landed")
