"""Who gets a lease, keeps it, gives it back or loses it: the events to append, or why there are none."""

import math

import msgspec

from paddock.core.errors import Misuse
from paddock.core.leases.lease import (
    Holder,
    Lease,
    LeaseEvent,
    LeaseExpired,
    LeaseGranted,
    LeaseReleased,
    LeaseRenewed,
    Leases,
    LeaseWaited,
    LeaseWithdrawn,
    Stale,
    Waiter,
    check_generation,
    latest_generation,
    log_time,
    names_conflict,
)

MAX_NAME_LENGTH = 400


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


def withdraw(leases: Leases, name: str, holder: Holder) -> tuple[LeaseEvent, ...]:
    """Leave the queue; nothing if the holder is not in it."""
    name = canonical_name(name)
    waits = any(waiter.name == name and waiter.holder == holder for waiter in leases.waiting)
    return (LeaseWithdrawn(name, holder),) if waits else ()


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
