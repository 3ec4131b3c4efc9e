"""Leases under any order of calls, lost processes and clocks that jump."""

import msgspec
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from paddock.core.leases.decisions import Granted, LeaseRefused, acquire, end_attempt, expire, release, renew, withdraw
from paddock.core.leases.lease import (
    Holder,
    Lease,
    LeaseEvent,
    LeaseGranted,
    Leases,
    Stale,
    check_generation,
    evolve,
    names_conflict,
)

NAMES = ["daemon", "port:80", "file:src/**", "file:src/a.py", "file:*/b.py", "file:docs/*"]
HOLDERS = [Holder(f"t{n}.1", host=f"h{n % 2}", pid=n, attempt=f"t{n}.1") for n in range(4)]

names = st.sampled_from(NAMES)
holders = st.sampled_from(HOLDERS)
# Seconds a clock moves between two steps: mostly a little, at times forwards or back by hours.
moves = st.one_of(st.floats(0, 8), st.sampled_from([-7200.0, -30.0, 7200.0]))


class Fleet(RuleBasedStateMachine):
    """Believers are holders that were told they have a lease and act on it until they are told otherwise."""

    def __init__(self) -> None:
        super().__init__()
        self.leases = Leases()
        self.clock = {"h0": 1000.0, "h1": 1003.0}
        self.latest: dict[str, int] = {}
        self.believers: dict[tuple[str, int], Holder] = {}

    def append(self, events: tuple[LeaseEvent, ...], at: float) -> None:
        for event in events:
            if isinstance(event, LeaseGranted):
                assert event.generation > self.latest.get(event.name, 0)
                self.latest[event.name] = event.generation
                self.believers[event.name, event.generation] = event.holder
            self.leases = evolve(self.leases, event, at)

    @rule(host=st.sampled_from(["h0", "h1"]), move=moves)
    def time_passes(self, host: str, move: float) -> None:
        self.clock[host] += move

    @rule(name=names, holder=holders, wait=st.sampled_from([0.0, 20.0]), crash=st.booleans())
    def acquires(self, name: str, holder: Holder, wait: float, crash: bool) -> None:
        now = self.clock[holder.host]
        answer = acquire(self.leases, name, holder, 10.0, now, wait_seconds=wait)
        if isinstance(answer, LeaseRefused):
            assert answer.blockers
        elif not crash:
            self.append(answer.events, now)
            if isinstance(answer, Granted):
                assert isinstance(check_generation(self.leases, answer.name, answer.generation), Lease)

    @rule(data=st.data())
    def renews(self, data: st.DataObject) -> None:
        if self.believers:
            (name, generation), holder = data.draw(st.sampled_from(sorted(self.believers.items(), key=str)))
            answer = renew(self.leases, name, generation, 10.0, self.clock[holder.host])
            if not isinstance(answer, Stale):
                self.append(answer, self.clock[holder.host])

    @rule(data=st.data())
    def releases(self, data: st.DataObject) -> None:
        if self.believers:
            (name, generation), holder = data.draw(st.sampled_from(sorted(self.believers.items(), key=str)))
            answer = release(self.leases, name, generation)
            if not isinstance(answer, Stale):
                self.append(answer, self.clock[holder.host])
            del self.believers[name, generation]

    @rule(name=names, holder=holders)
    def gives_up_waiting(self, name: str, holder: Holder) -> None:
        self.append(withdraw(self.leases, name, holder), self.clock[holder.host])

    @rule(host=st.sampled_from(["h0", "h1"]))
    def janitor_sweeps(self, host: str) -> None:
        self.append(expire(self.leases, self.clock[host]), self.clock[host])

    @rule(holder=holders)
    def attempt_ends(self, holder: Holder) -> None:
        self.append(end_attempt(self.leases, holder.attempt), self.clock[holder.host])
        assert all(lease.holder.attempt != holder.attempt for lease in self.leases.held.values())

    @rule()
    def daemon_restarts_from_a_snapshot(self) -> None:
        self.leases = msgspec.msgpack.decode(msgspec.msgpack.encode(self.leases), type=Leases)

    @invariant()
    def no_two_holders_have_what_conflicts(self) -> None:
        held = list(self.leases.held.values())
        for index, one in enumerate(held):
            for other in held[index + 1 :]:
                assert one.holder == other.holder or not names_conflict(one.name, other.name)

    @invariant()
    def at_most_the_latest_generation_may_write(self) -> None:
        may_write = [
            (name, generation)
            for name, generation in self.believers
            if isinstance(check_generation(self.leases, name, generation), Lease)
        ]
        assert all(generation == self.latest[name] for name, generation in may_write)
        assert len({name for name, _ in may_write}) == len(may_write)


Fleet.TestCase.settings = settings(
    max_examples=120, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
TestFleetNeverHasTwoHolders = Fleet.TestCase
