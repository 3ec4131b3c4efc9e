"""Worktrees between attempts: some are kept warm."""

import asyncio

from paddock.core.errors import PaddockError, words_of
from paddock.core.tasks.conversations import find_homes
from paddock.fleet.ledger import Ledger
from paddock.fleet.site import Site
from paddock.fleet.troubles import Troubles
from paddock.git.worktrees.pool import fill

FILL_SECONDS = 20.0
BUSY_SECONDS = 1.0


async def fill_pool(site: Site, ledger: Ledger, troubles: Troubles) -> None:
    """Keeps the pool full at main's tip, a little at a time, while the fleet has nothing better to do."""
    size = site.config.worktrees.pool
    while size:
        try:
            tip = await asyncio.to_thread(site.main_tip)
            homes = find_homes(ledger.board)
            report = await asyncio.to_thread(fill, site.root, tip, size, 1, homes=homes, checkpoint=site.checkpoint)
            busy, problem = bool(report.made or report.repointed), "; ".join(report.problems)
        except (PaddockError, OSError) as error:
            busy, problem = False, words_of(error)
        await troubles.observe("filling the pool", problem)
        await asyncio.sleep(BUSY_SECONDS if busy and not problem else FILL_SECONDS)
