"""The daemon's upkeep: a first look at the worktrees before anything starts, then the janitor's rounds."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from paddock.core.ids import some_names
from paddock.core.upkeep.judge import judge
from paddock.core.upkeep.survey import Survey
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.ledger import Ledger
from paddock.fleet.site import Site
from paddock.fleet.troubles import Troubles
from paddock.fleet.upkeep.janitor import Dealt, allowed, drafts, look, look_at_claims, sweep
from paddock.git.filters import filters_of, unknown_filters
from paddock.git.left_locks import remove_left_locks

CLEANING = "cleaning up"
FILTERING = "running filters"


@dataclass
class Rounds:
    """`driven` names the attempts that a drive of ours still clears up after."""

    site: Site
    ledger: Ledger
    troubles: Troubles
    driven: Callable[[], frozenset[str]]

    async def open(self) -> None:
        """Takes back the worktrees of attempts that ended while no daemon lived to do it."""
        await asyncio.to_thread(filters_of, self.site.repo.common_dir)  # now, before an agent could add to them
        await self.troubles.attempt(CLEANING, lambda: self._clean(look_at_claims))

    async def keep(self) -> None:
        """One round at the start, then on a slow clock."""
        while True:
            again = await self.troubles.attempt(CLEANING, lambda: self._clean(look))
            every = self.site.config.janitor.every
            await asyncio.sleep(every if again is None else max(0.0, again - self.site.clock.now()))

    async def _clean(self, look_at: Callable[[Site], Survey]) -> None:
        await asyncio.to_thread(remove_left_locks, self.site.repo.common_dir)
        added = await asyncio.to_thread(unknown_filters, self.site.repo.common_dir)
        await self.troubles.observe(FILTERING, explain_filters(added))
        seen = await asyncio.to_thread(look_at, self.site)
        checkpoint("janitor.looked")
        found = judge(self.ledger.read(), seen, allowed(self.site.config, self.driven()), self.site.clock.now())
        dealt = await asyncio.to_thread(sweep, self.site, found)
        checkpoint("janitor.swept")
        now = self.site.clock.now()
        await self.ledger.record(lambda fresh: drafts(fresh, dealt, now))
        checkpoint("janitor.recorded")
        await self._note(dealt)

    async def _note(self, dealt: list[Dealt]) -> None:
        """What could not be swept is a trouble until it can, or is no leftover any more."""
        failed = {
            (f"sweeping the {one.leftover.what.value}", one.leftover.name): one.left
            for one in dealt
            if one.left and not one.stale
        }
        for trouble in self.troubles.book.open:
            if trouble.what.startswith("sweeping the ") and (trouble.what, trouble.whose) not in failed:
                self.troubles.heal(trouble.what, trouble.whose)
        for (what, name), left in failed.items():
            await self.troubles.note(what, left, name)


def explain_filters(added: tuple[str, ...]) -> str:
    """Empty when there are none."""
    if not added:
        return ""
    names = some_names(tuple(f"filter.{name}" for name in added))
    return (
        f"{names} was written into the repository's git configuration after the daemon started; it may be an agent's, "
        "so it is not run (if it is yours, run `paddock down` and `paddock up`)"
    )
