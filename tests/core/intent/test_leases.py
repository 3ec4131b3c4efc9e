"""Who may take, keep and give back a lease."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.errors import Misuse, PaddockError
from paddock.core.events import Draft
from paddock.core.intent.leases import (
    LeaseClaim,
    LeaseRequest,
    NotYours,
    refusal_of,
    release_lease,
    renew_lease,
    request_lease,
    withdraw_request,
)
from paddock.core.leases.decisions import Granted, LeaseRefused, Waiting
from paddock.core.leases.lease import Holder, LeaseRenewed, log_time
from tests.core.ledger import START, Ledger

ANA, BO = Holder("ana", "laptop", 7), Holder("bo")


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


def now(ledger: Ledger) -> float:
    return START + ledger.board.seq + 1


def take(
    ledger: Ledger, name: str = "port:1", holder: Holder = ANA, *, ttl: float = 600.0, wait: float = 0.0
) -> object:
    answer, drafts = request_lease(ledger.board, LeaseRequest(name, holder, ttl, wait), now(ledger))
    ledger.write(*drafts)
    return answer


def renewal(drafts: list[Draft]) -> float:
    [draft] = drafts
    assert isinstance(draft.event, LeaseRenewed)
    return draft.event.ttl_seconds


def test_what_is_free_is_granted_and_what_is_taken_is_refused_with_the_holder_named(ledger: Ledger) -> None:
    assert isinstance(take(ledger), Granted)
    answer = take(ledger, "port:01", BO)
    assert isinstance(answer, LeaseRefused)
    refusal = refusal_of("port:1", answer, now(ledger) + 179)
    assert refusal.message == (
        "`port:1` is taken: ana (pid 7 on laptop) has held `port:1` for 3m; the lease expires in 9m59s"
    )


def test_whoever_waits_has_a_place_until_it_is_withdrawn(ledger: Ledger) -> None:
    take(ledger)
    assert isinstance(take(ledger, holder=BO, wait=30.0), Waiting)
    assert [waiter.holder for waiter in ledger.board.leases.waiting] == [BO]
    request = LeaseRequest("port:1", BO, 600.0)
    ledger.write(*withdraw_request(ledger.board, request))
    assert not ledger.board.leases.waiting
    assert withdraw_request(ledger.board, request) == []


@pytest.mark.parametrize("name", ["daemon", "attempt:t1.1"])
def test_our_own_leases_are_nobody_elses(ledger: Ledger, name: str) -> None:
    for ask in (
        lambda: request_lease(ledger.board, LeaseRequest(name, ANA, 60.0), START),
        lambda: renew_lease(ledger.board, LeaseClaim(name, "ana"), 60.0, START),
        lambda: release_lease(ledger.board, LeaseClaim(name, "ana")),
    ):
        with pytest.raises(Misuse, match="is Paddock's own lease"):
            ask()


def test_an_attempt_gets_a_lease_only_while_it_works(ledger: Ledger) -> None:
    task = ledger.add()
    holder = Holder("t1.1", attempt="t1.1")
    with pytest.raises(PaddockError, match=r"`t1\.1` is not running"):
        take(ledger, holder=holder)
    ledger.start(task)
    assert isinstance(take(ledger, holder=holder), Granted)


def test_a_lease_is_claimed_by_its_generation_or_by_the_name_of_its_holder(ledger: Ledger) -> None:
    with pytest.raises(NotYours, match="nobody holds `port:1`"):
        release_lease(ledger.board, LeaseClaim("port:1", "ana"))
    take(ledger)
    with pytest.raises(NotYours, match="is held by ana, not by you"):
        release_lease(ledger.board, LeaseClaim("port:1", "bo"))
    with pytest.raises(NotYours, match="is at generation 1, not 2"):
        renew_lease(ledger.board, LeaseClaim("port:1", "ana", 2), 60.0, now(ledger))
    ledger.write(*release_lease(ledger.board, LeaseClaim("port:1", "bo", 1)))
    assert not ledger.board.leases.held


def test_a_lease_that_ran_out_while_another_waits_is_lost(ledger: Ledger) -> None:
    take(ledger, ttl=0.5)
    ledger.add()
    take(ledger, "port:2", BO)
    late = now(ledger) + 60
    request = LeaseRequest("port:1", BO, 60.0, 30.0)
    answer, drafts = request_lease(ledger.board, request, START + 1.6)
    assert isinstance(answer, Granted | Waiting)
    ledger.write(*drafts)
    with pytest.raises(NotYours):
        renew_lease(ledger.board, LeaseClaim("port:1", "ana", 1), 60.0, late)


@given(st.floats(1.0, 1e4), st.floats(1.0, 1e4), st.floats(0.0, 2e4))
def test_a_renewal_nobody_gave_a_time_for_never_shortens_a_lease(first: float, default: float, passed: float) -> None:
    ledger = Ledger()
    take(ledger, ttl=first)
    at = now(ledger) + passed
    claim, board = LeaseClaim("port:1", "ana"), ledger.board
    left = board.leases.held["port:1"].expires_at - log_time(board.leases, at)
    assert renewal(renew_lease(board, claim, default, at, may_shorten=False)) == max(default, left)
    assert renewal(renew_lease(board, claim, default, at)) == default
