"""Leases: who may act on a named thing, until when, and under which generation.

A name is `daemon`, `attempt:t41.2`, `file:GLOB`, `port:N`, `service:NAME` or anything else. Two leases conflict
when their names are equal or when their file globs can match one path. The generation of a name grows with every
grant and is never given again; whatever writes under a lease shows it to `check_generation` first.

`decisions.py` looks at the leases and answers with the events to append; `evolve` alone changes them. Time runs by
the log: it never goes back, whatever the clocks of the hosts do, so a clock that jumps can end a lease early (the old
holder is then fenced off) but never grant it twice.
"""

from typing import ClassVar, TypeAlias, assert_never

import msgspec
from msgspec.structs import replace

from paddock.core.errors import PaddockError
from paddock.core.events import Event

# How many names keep their last generation individually. Older ones share a floor, so the state stays small.
REMEMBERED_NAMES = 256
# A clock this far behind the log was set back, and time is counted on from there; one less far behind belongs to
# a host out of step with another, and time waits for it.
CLOCK_STEP_SECONDS = 600.0


class Holder(msgspec.Struct, frozen=True):
    """Who holds or waits. Holders are the same if every field is: two processes of one attempt are two.

    `started` is the start time of process `pid` in the pid namespace `pid_space`; `attempt` is what the lease dies
    with; `host_id` stays when the host's name changes.
    """

    name: str
    host: str = ""
    pid: int = 0
    started: float = 0.0
    boot_id: str = ""
    attempt: str = ""
    host_id: str = ""
    pid_space: str = ""


class LeaseGranted(Event, frozen=True):
    kind: ClassVar[str] = "lease.granted"
    name: str
    generation: int
    holder: Holder
    ttl_seconds: float


class LeaseRenewed(Event, frozen=True):
    kind: ClassVar[str] = "lease.renewed"
    name: str
    generation: int
    ttl_seconds: float


class LeaseReleased(Event, frozen=True):
    kind: ClassVar[str] = "lease.released"
    name: str
    generation: int
    why: str = ""


class LeaseExpired(Event, frozen=True):
    kind: ClassVar[str] = "lease.expired"
    name: str
    generation: int


class LeaseWaited(Event, frozen=True):
    """A place in the queue, kept for `patience_seconds`; asking again keeps the place and extends it."""

    kind: ClassVar[str] = "lease.waited"
    name: str
    holder: Holder
    patience_seconds: float


class LeaseWithdrawn(Event, frozen=True):
    kind: ClassVar[str] = "lease.withdrawn"
    name: str
    holder: Holder
    why: str = ""


LeaseEvent: TypeAlias = LeaseGranted | LeaseRenewed | LeaseReleased | LeaseExpired | LeaseWaited | LeaseWithdrawn
LEASE_EVENTS = (LeaseGranted, LeaseRenewed, LeaseReleased, LeaseExpired, LeaseWaited, LeaseWithdrawn)


class Lease(msgspec.Struct, frozen=True):
    """`since` is wall-clock time for people; `expires_at` is log time, compare it only with `log_time`."""

    name: str
    generation: int
    holder: Holder
    since: float
    expires_at: float


class Waiter(msgspec.Struct, frozen=True):
    name: str
    holder: Holder
    since: float
    until: float


class LogClock(msgspec.Struct, frozen=True):
    """The latest log time, and what to add to a wall clock to get it."""

    time: float = 0.0
    ahead: float = 0.0


class Leases(msgspec.Struct, frozen=True):
    """Never change the dicts in place: snapshots and earlier states share them."""

    held: dict[str, Lease] = {}
    waiting: tuple[Waiter, ...] = ()
    generations: dict[str, int] = {}
    generation_floor: int = 0
    clock: LogClock = LogClock()


class IllegalLease(PaddockError):
    """An event that cannot follow the leases as they are; it must not be appended."""


class Stale(msgspec.Struct, frozen=True):
    """The given generation is not current; `current` is the lease that is, if any."""

    name: str
    generation: int
    latest_generation: int
    current: Lease | None


def names_conflict(first: str, second: str) -> bool:
    if first == second:
        return True
    if first.startswith("file:") and second.startswith("file:"):
        from paddock.core.leases.globs import globs_overlap

        return globs_overlap(first[5:], second[5:])
    return False


def log_time(leases: Leases, now: float) -> float:
    """`now` as the leases count it: never before the latest event."""
    return max(leases.clock.time, now + leases.clock.ahead)


