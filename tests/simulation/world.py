"""A machine with a fleet on it, whose daemons come and go while time jumps from one event to the next."""

import asyncio
import contextlib
import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from paddock.config.schema import Config
from paddock.core.admission.host import HostSample
from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import Draft, Record, TaskAdded
from paddock.core.ids import RUN_OWNER, TaskId, task_id
from paddock.core.lead import Lead, Succeeded
from paddock.core.leases.lease import Holder
from paddock.core.tasks.task import Attempt
from paddock.fleet.attempts.ground import Delivery
from paddock.fleet.daemon import Daemon, Orders
from paddock.fleet.ledger import AlreadyRunning, Ledger, take_lead
from paddock.fleet.seat import LeaderSeat
from paddock.fleet.site import Site
from paddock.git.facts import DiffStat
from paddock.git.repo import Repo
from paddock.git.worktrees.claims import Vacancy, WorktreeOrder
from paddock.git.worktrees.furnish import Worktree
from paddock.git.worktrees.prepare import PreparedWorktree
from paddock.git.worktrees.release import Secured
from paddock.sessions.protocol import Turn, TurnOrder
from paddock.store.protocol import Author, Query
from tests.fleet.notice import Notice
from tests.simulation.parts import PARTS, WEIGHTS, write_part
from tests.simulation.troupe import Part, PlayedSessions, Troupe
from tests.simulation.virtual import Killed, Suspended, VirtualLoop, VirtualTime
from tests.store.memory import MemoryLog, MemoryStore

PERSON = Author("ana@stage")
Wish = Callable[[Board], Sequence[Draft]]
LONGEST_HOURS = 500.0


@dataclass
class PlayedGround:
    """Folders by number, and commits that nobody can look into."""

    world: "World"
    folders: dict[str, int] = field(default_factory=dict)

    def of(self, site: Site) -> "LedGround":
        return LedGround(self.world, self.folders, site=site)

    def act(self, what: str) -> None:
        """Before every effect."""

    def bring(self, *commits: str) -> None:
        """All of them are here."""

    def prepare(self, order: WorktreeOrder) -> PreparedWorktree:
        self.act(f"prepare {order.attempt}")
        if why := self.world.obstacle(order.attempt):
            raise PaddockError(why)
        wanted = None if order.place is None else int(order.place.name)
        if order.attempt not in self.folders:
            taken = set(self.folders.values())
            free = next(number for number in range(1, 1000) if number not in taken)
            self.folders[order.attempt] = free if wanted is None or wanted in taken else wanted
        number = self.folders[order.attempt]
        path = self.world.folder / "worktrees" / str(number)
        made = Worktree(path, path, order.start, path, range(number, number + 1))
        return PreparedWorktree(made, warm=True)

    def look(self, place: str) -> Vacancy:
        number = int(Path(place).name)
        return Vacancy(taken_by=next((owner for owner, held in self.folders.items() if held == number), ""))

    def progress(self, _attempt: Attempt) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return (), ()

    def newest_commit(self, attempt: Attempt) -> str | None:
        return attempt.base

    def commits_sign(self, attempt: Attempt) -> tuple[int, ...]:
        return (self.world.commits_of(attempt),)

    def hold_so_far(self, attempt: Attempt) -> None:
        self.act(f"hold {attempt.id}")

    def so_far(self, _attempt: Attempt, start: str) -> str:
        return start

    def secure(self, attempt: Attempt) -> Delivery:
        self.act(f"secure {attempt.id}")
        made = self.world.commits_of(attempt)
        if not made:
            return Delivery(head=attempt.base, base=attempt.base)
        head = hashlib.sha1(f"{attempt.branch}{made}".encode()).hexdigest()
        return Delivery(head, attempt.base, made, diff=DiffStat(1, made, 0), held=frozenset({head}), spotless=True)

    def release(self, attempt: str, _why: str, _secured: Secured | None = None) -> None:
        self.act(f"release {attempt}")
        if self.world.troupe.alive(attempt):
            self.world.violations.append(f"{attempt} still runs in the folder that it gives back")
        self.folders.pop(attempt, None)

    def discard(self, attempt: str, why: str) -> None:
        self.release(attempt, why)


@dataclass
class LedGround(PlayedGround):
    """As one daemon has it, which asks for its lead like that of git."""

    site: Site = field(kw_only=True)

    def act(self, what: str) -> None:
        self.site.lead.require()
        self.world.check_act(self.site.lead, what)


