"""Worktrees between attempts: warm ones kept ready, forgotten ones brought back."""

import asyncio

from paddock.core.errors import PaddockError, words_of
from paddock.core.events import DaemonTroubled, Draft, Swept
from paddock.core.ids import recordable
from paddock.core.tasks.conversations import find_homes
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.ledger import Ledger
from paddock.fleet.site import Site
from paddock.fleet.troubles import Troubles
from paddock.git.worktrees.pool import fill
from paddock.git.worktrees.release import release
from paddock.git.worktrees.slots import list_slots, read_record

FILL_SECONDS = 20.0
BUSY_SECONDS = 1.0


async def release_strays(site: Site, ledger: Ledger) -> None:
    """Takes back the worktrees of attempts that ended while no daemon lived to do it."""
    board = ledger.board
    live = {str(attempt.id) for name in board.live if (attempt := board.tasks[name].live_attempt) is not None}
    claimed = await asyncio.to_thread(_claimed, site)
    strays = [name for name in claimed if name not in live and not name.endswith(".resolve")]
    drafts = [Draft(await asyncio.to_thread(_take_back, site, stray)) for stray in strays]
    checkpoint("strays.released")
    if drafts:
        await ledger.record(lambda _board: drafts)
        checkpoint("strays.recorded")


def _take_back(site: Site, stray: str) -> Swept | DaemonTroubled:
    """One worktree that does not come back must not keep the fleet from starting."""
    try:
        kept = release(site.root, stray, f"{stray} ended without a daemon", checkpoint).kept
    except (PaddockError, OSError) as error:
        kept = recordable(str(error))
    if kept:
        return DaemonTroubled(f"taking back the worktree of {stray}", kept[:2000])
    return Swept(f"worktree of {stray}", "its attempt had ended")


def _claimed(site: Site) -> list[str]:
    records = [read_record(slot) for slot in list_slots(site.root)]
    return [record.attempt for record in records if record is not None and record.attempt]


async def fill_pool(site: Site, ledger: Ledger, troubles: Troubles) -> None:
    """Keeps the pool full at main's tip, a little at a time, while the fleet has nothing better to do."""
    size = site.config.worktrees.pool
    while size:
        try:
            tip = await asyncio.to_thread(site.main_tip)
            homes = find_homes(ledger.board)
            report = await asyncio.to_thread(fill, site.root, tip, size, 1, homes=homes)
            busy, problem = bool(report.made or report.repointed), "; ".join(report.problems)
        except (PaddockError, OSError) as error:
            busy, problem = False, words_of(error)
        await troubles.observe("filling the pool", problem)
        await asyncio.sleep(BUSY_SECONDS if busy and not problem else FILL_SECONDS)