def latest_generation(leases: Leases, name: str) -> int:
    """The generation of the name's latest grant; for one never granted, a number its first grant exceeds."""
    return leases.generations.get(name, leases.generation_floor)


def skip_generations(leases: Leases, given: int) -> Leases:
    """Every next grant is above `given`, whatever the name: generations up to it may have been granted."""
    generations = {name: max(known, given) for name, known in leases.generations.items()}
    return replace(leases, generations=generations, generation_floor=max(leases.generation_floor, given))


def check_generation(leases: Leases, name: str, generation: int) -> Lease | Stale:
    """The lease, as proof that `generation` may write under it; `Stale` if it may not any more."""
    lease = leases.held.get(name)
    if lease is not None and lease.generation == generation:
        return lease
    return Stale(name, generation, latest_generation(leases, name), lease)


def evolve(leases: Leases, event: LeaseEvent, at: float) -> Leases:
    """The leases after an event appended at wall-clock time `at`; `IllegalLease` if it cannot follow."""
    clock = _advance(leases.clock, at)
    time = clock.time
    match event:
        case LeaseGranted():
            return _grant(leases, event, clock, at)
        case LeaseRenewed():
            lease = _in_force(leases, event)
            renewed = replace(lease, expires_at=time + event.ttl_seconds)
            return replace(leases, held={**leases.held, event.name: renewed}, clock=clock)
        case LeaseReleased():
            return _drop(leases, _in_force(leases, event), clock)
        case LeaseExpired():
            lease = _in_force(leases, event)
            if lease.expires_at > time:
                raise IllegalLease(f"lease `{event.name}` cannot expire: it has {lease.expires_at - time:.1f} s left")
            return _drop(leases, lease, clock)
        case LeaseWaited():
            return replace(leases, waiting=_enqueue(leases.waiting, event, time, at), clock=clock)
        case LeaseWithdrawn():
            rest = tuple(w for w in leases.waiting if w.name != event.name or w.holder != event.holder)
            return replace(leases, waiting=rest, clock=clock)
        case _:
            assert_never(event)


def _advance(clock: LogClock, at: float) -> LogClock:
    time = at + clock.ahead
    if time >= clock.time - CLOCK_STEP_SECONDS or clock.time == 0.0:
        return LogClock(max(clock.time, time), clock.ahead)
    return LogClock(clock.time, clock.time - at)


def _grant(leases: Leases, event: LeaseGranted, clock: LogClock, at: float) -> Leases:
    holding = leases.held.get(event.name)
    if holding is not None:
        raise IllegalLease(f"lease `{event.name}` cannot be granted: `{holding.holder.name}` holds it")
    latest = latest_generation(leases, event.name)
    if event.generation <= latest:
        raise IllegalLease(
            f"lease `{event.name}` cannot be granted: generation {event.generation} is not above {latest}"
        )
    lease = Lease(event.name, event.generation, event.holder, at, clock.time + event.ttl_seconds)
    generations = leases.generations.copy()
    generations.pop(event.name, None)
    generations[event.name] = event.generation
    floor = leases.generation_floor
    if len(generations) > 2 * REMEMBERED_NAMES:
        forgotten = [name for name in generations if name not in leases.held][:REMEMBERED_NAMES]
        floor = max([floor, *(generations.pop(name) for name in forgotten)])
    waiting = tuple(
        w for w in leases.waiting if w.until > clock.time and (w.name != event.name or w.holder != event.holder)
    )
    return Leases({**leases.held, event.name: lease}, waiting, generations, floor, clock)


def _in_force(leases: Leases, event: LeaseRenewed | LeaseReleased | LeaseExpired) -> Lease:
    lease = check_generation(leases, event.name, event.generation)
    if isinstance(lease, Stale):
        raise IllegalLease(
            f"`{event.kind}` of `{event.name}` comes too late: "
            f"generation {event.generation} is not current; the latest is {lease.latest_generation}"
        )
    return lease


def _drop(leases: Leases, lease: Lease, clock: LogClock) -> Leases:
    held = {name: other for name, other in leases.held.items() if name != lease.name}
    return replace(leases, held=held, clock=clock)


def _enqueue(waiting: tuple[Waiter, ...], event: LeaseWaited, time: float, at: float) -> tuple[Waiter, ...]:
    alive = [waiter for waiter in waiting if waiter.until > time]
    until = time + event.patience_seconds
    for index, waiter in enumerate(alive):
        if waiter.name == event.name and waiter.holder == event.holder:
            alive[index] = replace(waiter, until=until)
            return tuple(alive)
    return (*alive, Waiter(event.name, event.holder, at, until))
