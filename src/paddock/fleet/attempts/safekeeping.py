"""What agents at work have committed is taken into the repository as they go: a lost folder takes no commit along."""

import asyncio

from paddock.core.errors import PaddockError
from paddock.core.ids import AttemptId
from paddock.core.tasks.task import Attempt
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.ledger import Ledger
from paddock.fleet.site import Site
from paddock.sessions.host import Host

KEEP_SECONDS = 5.0
"""Between two looks for commits. Each costs two looks at a file for every agent."""


async def keep_commits(site: Site, ledger: Ledger) -> None:
    """For ever. What cannot be taken in now is judged when the attempt ends."""
    known: dict[AttemptId, tuple[int, ...]] = {}
    while True:
        await asyncio.sleep(KEEP_SECONDS)
        working = _at_work(site, ledger)
        known = {name: known.get(name, ()) for name in working}
        for name, attempt in working.items():
            sign = site.ground.commits_sign(attempt)
            if not sign or sign == known[name]:
                continue
            known[name] = sign
            try:
                await asyncio.to_thread(site.ground.hold_so_far, attempt)
            except (PaddockError, OSError):
                continue
            checkpoint("commits.held")


def _at_work(site: Site, ledger: Ledger) -> dict[AttemptId, Attempt]:
    board = ledger.board
    live = (board.tasks[name].live_attempt for name in board.live)
    return {
        one.id: one
        for one in live
        if one is not None
        and one.turn_open
        and not one.role.only_reads
        and site.sessions.reaches(Host(one.host, one.host_id))
    }
