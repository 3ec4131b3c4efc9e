"""What the failures of a cluster show together, set against all the runs that could have failed in the same way."""

import math
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from statistics import median

from paddock.insight.failures.chances import hypergeometric_tail
from paddock.insight.failures.cluster import Lift, Measures
from paddock.insight.failures.failed import ended_at
from paddock.insight.trace import KeptTrace, Trace

WINDOW_SECONDS = 900.0
MANY_AT_ONCE = 3
MOST_LIFTS = 6
LIFT_CHANCE = 0.01
LEAST_LIFT = 1.5

FACETS: Mapping[str, Callable[[Trace], str]] = {
    "task": lambda trace: trace.task,
    "kind": lambda trace: trace.kind,
    "host": lambda trace: trace.host,
    "account": lambda trace: trace.account,
    "engine": lambda trace: trace.engine,
    "version": lambda trace: trace.engine_version and f"{trace.engine} {trace.engine_version}",
    "model": lambda trace: trace.model,
    "label": lambda trace: trace.label,
}


class Exposure:
    """All runs that were looked at, counted once for all clusters."""

    def __init__(self, runs: Sequence[KeptTrace]) -> None:
        self.total = len(runs)
        self.counts: dict[str, Counter[str]] = {
            facet: Counter(value for kept in runs if (value := of(kept.trace))) for facet, of in FACETS.items()
        }
        self.ends = sorted(at for kept in runs if (at := ended_at(kept.trace)) is not None)
        self.groups = _concurrent_groups(runs)
        self.group_sizes = Counter(self.groups.values())
        self.known = {facet: sum(runs.values()) for facet, runs in self.counts.items()}

    def ended_between(self, first: float, last: float) -> int:
        return bisect_right(self.ends, last) - bisect_left(self.ends, first)


def measure(members: Sequence[KeptTrace], exposure: Exposure) -> Measures:
    groups, all_but_one = _all_but_one(members, exposure)
    return Measures(
        recurrence=_recurrence(members, exposure),
        burst=_burst(members, exposure),
        groups=groups,
        all_but_one=all_but_one,
        backoff=_backoff(members),
        lifts=_lifts(members, exposure),
    )


def _recurrence(members: Sequence[KeptTrace], exposure: Exposure) -> float | None:
    """Over the tasks of these failures that were tried more than once: how often another attempt failed alike."""
    failed = Counter(kept.trace.task for kept in members if kept.trace.task)
    alike = others = 0
    for task, count in failed.items():
        attempts = exposure.counts["task"][task]
        others += count * (attempts - 1)
        alike += count * (count - 1)
    return alike / others if others else None


def _burst(members: Sequence[KeptTrace], exposure: Exposure) -> float | None:
    """The share that failed like this in their densest quarter of an hour, over that at all times; None if they hardly
    ever failed together."""
    ends = sorted(at for kept in members if (at := ended_at(kept.trace)) is not None)
    if len(ends) < MANY_AT_ONCE or len(exposure.ends) < 2 or exposure.ends[-1] - exposure.ends[0] < WINDOW_SECONDS:
        return None
    last, densest, begin = 0, 0, ends[0]
    for first, at in enumerate(ends):
        while last < len(ends) and ends[last] <= at + WINDOW_SECONDS:
            last += 1
        if last - first > densest:
            densest, begin = last - first, at
    if densest < MANY_AT_ONCE:
        return None
    exposed = max(1, exposure.ended_between(begin, begin + WINDOW_SECONDS))
    return (densest / exposed) / (len(ends) / len(exposure.ends))


def _concurrent_groups(runs: Sequence[KeptTrace]) -> dict[int, int]:
    """By the key of a run the number of its group: attempts at one task that were at work at the same time."""
    of_task: dict[str, list[KeptTrace]] = defaultdict(list)
    for kept in runs:
        if kept.trace.task and kept.trace.started is not None and kept.trace.ended is not None:
            of_task[f"{kept.trace.task}\0{kept.trace.host}"].append(kept)
    groups: dict[int, int] = {}
    number = 0
    for attempts in of_task.values():
        until = -math.inf
        for kept in sorted(attempts, key=lambda one: (one.trace.started or 0.0, one.key)):
            number += (kept.trace.started or 0.0) >= until
            until = max(until, kept.trace.ended or 0.0)
            groups[kept.key] = number
    return groups


def _all_but_one(members: Sequence[KeptTrace], exposure: Exposure) -> tuple[int, int]:
    failed = Counter(exposure.groups[kept.key] for kept in members if kept.key in exposure.groups)
    concurrent = {group: count for group, count in failed.items() if exposure.group_sizes[group] >= 3}
    return len(concurrent), sum(exposure.group_sizes[group] - count == 1 for group, count in concurrent.items())


def _backoff(members: Sequence[KeptTrace]) -> float | None:
    shares = [share for kept in members if (share := backoff_share(kept.trace)) is not None]
    return median(shares) if shares else None


def backoff_share(trace: Trace) -> float | None:
    if trace.waited_seconds is None or trace.started is None or trace.ended is None or trace.ended <= trace.started:
        return None
    return min(1.0, trace.waited_seconds / (trace.ended - trace.started))


def _lifts(members: Sequence[KeptTrace], exposure: Exposure) -> tuple[Lift, ...]:
    """Those that are no chance, corrected for how many were looked at."""
    found: list[Lift] = []
    for facet, of in FACETS.items():
        runs = exposure.counts[facet]
        known = exposure.known[facet]
        if len(runs) < 2:
            continue
        failed = Counter(value for kept in members if (value := of(kept.trace)))
        told = sum(failed.values())
        for value, count in failed.items():
            lift = (count / runs[value]) / (told / known)
            if count < 2 or lift < LEAST_LIFT:
                continue
            chance = hypergeometric_tail(count, runs[value], told, known) * len(runs)
            if chance < LIFT_CHANCE:
                found.append(Lift(facet, value, count, runs[value], lift, chance))
    return tuple(sorted(found, key=lambda lift: (lift.p, lift.facet, lift.value))[:MOST_LIFTS])
