"""Leases: who may act on a named thing, until when, and under which generation.

A name is `daemon`, `attempt:t41.2`, `file:GLOB`, `port:N`, `service:NAME` or anything else. Two leases conflict
when their names are equal or when their file globs can match one path. The generation of a name grows with every
grant and is never given again; whatever writes under a lease shows it to `check_generation` first.

Decisions (`acquire`, `renew`, `release`, `withdraw`, `expire`, `end_attempt`) look at the state and answer with
the events to append; `evolve` alone changes the state. Time runs by the log: it never goes back, whatever the
clocks of the hosts do, so a clock that jumps can end a lease early (the old holder is then fenced off) but never
grant it twice.
"""

import math
from typing import ClassVar, TypeAlias, assert_never

import msgspec
from msgspec.structs import replace

from paddock.core.errors import Misuse, PaddockError
from paddock.core.events import Event

MAX_NAME_LENGTH = 400
# How many names keep their last generation individually. Older ones share a floor, so the state stays small.
REMEMBERED_NAMES = 256
# A clock this far behind the log was set back, and time is counted on from there; one less far behind belongs to
# a host out of step with another, and time waits for it.
CLOCK_STEP_SECONDS = 600.0


class Holder(msgspec.Struct, frozen=True):
    """Who holds or waits. Holders are the same if every field is: two processes of one attempt are two.

    `started` is the start time of process `pid`; `attempt` is what the lease dies with; `host_id` stays when the
    host's name changes.
    """

    name: str
    host: str = ""
    pid: int = 0
    started: float = 0.0
    boot_id: str = ""
    attempt: str = ""
    host_id: str = ""


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


class Blocker(msgspec.Struct, frozen=True):
    """Who is in the way: a holder, or a waiter with an older claim (generation 0)."""

    name: str
    holder: Holder
    since: float
    expires_in_seconds: float
    generation: int


class Granted(msgspec.Struct, frozen=True):
    """Append the events; from then on the lease is held under `generation`."""

    events: tuple[LeaseEvent, ...]
    name: str
    generation: int


class Waiting(msgspec.Struct, frozen=True):
    """Append the events, if any, and ask again when something changes, or when half of the wait has passed."""

    events: tuple[LeaseEvent, ...]
    blockers: tuple[Blocker, ...]
    position: int


class LeaseRefused(msgspec.Struct, frozen=True):
    """`deadlock` means that waiting would never end: a blocker waits for something this holder has."""

    blockers: tuple[Blocker, ...]
    deadlock: bool = False


class Stale(msgspec.Struct, frozen=True):
    """The given generation is not current; `current` is the lease that is, if any."""

    name: str
    generation: int
    latest_generation: int
    current: Lease | None


def canonical_name(name: str) -> str:
    """The one spelling of a resource's name. Raises `Misuse` for a name that cannot be leased."""
    if not name or len(name) > MAX_NAME_LENGTH or not name.isprintable() or name != name.strip():
        raise Misuse(
            f"`{name[:80]!r}` cannot be leased: a name is 1 to {MAX_NAME_LENGTH} printable characters",
            "name it like `port:5432`, `file:src/api/**` or `service:postgres`",
        )
    kind, colon, rest = name.partition(":")
    if colon and not rest:
        raise Misuse(f"`{name}` cannot be leased: nothing follows the colon", f"say which, as in `{kind}:NAME`")
    if kind != "port" or not colon:
        return name
    if not (rest.isascii() and rest.isdigit() and 0 < int(rest) < 65536):
        raise Misuse(f"`{name}` cannot be leased: a port is a number from 1 to 65535", "try `port:5432`")
    return f"port:{int(rest)}"


def _require_duration(ttl_seconds: float) -> None:
    if not 0 < ttl_seconds < math.inf:
        raise Misuse(f"a lease cannot last {ttl_seconds} seconds", "give a positive time to live, as in `--ttl 5m`")


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


def acquire(
    leases: Leases,
    name: str,
    holder: Holder,
    ttl_seconds: float,
    now: float,
    *,
    wait_seconds: float = 0.0,
) -> Granted | Waiting | LeaseRefused:
    """Take the lease, or a place in its queue if `wait_seconds` is positive.

    The place lapses unless the holder asks again within `wait_seconds`. A holder that already has the lease
    renews it under its old generation, and its own leases on other paths are never in its way.
    """
    name, time = canonical_name(name), log_time(leases, now)
    _require_duration(ttl_seconds)
    mine = leases.held.get(name)
    if mine is not None and mine.holder == holder and mine.expires_at > time:
        renewal = LeaseRenewed(name, mine.generation, ttl_seconds)
        return Granted((renewal,), name, mine.generation)
    in_the_way = [lease for lease in leases.held.values() if _is_in_the_way(lease, name, holder)]
    overdue = tuple(LeaseExpired(e.name, e.generation) for e in in_the_way if e.expires_at <= time)
    blockers = [_blocker(lease, time) for lease in in_the_way if lease.expires_at > time]
    queue, place = _queue_ahead(leases, name, holder, time)
    blockers += [_blocker(waiter, time) for waiter in queue]
    if not blockers:
        generation = latest_generation(leases, name) + 1
        return Granted((*overdue, LeaseGranted(name, generation, holder, ttl_seconds)), name, generation)
    if wait_seconds <= 0:
        return LeaseRefused(tuple(blockers))
    if _would_deadlock(leases, holder, [blocker.holder for blocker in blockers], time):
        return LeaseRefused(tuple(blockers), deadlock=True)
    keeps_place = place is not None and place.until - time > wait_seconds / 2
    events = () if keeps_place else (LeaseWaited(name, holder, wait_seconds),)
    return Waiting((*overdue, *events), tuple(blockers), len(queue) + 1)


