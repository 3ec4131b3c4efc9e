"""The hand of the daemon, or of a node's deputy, on the log: a lease, a board, and writes that carry a generation."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from paddock.core.board import DAEMON_LEASE, Board
from paddock.core.errors import PaddockError
from paddock.core.events import Draft, Event, Record
from paddock.core.ids import TaskId
from paddock.core.lead import Succeeded
from paddock.core.leases import decisions, lease
from paddock.core.nodes.tenure import node_lease
from paddock.fleet.clock import SYSTEM_CLOCK, WallClock, stamp
from paddock.fleet.lead import DaemonLead
from paddock.fleet.seat import LeaderSeat
from paddock.sessions.host import is_certainly_gone, is_here, is_in_sight
from paddock.store.group import GroupWriter
from paddock.store.protocol import Author, Store

LEASE_SECONDS = 60.0
RENEW_SECONDS = 20.0

Decision = Callable[[Board], Sequence[Draft]]


class AlreadyRunning(PaddockError):
    """Another one holds the lease and, as far as is known, is alive."""


@dataclass(frozen=True, slots=True)
class Office:
    """Whose lease it is, how its holder signs, and what people call one."""

    lease: str
    signature: str
    title: str


DAEMON = Office(DAEMON_LEASE, "daemon", "daemon")


def deputy_of(node: str) -> Office:
    return Office(node_lease(node), node_lease(node), f"deputy of node `{node}`")


class Ledger:
    """Everything written through it is refused once another daemon has taken the lease. Everything else that is done
    is shown its `lead`."""

    def __init__(
        self, store: Store, generation: int, clock: WallClock, seat: LeaderSeat, office: Office = DAEMON
    ) -> None:
        self.generation = generation
        self.office = office
        self.store = store
        self._clock = clock
        self._writer = GroupWriter(store)
        self._author = Author(office.signature, generation)
        self.lead = DaemonLead(generation, seat, clock, self._check_now, self._renew_now)

    def watch_room(self, tell: Callable[[str], None]) -> None:
        """`tell` hears when the disk is too full to record anything, and an empty word when there is room again."""
        self._writer.tell = tell

    def stop_waiting(self) -> None:
        """Whoever waits for room on the disk is refused from now on."""
        self._writer.stop_waiting()

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
        noted = self._clock.boottime()
        if await self.record(self._renewal):
            self.lead.note_renewal(noted, LEASE_SECONDS)

    def _check_now(self) -> None:
        self._require_lease(self.read())

    def _renew_now(self) -> None:
        noted = self._clock.boottime()
        if not self.store.append(self._renewal, self._author):
            raise Succeeded("the lease has run out, and others wait for it")
        self.lead.note_renewal(noted, LEASE_SECONDS)

    def _renewal(self, board: Board) -> Sequence[Draft]:
        self._require_lease(board)
        events = decisions.renew(board.leases, self.office.lease, self.generation, LEASE_SECONDS, self._clock.now())
        return [Draft(event) for event in events] if not isinstance(events, lease.Stale) else []

    async def keep_lease(self, every_seconds: float = RENEW_SECONDS) -> None:
        while True:
            await asyncio.sleep(every_seconds)
            await self.renew()

    def give_up(self) -> None:
        """Releases the lease, unless someone else has it by now."""

        def decide(board: Board) -> Sequence[Draft]:
            why = f"the {self.office.title} ended"
            events = decisions.release(board.leases, self.office.lease, self.generation, why=why)
            return [Draft(event) for event in events] if not isinstance(events, lease.Stale) else []

        self.store.append(decide, self._author)

    def _require_lease(self, board: Board) -> None:
        if self.office is DAEMON:
            latest = board.daemon_generation
        else:
            latest = lease.latest_generation(board.leases, self.office.lease)
        if latest != self.generation:
            raise Succeeded(f"another {self.office.title} (generation {latest}) has taken over")


def take_lead(
    store: Store,
    holder: lease.Holder,
    seat: LeaderSeat,
    clock: WallClock = SYSTEM_CLOCK,
    office: Office = DAEMON,
    is_gone: Callable[[lease.Holder], bool] = is_certainly_gone,
) -> Ledger:
    """The lease under a new generation. Raises AlreadyRunning, naming who has it, unless that process `is_gone`.

    Nothing may be done by its lead before that has taken its `seat`.
    """
    taken: list[int] = []
    name = office.lease

    def decide(board: Board) -> Sequence[Draft]:
        leases, gone = board.leases, []
        held = leases.held.get(name)
        if held is not None and is_gone(held.holder):
            gone = [lease.LeaseReleased(name, held.generation, "its process is gone")]
            leases = lease.evolve(leases, gone[0], clock.now())
        answer = decisions.acquire(leases, name, holder, LEASE_SECONDS, clock.now())
        if not isinstance(answer, decisions.Granted):
            raise _already_running(office, answer.blockers[0])
        taken[:] = [answer.generation]
        return [Draft(event) for event in (*gone, *answer.events)]

    noted = clock.boottime()
    store.append(decide, Author(office.signature))
    ledger = Ledger(store, taken[0], clock, seat, office)
    ledger.lead.note_renewal(noted, LEASE_SECONDS)
    return ledger


def _already_running(office: Office, blocker: decisions.Blocker) -> AlreadyRunning:
    holder, since = blocker.holder, stamp(blocker.since)
    words = f"a {office.title} is already running on this log: pid {holder.pid} on {holder.host}, since {since}"
    if is_here(holder) and not is_in_sight(holder):
        left = max(1, round(blocker.expires_in_seconds))
        return AlreadyRunning(
            f"{words}, in another container or pid namespace, where nobody here can see whether it lives",
            f"end it there with `paddock down`, or use --wait: its lease runs out in {left} s unless it is renewed",
        )
    return AlreadyRunning(
        words, "watch it with `paddock status`, end it with `paddock down`, or wait for it with --wait"
    )
