"""What leases promise, one claim at a time; test_lease_interleavings.py holds them to it under any order."""

import msgspec
import pytest

from paddock.core.errors import Misuse
from paddock.core.leases.decisions import (
    Granted,
    LeaseRefused,
    Waiting,
    acquire,
    end_attempt,
    expire,
    release,
    renew,
    withdraw,
)
from paddock.core.leases.lease import (
    CLOCK_STEP_SECONDS,
    REMEMBERED_NAMES,
    Holder,
    IllegalLease,
    Lease,
    LeaseEvent,
    LeaseExpired,
    LeaseGranted,
    LeaseRenewed,
    Leases,
    LeaseWaited,
    LeaseWithdrawn,
    Stale,
    check_generation,
    evolve,
    latest_generation,
)

ANN = Holder("ann", host="h1", pid=10, started=5.0, boot_id="boot")
BOB = Holder("bob", host="h2", pid=20, started=6.0, boot_id="boot")
CAT = Holder("cat", host="h2", pid=30, started=7.0, boot_id="boot")


def fold(leases: Leases, events: tuple[LeaseEvent, ...], at: float) -> Leases:
    for event in events:
        leases = evolve(leases, event, at)
    return leases


def take(leases: Leases, name: str, holder: Holder, at: float, ttl: float = 10.0) -> tuple[Leases, int]:
    answer = acquire(leases, name, holder, ttl, at)
    assert isinstance(answer, Granted), answer
    return fold(leases, answer.events, at), answer.generation


def observe_time(leases: Leases, at: float) -> Leases:
    """By an event of the log that changes nothing else."""
    return fold(leases, (LeaseWithdrawn("service:other", CAT),), at)


def queue(leases: Leases, name: str, holder: Holder, at: float, patience: float = 60.0) -> Leases:
    answer = acquire(leases, name, holder, 10.0, at, wait_seconds=patience)
    assert isinstance(answer, Waiting), answer
    return fold(leases, answer.events, at)


def test_a_refusal_says_who_holds_it_where_and_since_when() -> None:
    leases, _ = take(Leases(), "port:5432", ANN, at=100.0)
    answer = acquire(leases, "port:5432", BOB, 10.0, 103.0)
    assert isinstance(answer, LeaseRefused)
    (blocker,) = answer.blockers
    assert (blocker.holder, blocker.since, blocker.expires_in_seconds) == (ANN, 100.0, 7.0)


def test_the_generation_grows_with_every_grant_of_a_name() -> None:
    leases, first = take(Leases(), "daemon", ANN, at=1.0)
    leases = fold(leases, _events(release(leases, "daemon", first)), 2.0)
    leases, second = take(leases, "daemon", ANN, at=3.0)
    leases, third = take(leases, "daemon", BOB, at=20.0)
    assert (first, second, third) == (1, 2, 3)


def test_a_hung_holder_loses_the_lease_when_its_time_is_up() -> None:
    leases, old = take(Leases(), "service:db", ANN, at=0.0)
    assert isinstance(acquire(leases, "service:db", BOB, 10.0, 9.9), LeaseRefused)
    leases, new = take(leases, "service:db", BOB, at=10.0)
    assert isinstance(check_generation(leases, "service:db", old), Stale)
    lease = check_generation(leases, "service:db", new)
    assert isinstance(lease, Lease)
    assert lease.holder == BOB


def test_asking_again_for_what_one_holds_keeps_the_generation() -> None:
    leases, generation = take(Leases(), "daemon", ANN, at=0.0)
    again = acquire(leases, "daemon", ANN, 10.0, 5.0)
    assert again == Granted((LeaseRenewed("daemon", generation, 10.0),), "daemon", generation)


def test_a_second_process_of_one_attempt_is_another_holder() -> None:
    one, two = Holder("t3.1", pid=1, attempt="t3.1"), Holder("t3.1", pid=2, attempt="t3.1")
    leases, _ = take(Leases(), "port:80", one, at=0.0)
    assert isinstance(acquire(leases, "port:80", two, 10.0, 1.0), LeaseRefused)


def test_a_renewed_lease_outlives_its_first_term() -> None:
    leases, generation = take(Leases(), "daemon", ANN, at=0.0)
    leases = fold(leases, _events(renew(leases, "daemon", generation, 10.0, 8.0)), 8.0)
    assert expire(leases, 17.0) == ()
    assert expire(leases, 18.0) == (LeaseExpired("daemon", generation),)


def test_an_overdue_lease_nobody_wants_can_still_be_renewed() -> None:
    leases, generation = take(Leases(), "daemon", ANN, at=0.0)
    assert renew(leases, "daemon", generation, 10.0, 50.0) == (LeaseRenewed("daemon", generation, 10.0),)


def test_an_overdue_lease_is_lost_to_whoever_waits() -> None:
    leases, generation = take(Leases(), "daemon", ANN, at=0.0)
    leases = queue(leases, "daemon", BOB, at=5.0)
    assert isinstance(renew(leases, "daemon", generation, 10.0, 11.0), Stale)


