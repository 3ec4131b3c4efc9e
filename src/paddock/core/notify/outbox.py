"""When one recipient is told what: everything once, gathered, and never two notifications within a minute.

An outbox is what is kept about one recipient. `due_at` says when to send, `take` what: everything that waits at that
moment. What goes away while it waits is dropped. What is under way is written down before it goes, so that whoever
finds the outbox after a crash knows it: without a receipt it is told again, rather than never.

Times are seconds by a clock that never goes back while it is used. It may be another one after a restart.
"""

from collections.abc import Collection

import msgspec
from msgspec.structs import replace

LEAST_SECONDS = 60.0
"""Between two notifications to one recipient, whatever is configured."""
FLIGHT_SECONDS = 40.0
"""After that a notification has arrived, or never will."""
GATHER_SECONDS = 10.0
"""What comes one after another is told together."""
LONGEST_PAUSE_SECONDS = 3600.0
MOST_TRIES = 6
"""Then the recipient is left alone until there is something new to tell."""
TOLD_KEPT_SECONDS = 86400.0
"""A state that went away and came back within that time is the same one, and is not told again."""


class Flight(msgspec.Struct, frozen=True):
    """A notification under way. `at` is when it is sent, `waited` what it tells, each with when that was first seen."""

    number: int
    at: float
    waited: dict[str, float]


class Outbox(msgspec.Struct, frozen=True, omit_defaults=True):
    """`told` are keys with when they were told, `waiting` with when they were first seen. `sent_at` is when the newest
    notification was begun, `ended_at` when one was last seen to have come to its end, `arrived_at` when one has last
    arrived; 0 for never. `failures` are those in a row."""

    told: dict[str, float] = {}
    waiting: dict[str, float] = {}
    flights: tuple[Flight, ...] = ()
    number: int = 0
    sent_at: float = 0.0
    ended_at: float = 0.0
    arrived_at: float = 0.0
    failures: int = 0
    problem: str = ""


def reopen(outbox: Outbox, now: float) -> Outbox:
    """For another process, with another clock: one that was set back must not keep anybody waiting for long. What
    failed before is tried again."""
    ahead = now + FLIGHT_SECONDS + LEAST_SECONDS  # nobody plans further than `last_chance` does
    sent_at = outbox.sent_at if outbox.sent_at <= ahead else now
    waiting = {key: min(at, now) for key, at in outbox.waiting.items()}
    flights = tuple(replace(one, at=min(one.at, ahead)) for one in outbox.flights)
    ended_at = min(outbox.ended_at, now)
    return replace(outbox, sent_at=sent_at, ended_at=ended_at, waiting=waiting, flights=flights, failures=0)


def look(outbox: Outbox, current: Collection[str], now: float) -> Outbox:
    """`current` are the keys of all there is to tell now."""
    under_way = {key for flight in outbox.flights for key in flight.waited}
    untold = (key for key in current if key not in outbox.told and key not in under_way)
    waiting = {key: outbox.waiting.get(key, now) for key in untold}
    present = current if isinstance(current, (set, frozenset, dict)) else set(current)
    told = {k: at for k, at in outbox.told.items() if k in present or now - at < TOLD_KEPT_SECONDS}
    if waiting == outbox.waiting and len(told) == len(outbox.told):
        return outbox
    return replace(outbox, waiting=waiting, told=told)


def due_at(outbox: Outbox, every_seconds: float) -> float | None:
    """When to send what waits; None if there is nothing to send, or nothing new since the last of many failures."""
    if not outbox.waiting or outbox.flights:
        return None
    first, last = min(outbox.waiting.values()), max(outbox.waiting.values())
    at = first + GATHER_SECONDS
    if not outbox.sent_at:
        return at
    if outbox.failures >= MOST_TRIES and last <= outbox.sent_at:
        return None
    return max(at, _last_seen(outbox) + max(LEAST_SECONDS, every_seconds, retry_pause(outbox.failures)))


def retry_pause(failures: int) -> float:
    return min(LONGEST_PAUSE_SECONDS, LEAST_SECONDS * 2.0 ** min(failures - 1, 30)) if failures else 0.0


def last_chance(outbox: Outbox, now: float) -> float | None:
    """When to send what waits if nobody will be there later to do it; None if nothing waits."""
    if not outbox.waiting or outbox.failures >= MOST_TRIES:
        return None
    under_way = FLIGHT_SECONDS if outbox.flights else 0.0
    return max(now, _last_seen(outbox) + under_way + LEAST_SECONDS) if outbox.sent_at else now


def _last_seen(outbox: Outbox) -> float:
    """Services count from when a notification arrives, which is before it is seen to have ended."""
    return max(outbox.sent_at, outbox.ended_at)


def take(outbox: Outbox, at: float) -> tuple[Outbox, Flight]:
    """All that waits is under way from now on, to be sent at `at`."""
    flight = Flight(outbox.number + 1, at, outbox.waiting)
    flown = replace(
        outbox, waiting={}, flights=(*outbox.flights, flight), number=flight.number, sent_at=max(at, outbox.sent_at)
    )
    return flown, flight


def arrive(outbox: Outbox, number: int, now: float) -> Outbox:
    """The service has accepted it."""
    flight = next((one for one in outbox.flights if one.number == number), None)
    if flight is None:
        return outbox
    return replace(
        outbox,
        told={**outbox.told, **dict.fromkeys(flight.waited, now)},
        flights=_without(outbox, number),
        ended_at=max(now, outbox.ended_at),
        arrived_at=max(flight.at, outbox.arrived_at),
        failures=0,
        problem="",
    )


def fail(outbox: Outbox, number: int, problem: str, now: float) -> Outbox:
    """It did not arrive, as far as anybody knows: what it told waits again."""
    flight = next((one for one in outbox.flights if one.number == number), None)
    if flight is None:
        return outbox
    return replace(
        outbox,
        waiting={**flight.waited, **outbox.waiting},
        flights=_without(outbox, number),
        ended_at=max(now, outbox.ended_at),
        failures=outbox.failures + 1,
        problem=problem,
    )


def _without(outbox: Outbox, number: int) -> tuple[Flight, ...]:
    return tuple(one for one in outbox.flights if one.number != number)
