"""The chore that lets others watch a fleet: what they decide is recorded, or they are asked again."""

import asyncio
from pathlib import Path

from msgspec.structs import replace

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import DaemonTroubled, Draft
from paddock.fleet.chores import Deck, Inquest
from paddock.fleet.ledger import take_lead
from paddock.fleet.troubles import Troubles
from paddock.fleet.workspace import Workspace
from paddock.git.repo import discover
from paddock.insight.keeper import keep_traces
from paddock.insight.look import Decide, Look
from paddock.sessions.host import this_process
from paddock.store.location import log_of, open_store
from tests.fleet.notice import Notice
from tests.fleet.yard import Yard


def test_what_cannot_be_recorded_keeps_nothing_else_from_it_and_is_decided_again(yard: Yard) -> None:
    yard.add({"fail": "boom"}, attempts=1)
    yard.run()
    told: list[tuple[str, ...]] = []
    recorded: list[str] = []
    is_over = asyncio.Event()

    def observe_well(look: Look) -> list[Decide]:
        told.append(look.ended)
        return [refuse, record] if look.ended else []

    def refuse(_board: Board) -> list[Draft]:
        if len(told) == 1:
            raise PaddockError("the disk is full")
        is_over.set()
        return []

    def record(_board: Board) -> list[Draft]:
        recorded.append("x")
        return [Draft(DaemonTroubled("x", "y"))]

    async def keep() -> None:
        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            chore = group.create_task(keep_traces(lambda: (observe_well,))(deck_of(yard.top)))
            await is_over.wait()
            chore.cancel()

    asyncio.run(keep())
    assert told[0] == told[1] != ()
    assert recorded, "although what was decided before it was refused"


def deck_of(top: Path) -> Deck:
    """Of a fleet at rest in which something has failed, and whose keeper looks often."""
    site = Workspace(discover(top)).site
    site.config = replace(site.config, insight=replace(site.config.insight, follow=True, every=0.05))
    ledger = take_lead(open_store(log_of(site.repo)), this_process("daemon"), Notice(), site.clock)
    return Deck(site, ledger, Troubles(ledger, site.state_dir, site.clock.now), Inquest(lambda: None))
