"""The merge queue's effects: what the planner asks for is done here, and what came of it is recorded.

Every action may be repeated after a crash. A run is recorded before its process exists, a landing before
main moves; the next daemon reads both from the board and goes on.
"""

import asyncio
from dataclasses import dataclass, field

from msgspec.structs import replace

from paddock.core.errors import IllegalTransition, PaddockError
from paddock.core.merge import actions as act
from paddock.core.merge import events as qe
from paddock.core.merge.halts import heals_itself
from paddock.core.merge.model import Queue
from paddock.core.merge.plan import plan
from paddock.fleet.drives import Drives
from paddock.fleet.landing.conflicts import landed_against
from paddock.fleet.landing.decisions import Decisions
from paddock.fleet.landing.entrance import main_ref
from paddock.fleet.landing.entries import Entries
from paddock.fleet.landing.lost_work import loss_events
from paddock.fleet.landing.main_branch import FETCH_SECONDS, LANDING, MainBranch
from paddock.fleet.landing.runs import RunHosts, Runs
from paddock.fleet.landing.sandbox_run import CiCrew
from paddock.fleet.landing.stranded import Stranded
from paddock.fleet.ledger import Ledger
from paddock.fleet.site import Site
from paddock.fleet.troubles import Troubles
from paddock.git.landing.history import observe_main, who_moved
from paddock.git.landing.lost import compare_landed
from paddock.git.usertree.checkouts import catch_up
from paddock.git.usertree.notes import read_notes

ROUNDS = 1000
STALE_PLANS = 20
SLOT_SECONDS = 1.0
"""Until it is asked again whether another machine has a slot for a CI run."""
LOOK_SECONDS = 5.0
"""Main and checkouts may be changed by hand, which no log reports."""
TENDING = "tending the merge queue"
AGAIN_SECONDS = 15.0