@pytest.mark.parametrize("late", [LeaseExpired("daemon", 1), LeaseRenewed("daemon", 1, 10.0)])
def test_a_stale_event_does_not_touch_the_next_holder(late: LeaseEvent) -> None:
    leases, _ = take(Leases(), "daemon", ANN, at=0.0)
    leases, _ = take(leases, "daemon", BOB, at=11.0)
    with pytest.raises(IllegalLease, match="generation 1"):
        evolve(leases, late, 40.0)


def test_a_lease_cannot_be_expired_early_or_granted_twice() -> None:
    leases, generation = take(Leases(), "daemon", ANN, at=0.0)
    with pytest.raises(IllegalLease, match=r"9\.0 s left"):
        evolve(leases, LeaseExpired("daemon", generation), 1.0)
    with pytest.raises(IllegalLease, match="`ann` holds it"):
        evolve(leases, LeaseGranted("daemon", 2, BOB, 10.0), 1.0)
    free = fold(leases, _events(release(leases, "daemon", generation)), 2.0)
    with pytest.raises(IllegalLease, match="not above 1"):
        evolve(free, LeaseGranted("daemon", 1, BOB, 10.0), 3.0)


def test_overlapping_file_globs_conflict_and_disjoint_ones_do_not() -> None:
    leases, _ = take(Leases(), "file:src/api/**", ANN, at=0.0)
    answer = acquire(leases, "file:src/**/*.py", BOB, 10.0, 1.0)
    assert isinstance(answer, LeaseRefused)
    assert answer.blockers[0].name == "file:src/api/**"
    take(leases, "file:src/web/**", BOB, at=1.0)
    take(leases, "service:src/api/**", BOB, at=1.0)


def test_a_holder_is_not_in_its_own_way() -> None:
    leases, _ = take(Leases(), "file:src/**", ANN, at=0.0)
    take(leases, "file:src/a.py", ANN, at=1.0)


def test_waiting_is_first_come_first_served() -> None:
    leases, generation = take(Leases(), "port:80", ANN, at=0.0)
    leases = queue(leases, "port:80", BOB, at=1.0)
    leases = queue(leases, "port:80", CAT, at=2.0)
    leases = fold(leases, _events(release(leases, "port:80", generation)), 3.0)
    cat = acquire(leases, "port:80", CAT, 10.0, 3.0, wait_seconds=60.0)
    assert isinstance(cat, Waiting)
    assert (cat.position, [b.holder for b in cat.blockers]) == (2, [BOB])
    dan = acquire(leases, "port:80", Holder("dan"), 10.0, 3.0)
    assert isinstance(dan, LeaseRefused)
    leases, _ = take(leases, "port:80", BOB, at=3.0)
    assert [waiter.holder for waiter in leases.waiting] == [CAT]


def test_a_waiter_for_a_wide_glob_is_not_starved_by_narrow_ones() -> None:
    leases, generation = take(Leases(), "file:src/a.py", ANN, at=0.0)
    leases = queue(leases, "file:src/**", BOB, at=1.0)
    assert isinstance(acquire(leases, "file:src/b.py", CAT, 10.0, 2.0), LeaseRefused)
    leases = fold(leases, _events(release(leases, "file:src/a.py", generation)), 3.0)
    take(leases, "file:src/**", BOB, at=3.0)


def test_a_dead_waiter_loses_its_place_and_a_living_one_keeps_it() -> None:
    leases, _ = take(Leases(), "port:80", ANN, at=0.0, ttl=100.0)
    leases = queue(leases, "port:80", BOB, at=1.0, patience=30.0)
    leases = queue(leases, "port:80", CAT, at=2.0, patience=30.0)
    leases = queue(leases, "port:80", BOB, at=20.0, patience=30.0)
    assert [(w.holder, w.since) for w in leases.waiting] == [(BOB, 1.0), (CAT, 2.0)]
    take(leases, "port:80", Holder("dan"), at=101.0)


def test_asking_again_soon_writes_nothing() -> None:
    leases, _ = take(Leases(), "port:80", ANN, at=0.0)
    leases = queue(leases, "port:80", BOB, at=1.0)
    answer = acquire(leases, "port:80", BOB, 10.0, 2.0, wait_seconds=60.0)
    assert isinstance(answer, Waiting)
    assert answer.events == ()


def test_a_wait_that_could_never_end_is_refused() -> None:
    leases, _ = take(Leases(), "port:1", ANN, at=0.0, ttl=100.0)
    leases, _ = take(leases, "port:2", BOB, at=0.0, ttl=100.0)
    leases = queue(leases, "port:2", ANN, at=1.0)
    answer = acquire(leases, "port:1", BOB, 10.0, 2.0, wait_seconds=60.0)
    assert isinstance(answer, LeaseRefused)
    assert answer.deadlock


