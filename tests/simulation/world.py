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
from paddock.core.leases.lease import Holder
from paddock.core.tasks.task import Attempt
from paddock.fleet.attempts.ground import Delivery
from paddock.fleet.daemon import Daemon, Orders
from paddock.fleet.ledger import AlreadyRunning, Ledger, take_lead
from paddock.fleet.site import Site
from paddock.git.facts import DiffStat
from paddock.git.repo import Repo
from paddock.git.worktrees.claims import Vacancy, WorktreeOrder
from paddock.git.worktrees.furnish import Worktree
from paddock.git.worktrees.prepare import PreparedWorktree
from paddock.git.worktrees.release import Secured
from paddock.sessions.protocol import Turn, TurnOrder
from paddock.store.protocol import Author, Query
from tests.simulation.parts import PARTS, WEIGHTS, write_part
from tests.simulation.troupe import Part, PlayedSessions, Troupe
from tests.simulation.virtual import Killed, VirtualLoop, VirtualTime
from tests.store.memory import MemoryLog, MemoryStore

PERSON = Author("ana@stage")
Wish = Callable[[Board], Sequence[Draft]]
LONGEST_HOURS = 500.0


@dataclass
class PlayedGround:
    """Folders by number, and commits that nobody can look into."""

    world: "World"
    folders: dict[str, int] = field(default_factory=dict)

    def prepare(self, order: WorktreeOrder) -> PreparedWorktree:
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

    def progress(self, _attempt: Attempt, _folder: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return (), ()

    def secure(self, attempt: Attempt) -> Delivery:
        made = self.world.commits_of(attempt)
        if not made:
            return Delivery(head=attempt.base, base=attempt.base)
        head = hashlib.sha1(f"{attempt.branch}{made}".encode()).hexdigest()
        return Delivery(head, attempt.base, made, diff=DiffStat(1, made, 0), held=frozenset({head}), spotless=True)

    def release(self, attempt: str, _why: str, _secured: Secured | None = None) -> None:
        if self.world.troupe.alive(attempt):
            self.world.violations.append(f"{attempt} still runs in the folder that it gives back")
        self.folders.pop(attempt, None)


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
    violations: list[str] = field(default_factory=list)
    """What must never happen. Not raised where a daemon calls, which takes errors for trouble and goes on."""
    steps: int = 0
    lives: int = 0

    def __post_init__(self) -> None:
        self.troupe = Troupe(self.time, self.write_part, on_start=self._check_start)
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
        now = self.time.now()
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

    # -- daemons ---------------------------------------------------------------------------------------------

    def live(self, kill_at: int | None = None) -> bool:
        """A daemon until nothing is left to do; False if it was killed, at that step of its loop."""
        self.lives += 1
        loop = VirtualLoop(self.time, kill_at)
        store, sessions = MemoryStore(self.log, self.time.now), PlayedSessions(self.troupe)
        site = Site(self.repo, self.config, self.folder / "state", "stage", clock=self.time)
        site.sessions, site.machine = sessions, PlayedMachine()
        self.furnish(site)
        main = loop.create_task(self._run(site, store))
        try:
            loop.run_until_complete(main)
        except Killed:
            sessions.gone = True
            site.state_dir = self.folder / "gone"
            _bury(loop)
            self.log.listeners.clear()
            return False
        finally:
            self.steps += loop.steps
            loop.close()
        return True

    def furnish(self, site: Site) -> None:
        site.ground = self.ground

    async def _run(self, site: Site, store: MemoryStore) -> None:
        wishes = asyncio.ensure_future(self._wish())
        async with asyncio.timeout(LONGEST_HOURS * 3600):
            ledger = await self._lead(store)
            await Daemon(site, ledger, Orders(until_idle=True)).run()
        ledger.give_up()
        wishes.cancel()

    async def _lead(self, store: MemoryStore) -> Ledger:
        """As `paddock run --wait`: the lease of one that was killed runs out."""
        me = Holder("daemon", "stage", pid=self.lives, started=self.time.now())
        while True:
            try:
                return take_lead(store, me, self.time)
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


def _task_of(owner: str) -> str:
    return owner.partition(".")[0]


def _bury(loop: VirtualLoop) -> None:
    """Its tasks are closed by force: what their `finally` would still do reaches nothing any more."""
    for task in asyncio.all_tasks(loop):
        task._log_destroy_pending = False  # type: ignore[attr-defined]
        with contextlib.suppress(BaseException):
            task.get_coro().close()