@dataclass
class Lander:
    """One that `watches` tests a main that somebody else has moved, also while nothing is queued."""

    site: Site
    ledger: Ledger
    crew: CiCrew
    drives: Drives
    troubles: Troubles
    watches: bool = False
    hosts: RunHosts | None = None
    """Where CI runs, if not here."""
    _waits: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._entries = Entries(self.site, self.ledger)
        self._stranded = Stranded(self.site, self.ledger)
        self.runs = Runs(self.site, self.ledger, self.crew, self.drives, self.troubles, self.hosts)
        self._main = MainBranch(self.site, self.ledger, self.troubles)
        self._decisions = Decisions.since(self.site, self.ledger)
        self._checkouts = Checkouts(self.site)

    async def step(self) -> float | None:
        """Does all there is to do now; returns when to look again even if nothing happens, if at all."""
        tended_at = await self.troubles.attempt(TENDING, self._tend)
        landed_at = await self.troubles.attempt(LANDING, self._advance)
        return min((at for at in (tended_at, landed_at) if at is not None), default=None)

    async def _tend(self) -> float | None:
        await self._decisions.sent_back.block_unchanged(self.ledger.board)
        await self._stranded.rebase(self.ledger.board)
        more = await self._entries.queue_delivered(self.ledger.board)
        await self._look_after()
        if more:
            return self.site.clock.now()
        return self.site.clock.now() + LOOK_SECONDS if self._checkouts.behind else None

    async def _advance(self) -> float | None:
        if _is_at_rest(self.ledger.board.queue):
            await self._notice_main(self.ledger.board.queue)
            if not self._has_foreign_main():
                return None
        await self._act()
        await self._look_after()
        if self._waits:
            return self.site.clock.now() + SLOT_SECONDS
        return self.site.clock.now() + (FETCH_SECONDS if self.site.config.land.remote else LOOK_SECONDS)

    def sees_main_elsewhere(self) -> bool:
        """Whether main's own file names another commit than the queue knows; costs no process."""
        main, land = self.ledger.board.queue_switches.main, self.site.config.land
        if not self.watches or main is None or land.remote:
            return False
        return self.site.repo.loose_tip(self.site.config.landing_branch) not in (None, main.commit)

    def _has_foreign_main(self) -> bool:
        """Somebody else has moved main, and CI can say whether it passes, before anything is to land on it."""
        switches, land = self.ledger.board.queue_switches, self.site.config.land
        goes_on = switches.halted is None and not switches.paused
        return self.watches and goes_on and switches.foreign_main is not None and bool(land.ci or land.checks)

    async def _act(self) -> None:
        """Plans and performs until nothing is left to do; PaddockError where the world outside does not let us."""
        stale = 0
        for _ in range(ROUNDS):
            await self._entries.drop_cancelled(self.ledger.board)
            await self._stranded.rebase(self.ledger.board)
            queue = self.ledger.board.queue
            self.runs.adopt(queue)
            actions = plan(queue, await self._main.look(queue), self.site.clock.now())
            self._waits = False
            if not actions:
                break
            try:
                done = [await self._perform(action) for action in actions]
                self._waits = not all(done)
                if not any(done):
                    break
            except IllegalTransition:
                # Something changed while we acted on an older board (a cancel, a run's end): plan again.
                stale += 1
                if stale > STALE_PLANS:
                    raise

    async def _look_after(self) -> None:
        looks = (("reporting what landed", self._decisions), ("bringing a checkout up to date", self._checkouts))
        for what, whoever in looks:
            if (problem := await whoever.look_after()) is not None:
                await self.troubles.observe(what, problem)

    async def _perform(self, action: act.Action) -> bool:
        """False where it has to wait: asked again now, it would have to wait again."""
        match action:
            case act.StartRun():
                return await self.runs.start(action)
            case act.CancelRun(run=run, reason=reason):
                await self.ledger.note(qe.RunCancelAsked(run, reason))
                self.runs.cancel(run, reason)
            case act.Land():
                await self._main.move(action)
            case qe.ChangeConflicted():
                await self._bounce(action)
            case qe.MainMoved():
                await self._record_main(action)
            case _:
                await self.ledger.note(action)
        return True

    async def _notice_main(self, queue: Queue) -> None:
        """Where main is, before anything is queued: what moves it from then on is seen to have moved it."""
        if self.site.config.land.remote and not (self.watches and await self._main.ask_quietly()):
            return
        known = queue.main.commit if queue.main is not None else None
        if known is not None and self.site.near_tip() == known:
            return
        seen = await asyncio.to_thread(observe_main, self.site.repo, main_ref(self.site), known)
        if seen is not None and seen.commit != known:
            await self._record_main(qe.MainMoved(seen.commit, seen.tree, seen.descends))

    async def _record_main(self, moved: qe.MainMoved) -> None:
        """With who moved it and what it means for work that had landed, in one transaction."""
        known, changes = self.ledger.board.queue.main, []
        moved = replace(moved, by=await asyncio.to_thread(who_moved, self.site.repo, main_ref(self.site), moved.commit))
        if known is not None:
            compared = await asyncio.to_thread(compare_landed, self.site.repo, known.commit, moved.commit)
            changes = loss_events(self.ledger.board, moved.commit, compared)
        await self.ledger.note(moved, *changes)

    async def _bounce(self, conflict: qe.ChangeConflicted) -> None:
        entry = self.ledger.board.queue.entries.get(conflict.id)
        if entry is None:
            return
        whom = await asyncio.to_thread(landed_against, self.site, entry.change.head, conflict.base, conflict.paths)
        await self.ledger.note(replace(conflict, against=whom))


def _is_at_rest(queue: Queue) -> bool:
    """Nothing is queued, and no halt waits for main or CI to recover."""
    heals = queue.halted is not None and heals_itself(queue.halted)
    return not queue.entries and not queue.running and queue.landing is None and not heals


@dataclass
class Checkouts:
    """Those of main that could not follow when it moved: retried from time to time, as long as there are any."""

    site: Site
    looked_at: float = 0.0
    main: str | None = None
    behind: bool = False

    async def look_after(self) -> str | None:
        """Costs nothing while every checkout shows main; what went wrong, "" if nothing did, None before it is due."""
        config = self.site.config
        notes = read_notes(self.site.repo)
        self.behind = not config.land.remote and bool(notes.stale or notes.undone)
        if not self.behind:
            return ""
        main = self.site.repo.loose_tip(config.landing_branch)
        now = asyncio.get_running_loop().time()
        if main is not None and main == self.main and now < self.looked_at + AGAIN_SECONDS:
            return None
        self.looked_at, self.main = now, main
        update = config.land.checkout == "update"
        try:
            await asyncio.to_thread(
                catch_up, self.site.repo, config.landing_branch, update=update, checkpoint=self.site.checkpoint
            )
        except (PaddockError, OSError) as error:
            return str(error)
        return ""