def test_a_lease_and_a_place_in_the_queue_die_with_the_attempt() -> None:
    worker = Holder("t3.1", pid=9, attempt="t3.1")
    leases, _ = take(Leases(), "port:80", ANN, at=0.0)
    leases, _ = take(leases, "file:src/**", worker, at=0.0)
    leases, _ = take(leases, "attempt:t3.1", Holder("daemon", pid=1), at=0.0)
    leases = queue(leases, "port:80", worker, at=1.0)
    leases = fold(leases, end_attempt(leases, "t3.1"), 2.0)
    assert set(leases.held) == {"port:80"}
    assert leases.waiting == ()


def test_leaving_the_queue_lets_the_next_one_in() -> None:
    leases, generation = take(Leases(), "port:80", ANN, at=0.0)
    leases = queue(leases, "port:80", BOB, at=1.0)
    leases = fold(leases, withdraw(leases, "port:80", BOB), 2.0)
    leases = fold(leases, _events(release(leases, "port:80", generation)), 3.0)
    take(leases, "port:80", CAT, at=3.0)
    assert withdraw(leases, "port:80", BOB) == ()


def test_a_clock_behind_the_log_neither_grants_nor_expires() -> None:
    leases, _ = take(Leases(), "daemon", ANN, at=1000.0)
    leases = observe_time(leases, 1009.0)
    assert isinstance(acquire(leases, "daemon", BOB, 10.0, 500.0), LeaseRefused)
    assert expire(leases, 500.0) == ()


def test_a_host_whose_clock_is_behind_counts_time_by_the_log() -> None:
    leases, _ = take(Leases(), "daemon", ANN, at=1000.0)
    leases = observe_time(leases, 1010.0)
    take(leases, "daemon", BOB, at=990.0)


def test_time_goes_on_after_a_clock_was_set_back_by_a_year() -> None:
    year = 365 * 86400.0
    leases, _ = take(Leases(), "daemon", ANN, at=year)
    leases = observe_time(leases, 5.0)
    assert isinstance(acquire(leases, "daemon", BOB, 10.0, 14.9), LeaseRefused)
    take(leases, "daemon", BOB, at=15.0)


def test_hosts_a_little_out_of_step_do_not_wear_a_lease_down() -> None:
    skew = CLOCK_STEP_SECONDS / 2
    leases, generation = take(Leases(), "daemon", ANN, at=1000.0, ttl=30.0)
    for tick in range(20):
        leases = observe_time(leases, 1000.0 + tick)
        leases = observe_time(leases, 1000.0 + tick - skew)
    assert isinstance(check_generation(leases, "daemon", generation), Lease)
    assert expire(leases, 1029.0) == ()


def test_the_state_stays_small_and_generations_still_grow_after_a_million_names_in_miniature() -> None:
    leases = Leases()
    granted: dict[str, int] = {}
    for number in range(3 * REMEMBERED_NAMES):
        name = f"attempt:t{number}.1"
        leases, granted[name] = take(leases, name, ANN, at=float(number))
        leases = fold(leases, _events(release(leases, name, granted[name])), float(number))
    assert len(leases.generations) <= 2 * REMEMBERED_NAMES
    for name in ("attempt:t0.1", f"attempt:t{3 * REMEMBERED_NAMES - 1}.1"):
        assert latest_generation(leases, name) >= granted[name]
        leases, again = take(leases, name, BOB, at=9999.0)
        assert again > granted[name]


def test_a_snapshot_restores_the_same_leases() -> None:
    leases, _ = take(Leases(), "file:src/**", ANN, at=0.0)
    leases = queue(leases, "file:src/x", BOB, at=1.0)
    for encode, decode in (
        (msgspec.json.encode, msgspec.json.decode),
        (msgspec.msgpack.encode, msgspec.msgpack.decode),
    ):
        assert decode(encode(leases), type=Leases) == leases


@pytest.mark.parametrize(
    "name", ["", " port:80", "port:0", "port:http", "port:99999", "file:", "a\nb", "x" * 401, "port:٣"]
)
def test_a_name_nothing_can_be_leased_under_is_misuse(name: str) -> None:
    with pytest.raises(Misuse):
        acquire(Leases(), name, ANN, 10.0, 0.0)


def test_two_spellings_of_a_port_are_one_port() -> None:
    leases, _ = take(Leases(), "port:080", ANN, at=0.0)
    assert isinstance(acquire(leases, "port:80", BOB, 10.0, 1.0), LeaseRefused)


@pytest.mark.parametrize("ttl", [0.0, -1.0, float("inf"), float("nan")])
def test_a_lease_that_never_ends_or_never_begins_is_misuse(ttl: float) -> None:
    with pytest.raises(Misuse):
        acquire(Leases(), "daemon", ANN, ttl, 0.0)


def test_waiting_is_an_event_with_a_bound() -> None:
    leases, _ = take(Leases(), "port:80", ANN, at=0.0)
    answer = acquire(leases, "port:80", BOB, 10.0, 1.0, wait_seconds=8.0)
    assert isinstance(answer, Waiting)
    assert answer.events == (LeaseWaited("port:80", BOB, 8.0),)


def _events(answer: tuple[LeaseEvent, ...] | Stale) -> tuple[LeaseEvent, ...]:
    assert not isinstance(answer, Stale), answer
    return answer
