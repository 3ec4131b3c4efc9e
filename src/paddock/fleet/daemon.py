"""The daemon: wake, read the board, decide, record, act. Nothing it knows is lost when it dies."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from paddock.core.board import Board
from paddock.core.errors import PaddockError, words_of
from paddock.core.events import Draft, LimitsReset, Record, SettingsAdopted, TaskRetried
from paddock.core.ids import TaskId
from paddock.core.tasks.task import Attempt, Phase
from paddock.core.tasks.vocabulary import EndedBy
from paddock.core.troubles import BRISK, Trouble
from paddock.fleet.attempts.attempt import AttemptRun, Crew
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.clock import wait_for
from paddock.fleet.dispatch.dispatcher import Dispatcher
from paddock.fleet.dispatch.gate import Gate
from paddock.fleet.landing.ci_run import CiCrew, CiRun
from paddock.fleet.landing.lander import LANDING, TENDING, Lander
from paddock.fleet.ledger import RENEW_SECONDS, Ledger, Succeeded
from paddock.fleet.service.settings import SettingsFile
from paddock.fleet.site import Site
from paddock.fleet.troubles import Troubles
from paddock.fleet.upkeep.janitor import judge, lease_drafts, look, note_drafts, sweep
from paddock.fleet.upkeep.pool import fill_pool, release_strays
from paddock.fleet.upkeep.sweeper import Sweeper
from paddock.sessions.host import Host
from paddock.store.protocol import Query

SLOW_CLOCK_SECONDS = 5.0
ROUND_SECONDS = 0.02
"""A busy fleet wakes its daemon with every step of every agent; a round serves all that came meanwhile."""
STARTING = "starting agents"
DRIVING = "driving"
CLEANING = "cleaning up"
ESSENTIAL = frozenset({STARTING, LANDING, TENDING})
"""What a fleet that is to end when it is idle does not leave undone without having tried again and again."""
SETTINGS = "reading paddock.toml; the previous settings stay in effect"


@dataclass(frozen=True, slots=True)
class Orders:
    """How this daemon was asked to run. `only` limits it to some tasks."""

    until_idle: bool = False
    max_agents: int | None = None
    only: frozenset[TaskId] | None = None


@dataclass
class Daemon:
    site: Site
    ledger: Ledger
    orders: Orders = field(default_factory=Orders)
    observe: Callable[[Record], None] = lambda _record: None
    settings: SettingsFile | None = None
    runs: dict[TaskId, AttemptRun] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._woken = asyncio.Event()
        self._seen = self.ledger.board.seq
        self.ending = ""
        self.troubles = Troubles(self.ledger, self.site.state_dir, self.site.clock.now)
        self._drives: dict[TaskId, asyncio.Task[None]] = {}
        self._ci_drives: dict[str, asyncio.Task[None]] = {}
        sweeper = Sweeper(self.site.sessions)
        gate = Gate(self.site)
        self._crew = Crew(self.site, self.ledger, sweeper, gate)
        for kind in (LimitsReset.kind, TaskRetried.kind):
            for record in self.ledger.store.records(Query(kind=kind, since=gate.known_at)):
                self._reset_limits(self.ledger.board, record)
        self._dispatcher = Dispatcher(self.site, self.ledger, gate)
        crew = CiCrew(self.site, sweeper)
        self.lander = Lander(self.site, self.ledger, crew, self._spawn_ci, self.troubles)

    async def run(self) -> None:
        """Until idle, asked to end, or succeeded. Agents that still run are left to the next daemon."""
        with self.ledger.store.listen() as listener:
            listener.tell(self._woken.set)
            try:
                checkpoint("daemon.leads")
                await release_strays(self.site, self.ledger)
                await self._run_tasks()
            finally:
                self.site.sessions.close()
                self._crew.gate.flush()
                checkpoint("daemon.leaves")

    async def _run_tasks(self) -> None:
        try:
            async with asyncio.TaskGroup() as self._group:
                helpers = [
                    self._group.create_task(self._keep_lease()),
                    self._group.create_task(fill_pool(self.site, self.ledger, self.troubles)),
                    self._group.create_task(self._keep_clean()),
                ]
                await self._loop()
                for task in [*helpers, *self._drives.values(), *self._ci_drives.values()]:
                    task.cancel()
        except BaseExceptionGroup as group:
            # Not `except*`: before Python 3.11.4 what is raised in one comes out wrapped in a group again.
            expected, rest = group.split(PaddockError)
            if expected is None or rest is not None:
                raise
            raise _first(expected) from None

    async def _loop(self) -> None:
        while not self.ending:
            next_round_at = asyncio.get_running_loop().time() + ROUND_SECONDS
            self._woken.clear()
            if not self.ledger.store.exists():
                return
            look_at = await self._notice_settings()
            board = self.ledger.read()
            self._report(board)
            self._steer(board)
            self._adopt(board)
            seq = board.seq
            start_at = await self._dispatch(board)
            land_at = await self.lander.step()
            if self.orders.until_idle and (self._is_idle(seq, start_at) or self._is_stuck()):
                self._report(self.ledger.board)
                return
            await self._sleep(min((at for at in (start_at, land_at, look_at) if at is not None), default=None))
            await asyncio.sleep(max(0.0, next_round_at - asyncio.get_running_loop().time()))

    async def _notice_settings(self) -> float | None:
        """Takes over what was edited in paddock.toml; returns when to look again at an edit that may go on."""
        if self.settings is None:
            return None
        adopted = self.settings.read_edit(self.site.config, self.site.clock.now())
        await self.troubles.observe(SETTINGS, self.settings.problem)
        if adopted is not None:
            self.site.config = adopted.config
            await self.ledger.record(lambda _board: [Draft(SettingsAdopted(adopted.keys, adopted.later))])
        return self.settings.settled_at

    def end(self, why: str) -> None:
        """Leave. Agents go on without a daemon."""
        self.ending = why
        self._woken.set()

    async def end_agents(self) -> None:
        """Emergency stop: ends every agent process, waits until each is recorded, then leaves."""
        self.orders = Orders(max_agents=0, only=self.orders.only)
        while self.runs:
            for run in self.runs.values():
                run.wish.stop = EndedBy.DOWN
                run.wish.changed.set()
            checkpoint("down.wished")
            self._woken.clear()
            await self._sleep(None)
        checkpoint("down.done")
        self.end("down")

    @property
    def waiting(self) -> Mapping[str, str]:
        """Why ready tasks have not started."""
        return self._crew.gate.waiting

    def _report(self, board: Board) -> None:
        if board.seq > self._seen:
            for record in self.ledger.store.records(Query(after=self._seen, until=board.seq)):
                self._reset_limits(board, record)
                self.observe(record)
            self._seen = board.seq

    def _reset_limits(self, board: Board, record: Record) -> None:
        """Trying a task again, or resetting its engine, means that what kept the engine from running is fixed."""
        match record.event:
            case LimitsReset(name=name):
                self._crew.gate.reset(name)
            case TaskRetried() if record.task is not None and (last := board.tasks[record.task].last) is not None:
                self._crew.gate.reset(last.engine)

    def _steer(self, board: Board) -> None:
        """Passes on what people want of running attempts."""
        for name, run in self.runs.items():
            task = board.tasks[name]
            attempt = task.live_attempt
            if attempt is None or run.wish.stop:
                continue
            if task.phase is Phase.CANCELLED or attempt.stop_requested is not None:
                run.wish.stop = EndedBy.STOP
                run.wish.changed.set()
                checkpoint("daemon.steered")

    def _adopt(self, board: Board) -> None:
        """Every live attempt has a run, whoever started it, unless it is on a host that we do not reach."""
        for name in list(board.live):
            attempt = board.tasks[name].live_attempt
            if name not in self.runs and attempt is not None and self._reaches(attempt):
                run = AttemptRun(self._crew, name, attempt.id)
                self.runs[name] = run
                self._drives[name] = self._group.create_task(self._drive(run), name=f"attempt {attempt.id}")
                checkpoint("daemon.adopted")

    def _reaches(self, attempt: Attempt) -> bool:
        return self.site.sessions.reaches(Host(attempt.host, attempt.host_id))

    async def _drive(self, run: AttemptRun) -> None:
        """Whatever goes wrong is tried again, and left to a person when that does not help."""
        try:
            while not await self._drive_once(run):
                pass
        finally:
            self.runs.pop(run.task_id, None)
            self._drives.pop(run.task_id, None)
            self._woken.set()

    async def _drive_once(self, run: AttemptRun) -> bool:
        """Whether nothing is left to do for it."""
        try:
            await run.drive()
        except (Succeeded, asyncio.CancelledError):
            raise
        except Exception as error:
            trouble = await self.troubles.note(DRIVING, words_of(error), run.attempt_id)
            if not trouble.hopeless and not run.wish.stop:
                await run.pause(trouble.retry_at - self.site.clock.now())
                return False
            await run.give_up(trouble)
        self.troubles.heal(DRIVING, run.attempt_id)
        return True

    async def _dispatch(self, board: Board) -> float | None:
        if self.ending:
            return None
        most = self.site.config.limits.max_agents if self.orders.max_agents is None else self.orders.max_agents
        running = Counter(self._account(board, name) for name in self.runs)
        start = partial(self._dispatcher.start, board, running, most, self.orders.only)
        again = await self.troubles.attempt(STARTING, start, BRISK)
        await self.troubles.observe("fetching", self._dispatcher.stale_because, self.site.config.landing_branch)
        return again

    def _account(self, board: Board, name: TaskId) -> str:
        attempt = board.tasks[name].last
        assert attempt is not None
        return attempt.account or self.site.account_of(attempt.engine)

    def _spawn_ci(self, driver: CiRun) -> None:
        self._ci_drives[driver.run.id] = self._group.create_task(self._drive_ci(driver))

    async def _drive_ci(self, driver: CiRun) -> None:
        try:
            await self.lander.finish(driver)
        finally:
            self._ci_drives.pop(driver.run.id, None)
            self._woken.set()

    def _is_idle(self, seq: int, wake_at: float | None) -> bool:
        """Nothing runs, nothing waits for a clock, and nobody but a person can move what is left."""
        if wake_at is not None or self.runs or self._ci_drives or self.ledger.read().seq != seq:
            return False
        if any(trouble.what in ESSENTIAL for trouble in self.troubles.book.open):
            return False
        queue = self.ledger.board.queue
        # Whatever runs without a drive of ours is on a host we do not reach.
        elsewhere = bool(queue.running)
        stuck = queue.frozen or queue.paused or queue.halted is not None or queue.draining_since is not None
        return stuck or elsewhere or not queue.entries

    def _is_stuck(self) -> bool:
        """Nothing runs, and what should go on has failed again and again."""
        return bool(self.given_up) and not self.runs and not self._ci_drives

    @property
    def given_up(self) -> list[Trouble]:
        """What the fleet is for and does not manage."""
        return [trouble for trouble in self.troubles.book.open if trouble.hopeless and trouble.what in ESSENTIAL]

    async def _sleep(self, wake_at: float | None) -> None:
        pause = SLOW_CLOCK_SECONDS if wake_at is None else max(0.01, wake_at - self.site.clock.now())
        await wait_for(self._woken, min(SLOW_CLOCK_SECONDS, pause))

    async def _keep_lease(self) -> None:
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            await self.ledger.renew()

    async def _keep_clean(self) -> None:
        """The janitor's rounds: one at the start, then on a slow clock."""
        while True:
            again = await self.troubles.attempt(CLEANING, self._clean)
            every = self.site.config.janitor.every
            await asyncio.sleep(every if again is None else max(0.0, again - self.site.clock.now()))

    async def _clean(self) -> None:
        """What a drive of ours still clears up after its attempt's end is not for the janitor."""
        seen = await asyncio.to_thread(look, self.site)
        checkpoint("janitor.looked")
        found = judge(self.site.config, self.ledger.read(), seen, self.site.clock.now())
        driven = {str(run.attempt_id) for run in self.runs.values()}
        orphaned = [item for item in found if item.name not in driven]
        done = await asyncio.to_thread(sweep, self.site, orphaned)
        checkpoint("janitor.swept")
        now = self.site.clock.now()
        await self.ledger.record(lambda fresh: [*lease_drafts(fresh, now), *note_drafts(done)])


def _first(group: BaseExceptionGroup[PaddockError]) -> PaddockError:
    """What ended the daemon; the rest of the group is what that brought down with it."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, PaddockError)
    return error