class PlayedMachine:
    """Never short of anything, however starved the one that plays it is."""

    def sample(self, now: float) -> HostSample:
        return HostSample(now, busy=0.1, free_memory_bytes=2**36, free_disk_bytes=2**40, cores=8)


@dataclass
class World:
    """`seed` decides what every turn does, by its name alone: not when, nor how often a daemon dies."""

    seed: int
    repo: Repo
    folder: Path
    config: Config
    kinds: tuple[str, ...] = tuple(PARTS)
    time: VirtualTime = field(default_factory=VirtualTime)
    log: MemoryLog = field(default_factory=MemoryLog)
    wishes: list[tuple[float, Wish]] = field(default_factory=list)
    jolts: list[tuple[float, Callable[[VirtualTime], None]]] = field(default_factory=list)
    """What somebody does to the machine's clock, or to the machine, each after so many seconds of its being awake."""
    violations: list[str] = field(default_factory=list)
    """What must never happen. Not raised where a daemon calls, which takes errors for trouble and goes on."""
    steps: int = 0
    lives: int = 0

    def __post_init__(self) -> None:
        self.troupe = Troupe(self.time, self.write_part, on_start=self._check_start, on_act=self.check_act)
        self.notice = Notice()
        self.ground = PlayedGround(self)
        self.people = MemoryStore(self.log, self.time.now)
        (self.folder / "state").mkdir(parents=True, exist_ok=True)

    # -- what is on stage ------------------------------------------------------------------------------------

    def write_part(self, turn: Turn, order: TurnOrder) -> Part:
        chance = Random(f"{self.seed} {turn}")
        weights = [WEIGHTS.get(kind, 2) for kind in self.kinds]
        return write_part(chance.choices(self.kinds, weights)[0], chance, order)

    def obstacle(self, attempt: str) -> str:
        """Why an attempt gets no folder, if it does not."""
        if "crashes" not in self.kinds:
            return ""
        chance = Random(f"{self.seed} folder {attempt}").random()
        return "the setup command failed (exit 1)" if chance < 0.03 else ""

    def commits_of(self, attempt: Attempt) -> int:
        """Those of the branch: an attempt that goes on with another's work has that, too."""
        now = self.time.awake()
        task = _task_of(attempt.id)
        turns = [played for turn, played in self.troupe.turns.items() if _task_of(turn.owner) == task]
        to_the_end = [played for played in turns if played.has_ended(now) and played.stopped is None]
        return sum(played.part.early for played in turns) + sum(played.part.commits for played in to_the_end)

    def _check_start(self, turn: Turn) -> None:
        """Nothing runs twice, and never more than may."""
        if turn.owner.startswith(RUN_OWNER):
            return
        running = [other for other in self.troupe.running() if not other.owner.startswith(RUN_OWNER)]
        beside = [other for other in running if _task_of(other.owner) == _task_of(turn.owner)]
        if beside:
            self.violations.append(f"{turn} starts beside {beside}")
        cap = self.config.limits.max_agents
        if len(running) >= cap:
            self.violations.append(f"{len(running) + 1} agents run where {cap} may")

    # -- what people do --------------------------------------------------------------------------------------

    def add(self, count: int, after: Iterable[tuple[int, int]] = (), attempts: int = 3) -> list[TaskId]:
        """`after`: pairs of a task and one it has to wait for, counted from 1."""
        waits = {number: tuple(task_id(other) for n, other in after if n == number) for number in range(1, count + 1)}
        drafts = [
            Draft(TaskAdded(f"Task {n}", f"Do {n}.", after=waits[n], attempts=attempts), task=task_id(n))
            for n in range(1, count + 1)
        ]
        self.people.append(lambda _board: drafts, PERSON)
        return [task_id(number) for number in range(1, count + 1)]

    async def _wish(self) -> None:
        """What people ask for, each at its hour, whether a daemon lives or not; what they are refused they let be."""
        while self.wishes:
            at, wish = self.wishes[0]
            await asyncio.sleep(max(0.0, at - self.time.seconds))
            self.wishes.pop(0)
            with contextlib.suppress(PaddockError):
                self.people.append(wish, PERSON)

    async def _jolt(self) -> None:
        while self.jolts:
            at, jolt = self.jolts[0]
            await asyncio.sleep(max(0.0, at - self.time.seconds))
            self.jolts.pop(0)
            jolt(self.time)

    # -- daemons ---------------------------------------------------------------------------------------------

    def live(self, kill_at: int | None = None) -> bool:
        """A daemon until nothing is left to do; False if it was killed, at that step of its loop."""
        daemon = self.begin(kill_at)
        try:
            return daemon.go_on()
        finally:
            daemon.close()

    def begin(self, kill_at: int | None = None) -> "Living":
        self.lives += 1
        loop = VirtualLoop(self.time, kill_at)
        store, sessions = MemoryStore(self.log, self.time.now), PlayedSessions(self.troupe)
        site = Site(self.repo, self.config, self.folder / "state", "stage", clock=self.time)
        site.sessions, site.machine = sessions, PlayedMachine()
        self.furnish(site)
        return Living(self, loop, loop.create_task(self._run(site, store)), site, sessions)

    def live_beside(self, suspend_at: int, chance: Random) -> None:
        """One is suspended at that step until its lease is over and another leads; then both go on, by turns."""
        first = self.begin()
        if first.go_on(suspend_at):
            return first.close()
        second = self.begin()
        both = [first, second]
        led = self.board.daemon_generation
        while second in both and self.board.daemon_generation == led:
            both = both if not second.go_on(1) else [first]
        if second in both and second.go_on(round(2 ** chance.uniform(0.0, 11.0))):
            both = [first]
        while both:
            daemon = chance.choice(both)
            if daemon.go_on(round(2 ** chance.uniform(0.0, 9.0))):
                both.remove(daemon)
        first.close()
        second.close()

    def check_act(self, lead: Lead, what: str) -> None:
        """Nothing is done by one that another has succeeded."""
        latest = self.board.daemon_generation
        if lead.generation != latest:
            self.violations.append(f"{what} by generation {lead.generation}, while {latest} leads")

    def seat_of(self, _site: Site) -> LeaderSeat:
        return self.notice

    def furnish(self, site: Site) -> None:
        site.ground = self.ground.of(site)

    async def _run(self, site: Site, store: MemoryStore) -> None:
        wishes = asyncio.gather(self._wish(), self._jolt())
        async with asyncio.timeout(LONGEST_HOURS * 3600):
            ledger = await self._lead(store, self.seat_of(site))
            await Daemon(site, ledger, Orders(until_idle=True)).run()
        ledger.give_up()
        wishes.cancel()

    async def _lead(self, store: MemoryStore, seat: LeaderSeat) -> Ledger:
        """As `paddock run --wait`: the lease of one that was killed runs out."""
        me = Holder("daemon", "stage", pid=self.lives, started=self.time.now())
        while True:
            try:
                return take_lead(store, me, seat, self.time)
            except AlreadyRunning:
                await asyncio.sleep(2.0)

    @property
    def hours(self) -> float:
        return self.time.seconds / 3600

    @property
    def board(self) -> Board:
        return self.people.board()

    def records(self) -> list[Record]:
        return list(self.people.records(Query()))


