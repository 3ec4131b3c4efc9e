"""Keeping the dataset up to date while a fleet runs, and letting others watch it: a chore of the daemon.

All work is done in one thread of its own, in bounded parts with pauses between them. The daemon's loop only looks
whether there may be anything new, and records what those who watch give back.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from paddock.core.board import Board
from paddock.core.causes.decide import waits_for_diagnosis
from paddock.core.errors import PaddockError, words_of
from paddock.core.lead import Succeeded
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.chores import Chore, Deck

if TYPE_CHECKING:
    from paddock.insight.look import Decide, Observe
    from paddock.insight.watch import Watch

SHORTEST_SECONDS = 0.05
TOGETHER_SECONDS = 0.3
"""Attempts that fail together within this time are looked into together."""
LEFT_SECONDS = 600.0
"""What failed since then, and was not looked into by an earlier daemon, is looked into first."""
WATCH_SECONDS = 60.0
"""As long as alerts stand, those who watch are asked at least this often: time alone may end one."""
CATCHING_UP = 9.0
"""How much longer the pause is than a look after which there is more to take in: a tenth of a core at most."""
KEEPING = "keeping the traces"
WATCHING = "watching the traces"

T = TypeVar("T")
Observers = Callable[[], Sequence["Observe"]]
"""Called in the thread: what is imported there costs the daemon's start nothing."""


def keep_traces(observers: Observers) -> Chore:
    async def keep(deck: Deck) -> None:
        thread = ThreadPoolExecutor(1, thread_name_prefix="insight")
        try:
            await _Keeper(deck, observers, thread).keep()
        finally:
            thread.shutdown(wait=False, cancel_futures=True)

    return keep


class _Keeper:
    def __init__(self, deck: Deck, observers: Observers, thread: ThreadPoolExecutor) -> None:
        self._deck = deck
        self._observers = observers
        self._thread = thread
        self._watch: Watch | None = None
        self._seen = -1
        self._looked_at = 0.0
        self._pause: float | None = None
        self._unrecorded: frozenset[str] = frozenset()
        self._again = False

    async def keep(self) -> None:
        """For ever."""
        inquest = self._deck.inquest
        try:
            inquest.attended = self._deck.site.config.insight.follow
            if waits_for_diagnosis(self._deck.ledger.read(), self._deck.site.clock.now() - LEFT_SECONDS):
                inquest.report()
            while True:
                settings = self._deck.site.config.insight
                inquest.attended = settings.follow
                await inquest.wait(self._pause or max(SHORTEST_SECONDS, settings.every))
                self._pause = None
                if inquest.open():
                    await asyncio.sleep(TOGETHER_SECONDS)
                failed = inquest.goes_on
                if failed or self._is_due(self._deck.ledger.board):
                    self._seen, self._looked_at = self._deck.ledger.board.seq, self._deck.site.clock.now()
                    await self._deck.troubles.attempt(KEEPING, partial(self._look, at_once=failed))
                if self._seen >= 0:
                    inquest.close()
        finally:
            inquest.attended = False
            if self._watch is not None:
                self._watch.stop()

    def _is_due(self, board: Board) -> bool:
        """A fleet at rest is not looked at, unless it has alerts or the last look came to nothing, and nothing is to be
        done for one that never had an attempt or a schedule."""
        if not self._deck.site.config.insight.follow:
            return False
        if board.live or self._again:
            return True
        if self._watch is None:
            return bool(board.standing_alerts) or not board.schedule_part.is_nothing
        waited = self._deck.site.clock.now() - self._looked_at
        return board.seq != self._seen or (bool(board.standing_alerts) and not 0 <= waited < WATCH_SECONDS)

    async def _look(self, *, at_once: bool) -> None:
        self._again = True
        if self._watch is None:
            self._watch = await self._in_thread(self._begin)
        looked = await self._in_thread(partial(self._watch.look, at_once=at_once, unrecorded=self._unrecorded))
        if looked.more:
            self._seen, self._pause = -1, max(SHORTEST_SECONDS, looked.seconds * CATCHING_UP)
        elif looked.rests:
            self._seen, self._pause = -1, min(looked.rests, self._deck.site.config.insight.every)
        decided = dict(looked.decided)
        self._unrecorded = frozenset(decided)
        problems = dict(looked.problems)
        for whose, problem in looked.problems.items():
            problems[whose] = problem or await self._record(decided[whose])
            if not problems[whose]:
                self._unrecorded -= {whose}
            await self._deck.troubles.observe(WATCHING, problems[whose], whose)
        self._again = any(problems.values())

    async def _record(self, decides: "Sequence[Decide]") -> str:
        """The first problem, if there is any; it keeps nothing else from the log."""
        problem = ""
        for decide in decides:
            try:
                checkpoint("insight.decided")
                await self._deck.ledger.record(decide)
                checkpoint("insight.recorded")
            except PaddockError as error:
                problem = problem or words_of(error)
        return problem

    def _begin(self) -> "Watch":
        from paddock.insight.watch import Watch

        return Watch(self._deck.site, self._observers())

    async def _in_thread(self, work: Callable[[], T]) -> T:
        """Raises PaddockError, also for what is our own mistake: no fleet may end of it."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        except (PaddockError, OSError, Succeeded):
            raise
        except Exception as error:
            raise PaddockError(f"{type(error).__name__}: {error}") from error
