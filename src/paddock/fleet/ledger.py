"""The daemon's hand on the log: its lease, its board, and writes that carry its generation."""

import asyncio
from collections.abc import Callable, Sequence

from paddock.core.board import DAEMON_LEASE, Board
from paddock.core.errors import PaddockError
from paddock.core.events import Draft, Event, Record
from paddock.core.ids import TaskId
from paddock.core.leases import decisions, lease
from paddock.fleet.clock import SYSTEM_CLOCK, WallClock, stamp
from paddock.sessions.host import is_certainly_gone
from paddock.store.group import GroupWriter
from paddock.store.protocol import Author, Store

LEASE_SECONDS = 60.0
RENEW_SECONDS = 20.0

Decision = Callable[[Board], Sequence[Draft]]


class Succeeded(PaddockError):
    """Another daemon has the lease: anything this one still wants to record is too late."""


class AlreadyRunning(PaddockError):
    """Another daemon holds the lease and, as far as is known, is alive."""


class Ledger:
    """Everything written through it is refused once another daemon has taken the lease."""

    def __init__(self, store: Store, generation: int, clock: WallClock = SYSTEM_CLOCK) -> None:
        self.generation = generation
        self.store = store
        self._clock = clock
        self._writer = GroupWriter(store)
        self._author = Author("daemon", generation)

    @property
    def board(self) -> Board:
        """The board as last read or written here: for decisions, use the one that `record` provides."""
        return self.store.known()

    def read(self) -> Board:
        """Reads what others have written in the meantime."""
        return self.store.board()

    async def record(self, decide: Decision) -> list[Record]:
        def fenced(board: Board) -> Sequence[Draft]:
            self._require_lease(board)
            return decide(board)

        return await self._writer.append(fenced, self._author)

    async def note(self, *events: Event, task: TaskId | None = None) -> None:
        """Facts that no newer board could change."""
        await self.record(lambda _board: [Draft(event, task=task) for event in events])

    async def renew(self) -> None:
        def decide(board: Board) -> Sequence[Draft]:
            events = decisions.renew(board.leases, DAEMON_LEASE, self.generation, LEASE_SECONDS, self._clock.now())
            return [Draft(event) for event in events] if not isinstance(events, lease.Stale) else []

        await self.record(decide)

    async def keep_lease(self) -> None:
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            await self.renew()

    def give_up(self) -> None:
        """Releases the lease, unless someone else has it by now."""

        def decide(board: Board) -> Sequence[Draft]:
            events = decisions.release(board.leases, DAEMON_LEASE, self.generation, why="the daemon ended")
            return [Draft(event) for event in events] if not isinstance(events, lease.Stale) else []

        self.store.append(decide, self._author)

    def _require_lease(self, board: Board) -> None:
        if board.daemon_generation != self.generation:
            raise Succeeded(f"another daemon (generation {board.daemon_generation}) has taken over")


def take_lead(store: Store, holder: lease.Holder, clock: WallClock = SYSTEM_CLOCK) -> Ledger:
    """The daemon's lease under a new generation. Raises AlreadyRunning, naming who has it."""
    taken: list[int] = []

    def decide(board: Board) -> Sequence[Draft]:
        leases, gone = board.leases, []
        held = leases.held.get(DAEMON_LEASE)
        if held is not None and is_certainly_gone(held.holder):
            gone = [lease.LeaseReleased(DAEMON_LEASE, held.generation, "its process is gone")]
            leases = lease.evolve(leases, gone[0], clock.now())
        answer = decisions.acquire(leases, DAEMON_LEASE, holder, LEASE_SECONDS, clock.now())
        if not isinstance(answer, decisions.Granted):
            raise _already_running(answer.blockers[0])
        taken[:] = [answer.generation]
        return [Draft(event) for event in (*gone, *answer.events)]

    store.append(decide, Author("daemon"))
    return Ledger(store, taken[0], clock)


def _already_running(blocker: decisions.Blocker) -> AlreadyRunning:
    holder = blocker.holder
    return AlreadyRunning(
        f"a daemon is already running on this log: pid {holder.pid} on {holder.host}, since {stamp(blocker.since)}",
        "watch it with `paddock status`, end it with `paddock down`, or wait for it with --wait",
    )