@dataclass(eq=False)
class Living:
    """A daemon that is alive, or suspended."""

    world: World
    loop: VirtualLoop
    main: "asyncio.Task[None]"
    site: Site
    sessions: PlayedSessions

    def go_on(self, steps: int | None = None) -> bool:
        """For some steps, or to its end: whether it came to it. False, too, if it was killed."""
        self.loop.suspend_at = None if steps is None else self.loop.steps + steps
        try:
            self.loop.run_until_complete(self.main)
        except Suspended:
            return False
        except Killed:
            self._vanish()
            self.world.log.listeners.clear()
            return False
        except Succeeded:
            self._vanish()
        return True

    def _vanish(self) -> None:
        self.sessions.gone = True
        self.site.state_dir = self.world.folder / "gone"
        _bury(self.loop)

    def close(self) -> None:
        self.world.steps += self.loop.steps
        self.loop.close()


def _task_of(owner: str) -> str:
    return owner.partition(".")[0]


def _bury(loop: VirtualLoop) -> None:
    """Its tasks are closed by force: what their `finally` would still do reaches nothing any more."""
    for task in asyncio.all_tasks(loop):
        task._log_destroy_pending = False  # type: ignore[attr-defined]
        with contextlib.suppress(BaseException):
            task.get_coro().close()
