"""The daemon's hand on the log, by a clock of the test's own and with a log in memory."""

import asyncio
import threading

import pytest
from msgspec.structs import replace

from paddock.core.board import DAEMON_LEASE
from paddock.core.events import Draft, TaskAdded
from paddock.core.ids import TaskId
from paddock.core.lead import SAFE_SHARE, Succeeded
from paddock.core.leases import lease
from paddock.fleet.clock import wait_for
from paddock.fleet.ledger import LEASE_SECONDS, AlreadyRunning, Ledger, take_lead
from paddock.sessions.host import this_process
from paddock.store.protocol import Query
from tests.fleet.notice import Notice
from tests.store.drafts import ANA, add
from tests.store.memory import MemoryLog, MemoryStore

HERE = this_process("daemon")
ELSEWHERE = lease.Holder("daemon", "another-host", 4711, 1, "another boot")


class Hands:
    """A clock that stands still until it is moved. `set_by` is by how much somebody has set it."""

    def __init__(self) -> None:
        self.at = 1_800_000_000.0
        self.set_by = 0.0

    def now(self) -> float:
        return self.at + self.set_by

    def boottime(self) -> float:
        return self.at - 1_799_000_000.0


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
    take_lead(open_log(log, hands), ELSEWHERE, Notice(), hands)


def test_what_others_write_is_on_the_board_when_it_is_read_again_or_written_to(log: MemoryLog, hands: Hands) -> None:
    ledger, person = take_lead(open_log(log, hands), HERE, Notice(), hands), open_log(log, hands)
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
        take_lead(open_log(log, hands), HERE, Notice(), hands)
    hands.at += 2
    assert take_lead(open_log(log, hands), HERE, Notice(), hands).generation == 2


def test_a_lease_that_is_renewed_in_time_is_kept(log: MemoryLog, hands: Hands) -> None:
    ledger = take_lead(open_log(log, hands), HERE, Notice(), hands)
    for _ in range(3):
        hands.at += LEASE_SECONDS - 1
        asyncio.run(ledger.renew())
    held = ledger.board.leases.held[DAEMON_LEASE]
    assert (held.generation, held.expires_at) == (ledger.generation, hands.at + LEASE_SECONDS)


def test_one_that_was_succeeded_can_write_nothing_more(log: MemoryLog, hands: Hands) -> None:
    ledger = take_lead(open_log(log, hands), HERE, Notice(), hands)
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


def lead_here(log: MemoryLog, hands: Hands, seat: Notice) -> Ledger:
    ledger = take_lead(open_log(log, hands), HERE, seat, hands)
    ledger.lead.take_seat()
    return ledger


def renewals(ledger: Ledger) -> int:
    return len(list(ledger.store.records(Query(kind=lease.LeaseRenewed.kind))))


def test_one_that_leads_may_act_and_the_log_is_not_asked_for_it(log: MemoryLog, hands: Hands) -> None:
    ledger = lead_here(log, hands, Notice())
    hands.at += LEASE_SECONDS * SAFE_SHARE - 1
    ledger.lead.require()
    assert renewals(ledger) == 0


def test_one_that_slept_past_its_lease_renews_it_before_it_acts_if_nobody_has_taken_it(
    log: MemoryLog, hands: Hands
) -> None:
    ledger = lead_here(log, hands, Notice())
    hands.at += 3600
    ledger.lead.require()
    assert renewals(ledger) == 1
    assert ledger.read().leases.held[DAEMON_LEASE].expires_at == hands.now() + LEASE_SECONDS
    ledger.lead.require()
    assert renewals(ledger) == 1


def test_a_clock_that_is_set_back_does_not_prolong_what_a_daemon_may_do(log: MemoryLog, hands: Hands) -> None:
    seat = Notice()
    ledger = lead_here(log, hands, seat)
    hands.set_by = -86_400
    hands.at += LEASE_SECONDS + 1
    ledger.lead.require()
    assert renewals(ledger) == 1, "it asked the log, whatever the wall clock says"


def test_one_that_was_succeeded_may_not_act_though_its_lease_cannot_have_run_out(log: MemoryLog, hands: Hands) -> None:
    """A clock that jumped ahead has ended it early."""
    seat = Notice()
    ledger = lead_here(log, hands, seat)
    hands.set_by = 86_400
    take_lead(open_log(log, hands), ELSEWHERE, seat, hands).lead.take_seat()
    with pytest.raises(Succeeded, match="generation 2"):
        ledger.lead.require()
    assert seat.shown == [1, 2]


def test_one_that_was_succeeded_may_not_act_before_its_successor_has_taken_the_seat(
    log: MemoryLog, hands: Hands
) -> None:
    ledger = lead_here(log, hands, Notice())
    hands.at += LEASE_SECONDS + 1
    lead_elsewhere(log, hands)
    with pytest.raises(Succeeded, match="generation 2"):
        ledger.lead.require()


def test_a_seat_that_somebody_meddled_with_is_put_right(log: MemoryLog, hands: Hands) -> None:
    seat = Notice()
    ledger = lead_here(log, hands, seat)
    for text in ("", "generation 99", "nonsense"):
        seat.text = text
        ledger.lead.require()
        assert seat.text == "generation 1"


def test_another_thread_has_the_log_asked_where_that_may_be_written_to(log: MemoryLog, hands: Hands) -> None:
    async def act(ledger: Ledger) -> None:
        ledger.lead.answer_in(asyncio.get_running_loop())
        await asyncio.to_thread(ledger.lead.require)

    ledger = lead_here(log, hands, Notice())
    hands.at += 3600
    asyncio.run(act(ledger))
    assert renewals(ledger) == 1
    hands.at += 3600
    lead_elsewhere(log, hands)
    with pytest.raises(Succeeded, match="generation 2"):
        asyncio.run(act(ledger))


def test_a_thread_that_outlives_the_loop_of_its_daemon_does_nothing_more(log: MemoryLog, hands: Hands) -> None:
    async def begin(ledger: Ledger) -> None:
        ledger.lead.answer_in(asyncio.get_running_loop())

    def act() -> None:
        try:
            ledger.lead.require()
        except Succeeded as succeeded:
            said.append(succeeded.message)

    said: list[str] = []
    ledger = lead_here(log, hands, Notice())
    asyncio.run(begin(ledger))
    hands.at += 3600
    thread = threading.Thread(target=act)
    thread.start()
    thread.join()
    assert said == ["this daemon has ended"]


def test_a_holder_in_another_container_of_this_host_is_waited_for(log: MemoryLog, hands: Hands) -> None:
    """Its pid says nothing here, although no process of ours has it."""
    hidden = replace(HERE, pid=2**22 + 1, pid_space="1")
    take_lead(open_log(log, hands), hidden, Notice(), hands)
    with pytest.raises(AlreadyRunning, match="in another container or pid namespace") as refused:
        take_lead(open_log(log, hands), HERE, Notice(), hands)
    assert refused.value.hint is not None
    assert "runs out in 60 s" in refused.value.hint
    hands.at += LEASE_SECONDS + 1
    assert take_lead(open_log(log, hands), HERE, Notice(), hands).generation == 2
