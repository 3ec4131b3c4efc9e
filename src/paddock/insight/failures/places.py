"""Where a trouble is: whose account refused, which machine was full, what was fought over, who answered badly.

The same trouble at the same place is one cause however it is worded, and at another place it is another cause.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from paddock.insight.failures.failed import ended_at
from paddock.insight.failures.reading import USUAL, Reading
from paddock.insight.failures.resources import lack_of, resource_of
from paddock.insight.failures.vocabulary import FailureCause
from paddock.insight.model_provider import provider_of
from paddock.insight.trace import EndState, Trace


def _payer(trace: Trace) -> str:
    return trace.account or _provider(trace)


def _provider(trace: Trace) -> str:
    return provider_of(trace.model) or trace.engine


def doer_of(trace: Trace) -> str:
    return f"{trace.engine} {trace.model}".strip()


_PLACES: Mapping[FailureCause, Callable[[Trace], str]] = {
    FailureCause.RATE_LIMIT: _payer,
    FailureCause.OVERLOAD: _provider,
    FailureCause.SATURATION: lambda trace: trace.host,
    FailureCause.MODEL: doer_of,
}

OUTAGE_GAP = 1_800.0
"""Seconds without a failure after which the next one is another outage."""
_OF_PROVIDERS = frozenset({FailureCause.RATE_LIMIT, FailureCause.OVERLOAD})
"""A provider has many words for the same refusal."""


def resource_at(reading: Reading) -> str:
    """What it fought over, empty where nobody says."""
    root = reading.root
    if root is None or root.sign is None or reading.cause is not FailureCause.CONTENTION:
        return ""
    return resource_of(root.line.text, root.sign.name)


def by_place(groups: Sequence[Sequence[Reading]]) -> list[list[Reading]]:
    """The groups, with those of one trouble at one place together, and those of several places apart."""
    found: dict[tuple[object, ...], list[Reading]] = defaultdict(list)
    outages = _outages(reading for group in groups for reading in group)
    for number, group in enumerate(groups):
        for reading in group:
            found[_place_of(reading, outages.get(reading.kept.key)) or (number,)].append(reading)
    return list(found.values())


def _outages(readings: Iterable[Reading]) -> dict[int, int]:
    """By the key of each run that lost the network, which loss it was: a host loses it for a while, and then has it
    again."""
    lost = [
        (reading.kept.trace.host, at, reading.kept.key)
        for reading in readings
        if reading.cause is FailureCause.NETWORK
        and reading.kept.trace.host
        and reading.strength >= USUAL
        and (at := ended_at(reading.kept.trace)) is not None
    ]
    found: dict[int, int] = {}
    outage, host, last = 0, "", 0.0
    for where, at, key in sorted(lost):
        if where != host or at - last > OUTAGE_GAP:
            outage += 1
        found[key], host, last = outage, where, at
    return found


def _place_of(reading: Reading, outage: int | None) -> tuple[object, ...]:
    """Empty where the lines decide what is alike. Of engines that never ran without a word nothing else is known."""
    trace = reading.kept.trace
    if outage is not None:
        return ("outage", outage)
    if reading.root is None and (doer := doer_of(trace)):
        if reading.never_ran:
            return (trace.engine or doer,)
        if trace.end_state is EndState.GAVE_UP:
            return ("gave up", doer)
    if reading.root is None or reading.root.sign is None or reading.strength < USUAL:
        return ()
    place = _PLACES.get(reading.cause)
    if reading.cause is FailureCause.DEPENDENCY:
        lack = lack_of(reading.root.line.text, reading.root.sign.name)
        return (lack,) if lack else ()
    where = place(trace) if place is not None else resource_at(reading)
    if not where:
        return ()
    return (where,) if reading.cause in _OF_PROVIDERS else (where, reading.root.sign.name)
