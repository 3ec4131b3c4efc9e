"""The daemon: wake, read the board, decide, record, act. Nothing it knows is lost when it dies."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from paddock.config.schema import Config
from paddock.core.board import Board
from paddock.core.ids import RUN_OWNER, TaskId
from paddock.core.troubles import BRISK, PATIENT, Trouble
from paddock.fleet.attempts.attempt import Crew, Ear
from paddock.fleet.attempts.runs import AttemptRuns
from paddock.fleet.attempts.safekeeping import keep_commits
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.chores import Chore, Deck, Inquest
from paddock.fleet.desk.office import DeskOffice
from paddock.fleet.dispatch.dispatcher import Dispatcher
from paddock.fleet.dispatch.gate import Gate
from paddock.fleet.drives import Drives
from paddock.fleet.group.membership import join_group
from paddock.fleet.landing.lander import TENDING, Lander
from paddock.fleet.landing.main_branch import LANDING
from paddock.fleet.landing.sandbox_run import CiCrew
from paddock.fleet.ledger import Ledger
from paddock.fleet.lookout import Lookout
from paddock.fleet.news import News
from paddock.fleet.nodes.director import COLLECTING, NodeDirector
from paddock.fleet.notify.teller import Teller
from paddock.fleet.review.check_runs import CheckRuns
from paddock.fleet.review.loop import REVIEWING, ReviewLoop
from paddock.fleet.room import FullDiskNotice
from paddock.fleet.schedules.loop import SCHEDULING, ScheduleLoop
from paddock.fleet.service.settings import SettingsFile, notice_edit, record_settings
from paddock.fleet.site import Site
from paddock.fleet.troubles import Troubles
from paddock.fleet.upkeep.pool import fill_pool
from paddock.fleet.upkeep.rounds import Rounds
from paddock.fleet.upkeep.sweeper import Sweeper

SLOW_CLOCK_SECONDS = 5.0
LULL_SECONDS = 60.0
"""Whatever is overlooked, for instance because another process changed a file, is seen after this time."""
ROUND_SECONDS = 0.02
"""A busy fleet wakes its daemon with every step of every agent; one round handles everything that arrived."""
STARTING = "starting agents"
SERVING = "opening desks for workers"
SERVE_SECONDS = 0.3
ESSENTIAL = frozenset({STARTING, REVIEWING, LANDING, TENDING, COLLECTING})
"""What a fleet that ends when idle does not give up before several tries."""


@dataclass(frozen=True, slots=True)
class Orders:
    """How this daemon was asked to run. `only` limits it to some tasks."""

    until_idle: bool = False
    max_agents: int | None = None
    only: frozenset[TaskId] | None = None


@dataclass(frozen=True, slots=True)
class Lull:
    """From `since` until `until` there is nothing to do, unless news come or the settings change."""

    config: Config
    since: float
    until: float

    def lasts(self, site: Site) -> bool:
        """Not if it has not begun yet: somebody has set the clock back."""
        return site.config is self.config and self.since <= site.clock.now() < self.until


@dataclass
class Daemon:
    site: Site
    ledger: Ledger
    orders: Orders = field(default_factory=Orders)
    settings: SettingsFile | None = None
    desks: DeskOffice | None = None
    tells_people: bool = False
    chores: Sequence[Chore] = ()
    recruit: Callable[[Ledger, Ear, Troubles], NodeDirector] | None = None
    """Where agents or CI runs are on the nodes of a cluster."""

    def __post_init__(self) -> None:
        self.ledger.lead.take_seat()
        self.site.follow(self.ledger.lead)
        self.ending = ""
        self._woken = asyncio.Event()
        self._called = False
        self._drives = Drives(self._call)
        patience = BRISK if self.orders.until_idle else PATIENT
        self.troubles = Troubles(self.ledger, self.site.state_dir, self.site.clock.now, patience)
        self.room = FullDiskNotice(self.ledger, self.troubles)
        self._group = join_group(self.site, self.ledger)
        self.gate = Gate(self.site, group=self._group)
        self.news = News(self.ledger, self.gate)
        sweeper = Sweeper(self.site.sessions)
        crew = Crew(self.site, self.ledger, sweeper, self.gate)
        self.attempts = AttemptRuns(crew, self.troubles, self._drives)
        self.nodes = self.recruit(self.ledger, self.gate, self.troubles) if self.recruit is not None else None
        self._lookout = Lookout(self.site, self.ledger, self.gate, self.attempts, lambda: self.most_agents)
        if self.nodes is not None:
            self._lookout.elsewhere = self.nodes
            self.site.has_work_of = self.nodes.has_work_of
        crew.stirred = self._lookout.stir
        self.inquest = Inquest(self._call)
        crew.failed = self.inquest.report
        self._teller = Teller(self.site, self.ledger, self.gate, self.troubles) if self.tells_people else None
        ours, config = self.nodes, self.site.config
        agents_at, runs_at = (ours if at == "ray" else None for at in (config.sessions.runner, config.land.runner))
        self._dispatcher = Dispatcher(self.site, self.ledger, self.gate, self.inquest, agents_at)
        watches = not self.orders.until_idle
        ci = CiCrew(self.site, sweeper)
        self.lander = Lander(self.site, self.ledger, ci, self._drives, self.troubles, watches, runs_at)
        self._checks = CheckRuns(self.site, self.ledger, ci, self._drives)
        self._reviews = ReviewLoop(self.site, self.ledger, self._checks)
        self._schedules = ScheduleLoop(self.site, self.ledger, self.troubles)
        self._due_at: float | None = None
        self._rounds = Rounds(self.site, self.ledger, self.troubles, self._driven)

    async def run(self) -> None:
        """Runs until idle, asked to end, or replaced. Agents that still run are left to the next daemon."""
        self.ledger.lead.answer_in(asyncio.get_running_loop())
        with self.ledger.store.listen() as listener:
            listener.tell(self._woken.set)
            try:
                checkpoint("daemon.leads")
                if self.settings is not None:
                    await record_settings(self.site, self.ledger)
                await self._rounds.open()
                await self._run_tasks()
            finally:
                self.site.sessions.close()
                if self.desks is not None:
                    await self.desks.close()
                    self.troubles.heal(SERVING)  # nobody is served any more
                self.gate.flush()
                self._lookout.close()
                if self._teller is not None:
                    self._teller.close()
                checkpoint("daemon.leaves")

    async def _run_tasks(self) -> None:
        chores = (
            self.ledger.keep_lease(),
            fill_pool(self.site, self.ledger, self.troubles),
            self._rounds.keep(),
            self._serve_workers(),
            self.attempts.watch_seats(self._call),
            keep_commits(self.site, self.ledger),
            *((self._teller.keep(),) if self._teller is not None else ()),
            *((self.nodes.keep(),) if self.nodes is not None else ()),
            *(chore(Deck(self.site, self.ledger, self.troubles, self.inquest)) for chore in self.chores),
        )
        await self._drives.beside(chores, self._loop)

    async def _loop(self) -> None:
        """Each round: wake, read the board, decide, record, act. Drives act between the rounds."""
        clock = asyncio.get_running_loop()
        lull: Lull | None = None
        while not self.ending and self.ledger.store.exists():
            self.ledger.lead.require()
            next_round_at = clock.time() + ROUND_SECONDS
            called, self._called = self._called, False
            self._woken.clear()
            look_at = await notice_edit(self.settings, self.site, self.ledger, self.troubles)
            board = self.ledger.read()
            if called or lull is None or not lull.lasts(self.site) or self._has_news(board):
                config = self.site.config
                start_at, land_at = await self._act(board)
                if self.orders.until_idle and (self._is_idle(start_at) or self._is_stuck()):
                    self.news.tell(self.ledger.board)
                    return
                now = self.site.clock.now()
                look = (self.gate.look_at, self._due_at, now + LULL_SECONDS)
                lull = Lull(config, now, min(_times(start_at, land_at, *look)))
            self.gate.learn(self._running(board))
            self._lookout.stir()
            if self._teller is not None:
                self._teller.stir()
            await self._sleep(min(_times(lull.until, look_at, self.gate.learns_at)))
            await asyncio.sleep(max(0.0, next_round_at - clock.time()))

    async def _act(self, board: Board) -> tuple[float | None, float | None]:
        """Does all there is to do; returns when to look again for something to start or review, and to land."""
        self.news.tell(board)
        self.attempts.adopt(board)
        self.attempts.steer(board)
        if self.nodes is not None:
            # Whatever is decided about work needs its commits here.
            again = await self.troubles.attempt(COLLECTING, partial(self.nodes.collect, board), BRISK)
            if again is not None:
                return again, None
        self._checks.steer(board)
        await self._fire(board)
        review_at = await self.troubles.attempt(REVIEWING, partial(self._reviews.step, board), BRISK)
        start_at = min(_times(await self._dispatch(board), review_at), default=None)
        await self._tell_group()
        return start_at, await self.lander.step()

    async def _tell_group(self) -> None:
        """How this repository stands, for those that draw on the same accounts."""
        if self._group is not None:
            await self._group.tell(self.ledger.board, self.gate.controls)
            self.gate.show_group(self._group.latest)
            await self.troubles.observe("telling the group", self._group.trouble, self._group.place.name)

    @property
    def most_agents(self) -> int:
        """How many may run at the same time."""
        return self.site.config.limits.max_agents if self.orders.max_agents is None else self.orders.max_agents

    def _running(self, board: Board) -> Counter[str]:
        """The agents at work by account, here and on nodes."""
        here = self.attempts.count(board)
        return here if self.nodes is None else here + self.nodes.count(board)

    def _has_news(self, board: Board) -> bool:
        return self.news.has_come(board) or self.lander.sees_main_elsewhere()

    def _call(self) -> None:
        """There is something to do that the log does not tell."""
        self._called = True
        self._woken.set()

    def end(self, why: str) -> None:
        """Ends the daemon. Agents keep working without one."""
        self.ending = why
        self.ledger.stop_waiting()
        self._call()

    async def end_agents(self) -> None:
        """Emergency stop: ends every agent process, waits until each is recorded, then leaves."""
        self.orders = Orders(max_agents=0, only=self.orders.only)
        while self.attempts.by_task or (self.nodes is not None and self.nodes.live(self.ledger.read())):
            self.attempts.stop_all()
            if self.nodes is not None:
                await self.nodes.stop_all()
            checkpoint("down.wished")
            self._woken.clear()
            await self._sleep(None)
        checkpoint("down.done")
        self.end("down")

    async def _fire(self, board: Board) -> None:
        """What is due. A fleet that was asked for some tasks alone leaves that to others."""
        if self.orders.only is None and not self.ending:
            self._due_at = await self.troubles.attempt(SCHEDULING, partial(self._schedules.step, board), BRISK)

    async def _dispatch(self, board: Board) -> float | None:
        if self.ending:
            return None
        running = self._running(board)
        start = partial(self._dispatcher.start, board, running, self.most_agents, self.orders.only)
        again = await self.troubles.attempt(STARTING, start, BRISK)
        await self.troubles.observe("fetching", self._dispatcher.stale_because, self.site.config.landing_branch)
        return again

    def _is_idle(self, wake_at: float | None) -> bool:
        """Nothing runs, nothing waits for a clock, and only a person can move what is left."""
        # Called: a drive that counted when this round was decided has ended since, and left room for another.
        if wake_at is not None or self._called or self._drives.tasks or self.news.has_come(self.ledger.read()):
            return False
        if self.inquest.goes_on or any(trouble.what in ESSENTIAL for trouble in self.troubles.book.open):
            return False
        queue = self.ledger.board.queue
        if self.nodes is not None and self.nodes.is_busy(self.ledger.board):
            return False
        # Whatever runs without a drive of ours is on a host that we cannot reach.
        elsewhere = bool(queue.running)
        stuck = queue.frozen or queue.paused or queue.halted is not None or queue.draining_since is not None
        return stuck or elsewhere or not queue.entries

    def _is_stuck(self) -> bool:
        """Nothing runs, and what should continue has failed again and again."""
        return bool(self.given_up) and not self._drives.tasks

    @property
    def given_up(self) -> list[Trouble]:
        """Essential work that the fleet keeps failing at."""
        return [trouble for trouble in self.troubles.book.open if trouble.hopeless and trouble.what in ESSENTIAL]

    async def _sleep(self, wake_at: float | None) -> None:
        pause = SLOW_CLOCK_SECONDS if wake_at is None else max(0.01, wake_at - self.site.clock.now())
        timer = asyncio.get_running_loop().call_later(min(SLOW_CLOCK_SECONDS, pause), self._woken.set)
        await self._woken.wait()
        timer.cancel()

    async def _serve_workers(self) -> None:
        """A desk for each that is driven, and for no other; apart from the rounds, which may take longer."""
        while self.desks is not None:
            runs = (*self.lander.runs.driven, *self._checks.driven)
            workers = self._driven() | {f"{RUN_OWNER}{run}" for run in runs}
            await self.troubles.attempt(SERVING, partial(self.desks.serve, workers))
            await asyncio.sleep(SERVE_SECONDS)

    def _driven(self) -> frozenset[str]:
        """The attempts that we drive, or that people hold."""
        return frozenset(run.attempt_id for run in self.attempts.by_task.values()) | self.attempts.held()


def _times(*times: float | None) -> list[float]:
    return [at for at in times if at is not None]
