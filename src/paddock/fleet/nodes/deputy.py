"""The deputy of a node: it drives the attempts and CI runs whose host is this node, from the log, as the daemon drives
those of its own machine.

It holds the node's lease and signs with it. It needs the log and the git remote, and neither Ray nor a daemon: whatever
was claimed for this node goes on to its end without them. One that loses its lease leaves, and its successor ends what
is no longer this node's.

    claimed for this node ─▶ commits fetched ─▶ turns ─▶ judged ─▶ commits pushed ─▶ recorded
"""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field

from paddock.core.board import Board
from paddock.core.ids import RUN_OWNER
from paddock.core.tasks.vocabulary import EndedBy
from paddock.core.troubles import PATIENT
from paddock.fleet.attempts.attempt import Crew
from paddock.fleet.attempts.runs import AttemptRuns
from paddock.fleet.attempts.safekeeping import keep_commits
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.desk.office import DeskOffice
from paddock.fleet.drives import Drives
from paddock.fleet.landing.runs import Runs
from paddock.fleet.landing.sandbox_run import CiCrew
from paddock.fleet.ledger import RENEW_SECONDS, Ledger
from paddock.fleet.nodes.agents_told import AgentsTold
from paddock.fleet.nodes.hearsay import Hearsay
from paddock.fleet.nodes.home import NodeHome
from paddock.fleet.room import FullDiskNotice
from paddock.fleet.site import Site
from paddock.fleet.troubles import Troubles
from paddock.fleet.upkeep.pool import fill_pool
from paddock.fleet.upkeep.rounds import Rounds
from paddock.fleet.upkeep.sweeper import Sweeper

SLOW_CLOCK_SECONDS = 5.0
ROUND_SECONDS = 0.02
SERVE_SECONDS = 0.3
SERVING = "opening desks for workers"


@dataclass
class Deputy:
    """`renewed` is asked now and then and says what configures the fleet by now; `is_attended` tells whether Ray still
    has a manager on this node."""

    site: Site
    ledger: Ledger
    home: NodeHome
    renew: Callable[[], None]
    is_attended: Callable[[], bool]
    desks: DeskOffice = field(init=False)

    def __post_init__(self) -> None:
        self.ledger.lead.take_seat()
        self.site.follow(self.ledger.lead)
        self.desks = DeskOffice(self.site)
        self.ending = ""
        self._woken = asyncio.Event()
        self._drives = Drives(self._woken.set)
        self._troubles = Troubles(self.ledger, self.site.state_dir, self.site.clock.now, PATIENT)
        FullDiskNotice(self.ledger, self._troubles)
        sweeper = Sweeper(self.site.sessions)
        crew = Crew(self.site, self.ledger, sweeper, Hearsay(self.home.heard_file))
        self.attempts = AttemptRuns(crew, self._troubles, self._drives)
        self._told = AgentsTold(self.site, self.ledger, self.attempts, self.home.folder)
        crew.stirred = self._told.stir
        self._runs = Runs(self.site, self.ledger, CiCrew(self.site, sweeper), self._drives, self._troubles)
        self._rounds = Rounds(self.site, self.ledger, self._troubles, self._driven)

    async def run(self) -> None:
        """Until it is asked to end, replaced, or left alone with nothing to do."""
        self.ledger.lead.answer_in(asyncio.get_running_loop())
        with self.ledger.store.listen() as listener:
            listener.tell(self._woken.set)
            try:
                checkpoint("deputy.leads")
                await self._end_strangers()
                await self._rounds.open()
                await self._run_tasks()
            finally:
                self.site.sessions.close()
                await self.desks.close()
                self._told.close()

    def end(self, why: str) -> None:
        """Agents keep working without it."""
        self.ending = why
        self.ledger.stop_waiting()
        self._woken.set()

    async def _run_tasks(self) -> None:
        chores = (
            self.ledger.keep_lease(min(RENEW_SECONDS, self.site.config.sessions.lost_after / 3)),
            fill_pool(self.site, self.ledger, self._troubles),
            self._rounds.keep(),
            self._serve_workers(),
            keep_commits(self.site, self.ledger),
        )
        await self._drives.beside(chores, self._loop)

    async def _loop(self) -> None:
        clock = asyncio.get_running_loop()
        while not self.ending:
            self.ledger.lead.require()
            next_round_at = clock.time() + ROUND_SECONDS
            self._woken.clear()
            self.renew()
            board = self.ledger.read()
            self._act(board)
            if not self._drives.tasks and not self.is_attended():
                self.ending = "nobody attends to it, and it has nothing to do"
                return
            self._told.stir()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(SLOW_CLOCK_SECONDS):
                    await self._woken.wait()
            await asyncio.sleep(max(0.0, next_round_at - clock.time()))

    def _act(self, board: Board) -> None:
        self.attempts.adopt(board)
        self.attempts.steer(board)
        self._stop_taken(board)
        self._runs.adopt(board.queue)
        for name in self._runs.driven:
            run = board.queue.running.get(name)
            if run is None or run.cancelling:
                self._runs.cancel(name, "cancelled")

    def _stop_taken(self, board: Board) -> None:
        """What somebody else has ended in the log, because this node was out of reach, is ended here, too."""
        for name, run in self.attempts.by_task.items():
            live = board.tasks[name].live_attempt
            if (live is None or live.id != run.attempt_id) and not run.wish.stop:
                run.wish.stop = EndedBy.STOP
                run.wish.changed.set()

    async def _end_strangers(self) -> None:
        """Processes of attempts and CI runs that are not, or no longer, this node's: a former deputy was fenced off."""
        board, sessions = self.ledger.read(), self.site.sessions
        here = sessions.host.id
        attempts = (board.tasks[name].live_attempt for name in board.live)
        ours = {str(one.id) for one in attempts if one is not None and one.host_id == here}
        ours |= {f"{RUN_OWNER}{run.id}" for run in board.queue.running.values() if run.host_id == here}

        def end() -> None:
            strangers = {process.owner for process in sessions.find()} - ours
            if strangers:
                sessions.sweep(strangers)

        await asyncio.to_thread(end)
        checkpoint("deputy.alone")

    async def _serve_workers(self) -> None:
        while True:
            workers = self._driven() | {f"{RUN_OWNER}{run}" for run in self._runs.driven}

            async def serve(workers: frozenset[str] = workers) -> None:
                await self.desks.serve(workers)

            await self._troubles.attempt(SERVING, serve)
            await asyncio.sleep(SERVE_SECONDS)

    def _driven(self) -> frozenset[str]:
        return frozenset(run.attempt_id for run in self.attempts.by_task.values())