def renew(leases: Leases, name: str, generation: int, ttl_seconds: float, now: float) -> tuple[LeaseEvent, ...] | Stale:
    """Extends the lease from now. An expired one is lost as soon as anyone waits with a claim on it."""
    name = canonical_name(name)
    _require_duration(ttl_seconds)
    lease, time = check_generation(leases, name, generation), log_time(leases, now)
    if isinstance(lease, Stale):
        return lease
    if lease.expires_at <= time and _queue_ahead(leases, name, lease.holder, time)[0]:
        return Stale(name, generation, generation, None)
    return (LeaseRenewed(name, generation, ttl_seconds),)


def release(leases: Leases, name: str, generation: int, *, why: str = "") -> tuple[LeaseEvent, ...] | Stale:
    name = canonical_name(name)
    lease = check_generation(leases, name, generation)
    return lease if isinstance(lease, Stale) else (LeaseReleased(name, generation, why),)


def withdraw(leases: Leases, name: str, holder: Holder, *, why: str = "") -> tuple[LeaseEvent, ...]:
    """Leave the queue; nothing if the holder is not in it."""
    name = canonical_name(name)
    waits = any(waiter.name == name and waiter.holder == holder for waiter in leases.waiting)
    return (LeaseWithdrawn(name, holder, why),) if waits else ()


def expire(leases: Leases, now: float) -> tuple[LeaseEvent, ...]:
    """The leases that have run out."""
    time = log_time(leases, now)
    return tuple(LeaseExpired(e.name, e.generation) for e in leases.held.values() if e.expires_at <= time)


def end_attempt(leases: Leases, attempt: str) -> tuple[LeaseEvent, ...]:
    """A lease ends with its attempt, and so does a place in a queue."""
    why = f"attempt {attempt} ended"
    held = [e for e in leases.held.values() if e.holder.attempt == attempt or e.name == f"attempt:{attempt}"]
    waits = [waiter for waiter in leases.waiting if waiter.holder.attempt == attempt]
    return (
        *(LeaseReleased(lease.name, lease.generation, why) for lease in held),
        *(LeaseWithdrawn(waiter.name, waiter.holder, why) for waiter in waits),
    )


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


def _is_in_the_way(lease: Lease, name: str, holder: Holder) -> bool:
    """An equal name always conflicts: even its own holder needs a new generation once it has expired."""
    if lease.name == name:
        return True
    return lease.holder != holder and names_conflict(lease.name, name)


def _queue_ahead(leases: Leases, name: str, holder: Holder, time: float) -> tuple[list[Waiter], Waiter | None]:
    """Waiters with an older, conflicting claim; and the holder's own place, if it has one."""
    ahead: list[Waiter] = []
    for waiter in leases.waiting:
        if waiter.until <= time:
            continue
        if waiter.holder == holder:
            if waiter.name == name:
                return ahead, waiter
        elif names_conflict(waiter.name, name):
            ahead.append(waiter)
    return ahead, None


def _would_deadlock(leases: Leases, holder: Holder, blockers: list[Holder], time: float) -> bool:
    """Whether someone this holder would wait for is itself waiting for something it holds."""
    seen: set[Holder] = set()
    todo = list(blockers)
    while todo:
        other = todo.pop()
        if other == holder:
            return True
        if other in seen:
            continue
        seen.add(other)
        wanted = [waiter.name for waiter in leases.waiting if waiter.holder == other and waiter.until > time]
        todo += [
            lease.holder
            for lease in leases.held.values()
            for name in wanted
            if lease.holder != other and lease.expires_at > time and names_conflict(lease.name, name)
        ]
    return False


def _blocker(claim: Lease | Waiter, time: float) -> Blocker:
    if isinstance(claim, Waiter):
        return Blocker(claim.name, claim.holder, claim.since, claim.until - time, 0)
    return Blocker(claim.name, claim.holder, claim.since, claim.expires_at - time, claim.generation)
