"""After a decision: what landed is let go of, what was sent back goes to its agent, the outside world is told."""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from paddock.core.ids import TaskId
from paddock.core.merge.model import Decided, Outcome, Queue
from paddock.fleet.followups import SentBack
from paddock.fleet.ledger import Ledger
from paddock.fleet.notices import Notices
from paddock.fleet.site import Site
from paddock.git.held import held_units, release_unit
from paddock.git.repo import ABSENT, Repo


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
        landed = [old for old in queue.decided if old.outcome is Outcome.LANDED]
        fresh = [old for old in landed if (old.id, old.version) not in self.tidied]
        self.tidied.update((old.id, old.version) for old in fresh)
        if not fresh:
            return
        branches = {}
        if not self.site.config.land.keep_branches:
            branches = {ref: old.head for old in fresh if (ref := self._branch_of(old)) is not None}
        await asyncio.to_thread(_let_go, self.site.repo, {old.commit for old in fresh}, branches)

    def _branch_of(self, old: Decided) -> str | None:
        """The task's own branch; one that a person queued by name is theirs to delete."""
        task = self.ledger.board.tasks.get(TaskId(old.task)) if old.task else None
        return f"refs/heads/{task.branch}" if task is not None and task.branch is not None else None


def _let_go(repo: Repo, units: Collection[str | None], branches: Mapping[str, str]) -> None:
    """A branch that somebody has committed to since stays."""
    for unit in held_units(repo):
        if unit in units:
            release_unit(repo, unit)
    present = repo.refs("refs/heads/") if branches else {}
    for ref, head in branches.items():
        if present.get(ref) == head:
            repo.update_ref(ref, ABSENT, head, "paddock: landed")
