"""Main as the queue sees it, here or on a remote, and the moves it makes of it."""

import asyncio
from dataclasses import dataclass

from paddock.core.errors import PaddockError
from paddock.core.ids import recordable
from paddock.core.merge import events as qe
from paddock.core.merge.actions import Facts, Land
from paddock.core.merge.model import Queue
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.landing.entrance import ci_of, main_ref
from paddock.fleet.ledger import Ledger
from paddock.fleet.site import Site
from paddock.fleet.troubles import Troubles
from paddock.git.landing.audit import Move
from paddock.git.landing.compose import Policy
from paddock.git.landing.history import observe_main
from paddock.git.landing.land import Landed, LandResult, StaleMain, Stuck, Unsound, land
from paddock.git.landing.publish import Rejected, Unreachable

FETCH_SECONDS = 15.0
AT_REST_SECONDS = 60.0
PATIENCE_AT_REST_SECONDS = 10.0
LONGEST_SILENCE_SECONDS = 600.0
LANDING = "landing"


@dataclass
class MainBranch:
    site: Site
    ledger: Ledger
    troubles: Troubles
    fetched_at: float = 0.0

    def __post_init__(self) -> None:
        self._began = self.site.clock.now()
        self._ask_again_at = 0.0

    async def ask_quietly(self) -> bool:
        """Fetches main from its remote while nothing is to land, now and then; whether it is known.

        A remote that does not answer is nobody's trouble then, and asked again much later.
        """
        now, land = asyncio.get_running_loop().time(), self.site.config.land
        if now < self._ask_again_at:
            return False
        branch, patience = self.site.config.landing_branch, PATIENCE_AT_REST_SECONDS
        fetched = await asyncio.to_thread(self.site.repo.fetch, land.remote, branch, patience)
        pause = AT_REST_SECONDS if fetched.sha is not None else LONGEST_SILENCE_SECONDS
        self._ask_again_at = asyncio.get_running_loop().time() + pause
        return fetched.sha is not None

    async def look(self, queue: Queue) -> Facts:
        land = self.site.config.land
        if land.remote and self.site.clock.now() - self.fetched_at > FETCH_SECONDS:
            fetched = await asyncio.to_thread(self.site.repo.fetch, land.remote, self.site.config.landing_branch)
            await self.troubles.observe("fetching from", fetched.problem, land.remote)
            await self._note_remote(land.remote, fetched.problem)
            self.fetched_at = self.site.clock.now()
        known = queue.main.commit if queue.main is not None else None
        seen = await asyncio.to_thread(observe_main, self.site.repo, main_ref(self.site), known)
        if seen is None:
            raise PaddockError(f"`{main_ref(self.site)}` is gone", "create it again, or set `main` in paddock.toml")
        return Facts(
            main_commit=seen.commit,
            main_tree=seen.tree,
            ci=ci_of(self.site).digest,
            slots=land.runs_at_once,
            main_descends=seen.descends,
            watched_since=self._began,
        )

    async def move(self, action: Land) -> None:
        if self.ledger.board.queue.landing is None:
            await self.ledger.note(qe.LandingStarted(action.run, action.old, action.new))
            checkpoint("land.announced")
        settings = self.site.config.land
        # The policy may have been edited since the commit was written, and the audit asks for the shape it has.
        policy = Policy(self.ledger.board.queue.ended[action.run].policy or settings.policy)
        entries = self.ledger.board.queue.entries
        undoing = frozenset(one.id for one in action.members if one.id in entries and entries[one.id].change.may_undo)
        branch = self.site.config.landing_branch
        move = Move(branch, action.old, action.new, action.tree, action.members, policy, undoing)
        follow = settings.checkout == "update"
        result = await asyncio.to_thread(
            land,
            self.site.repo,
            move,
            settings.remote or None,
            checkpoint=self.site.checkpoint,
            update_checkouts=follow,
        )
        checkpoint("land.done")
        events = _landing_events(action, result)
        if not events:
            assert isinstance(result, Unreachable | Stuck)
            words = f"main cannot be moved: {result.reason}"
            if isinstance(result, Stuck) and self._is_last_try():
                refused = qe.LandingRefused(action.run, action.old, action.new, words)
                return await self.ledger.note(refused, qe.QueueHalted(recordable(words)[:2000], (action.run,)))
            if isinstance(result, Unreachable):
                await self._note_remote(settings.remote, result.reason)
            raise PaddockError(words)
        if settings.remote and isinstance(result, Landed):
            await self._note_remote(settings.remote, "")
            await asyncio.to_thread(self._track, action)
        elif settings.remote:
            self.fetched_at = 0.0
        await self.ledger.note(*events)
        checkpoint("land.recorded")

    def _is_last_try(self) -> bool:
        """What is in the way on this machine does not go away by itself; a remote may come back."""
        before = self.troubles.book.find(LANDING)
        return before is not None and before.times + 1 >= self.troubles.patience.tries

    async def _note_remote(self, remote: str, problem: str) -> None:
        """Once when it is lost and once when it is back; empty: it answered."""
        lost = self.ledger.board.queue.lost_remote
        if problem and lost is None:
            await self.ledger.note(qe.RemoteLost(remote, recordable(problem)[:2000]))
        elif not problem and lost is not None:
            await self.ledger.note(qe.RemoteReached(remote))

    def _track(self, action: Land) -> None:
        """A push whose answer was lost leaves our picture of the remote behind; that must not look like a rewind."""
        if self.site.repo.resolve(main_ref(self.site)) == action.old:
            self.site.repo.update_ref(main_ref(self.site), action.new, action.old, "paddock: pushed")


def _landing_events(action: Land, result: LandResult) -> tuple[qe.QueueEvent, ...]:
    """What to record; nothing if that is not known yet, or if it may work later."""
    run, old, new = action.run, action.old, action.new
    match result:
        case Landed():
            return (qe.TrainLanded(run, old, new),)
        case StaleMain(actual=actual):
            return (qe.LandingRefused(run, old, new, f"main is at {actual or 'nothing'}"),)
        case Unsound(problems=problems):
            return (qe.LandingRefused(run, old, new, "; ".join(problems[:5]), audit_failed=True),)
        case Rejected(reason=reason):
            words = f"the remote rejected it: {reason}"
            return (qe.LandingRefused(run, old, new, words), qe.QueueHalted(words, (run,)))
        case _:
            return ()
