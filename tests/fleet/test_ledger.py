"""The daemon's hand on the log, by a clock of the test's own and with a log in memory."""

import asyncio

import pytest

from paddock.core.board import DAEMON_LEASE
from paddock.core.events import Draft, TaskAdded
from paddock.core.ids import TaskId
from paddock.core.leases import lease
from paddock.fleet.clock import wait_for
from paddock.fleet.ledger import LEASE_SECONDS, AlreadyRunning, Ledger, Succeeded, take_lead
from paddock.sessions.host import this_process
from tests.store.drafts import ANA, add
from tests.store.memory import MemoryLog, MemoryStore

HERE = this_process("daemon")
ELSEWHERE = lease.Holder("daemon", "another-host", 4711, 1, "another boot")


class Hands:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.at = 1_800_000_000.0

    def now(self) -> float:
        return self.at


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def log() -> MemoryLog:
    return MemoryLog()


def open_log(log: MemoryLog, hands: Hands) -> MemoryStore:
    return MemoryStore(log, hands.now)


def record(ledger: Ledger, number: int) -> None:
    draft = Draft(TaskAdded("x", "do it"), task=TaskId(f"t{number}"))
    asyncio.run(ledger.record(lambda _board: [draft]))


def lead_elsewhere(log: MemoryLog, hands: Hands) -> None:
    take_lead(open_log(log, hands), ELSEWHERE, hands)


def test_what_others_write_is_on_the_board_when_it_is_read_again_or_written_to(log: MemoryLog, hands: Hands) -> None:
    ledger, person = take_lead(open_log(log, hands), HERE, hands), open_log(log, hands)
    person.append(add(), ANA)
    assert list(ledger.board.tasks) == []
    assert list(ledger.read().tasks) == ["t1"]
    person.append(add(), ANA)
    record(ledger, 3)
    assert list(ledger.board.tasks) == ["t1", "t2", "t3"]


def test_a_lease_of_another_host_is_free_when_its_time_is_up_by_the_clock_in_use(log: MemoryLog, hands: Hands) -> None:
    lead_elsewhere(log, hands)
    hands.at += LEASE_SECONDS - 1
    with pytest.raises(AlreadyRunning, match="pid 4711 on another-host"):
        take_lead(open_log(log, hands), HERE, hands)
    hands.at += 2
    assert take_lead(open_log(log, hands), HERE, hands).generation == 2


def test_a_lease_that_is_renewed_in_time_is_kept(log: MemoryLog, hands: Hands) -> None:
    ledger = take_lead(open_log(log, hands), HERE, hands)
    for _ in range(3):
        hands.at += LEASE_SECONDS - 1
        asyncio.run(ledger.renew())
    held = ledger.board.leases.held[DAEMON_LEASE]
    assert (held.generation, held.expires_at) == (ledger.generation, hands.at + LEASE_SECONDS)


def test_one_that_was_succeeded_can_write_nothing_more(log: MemoryLog, hands: Hands) -> None:
    ledger = take_lead(open_log(log, hands), HERE, hands)
    hands.at += LEASE_SECONDS + 1
    lead_elsewhere(log, hands)
    with pytest.raises(Succeeded, match="generation 2"):
        record(ledger, 1)
    ledger.give_up()
    assert ledger.read().leases.held[DAEMON_LEASE].holder == ELSEWHERE


def test_waiting_for_an_event_ends_with_it_or_with_the_time() -> None:
    async def wait() -> tuple[bool, bool]:
        event = asyncio.Event()
        await wait_for(event, 0.0)
        before = event.is_set()
        asyncio.get_running_loop().call_soon(event.set)
        await wait_for(event, None)
        return before, event.is_set()

    assert asyncio.run(wait()) == (False, True)
