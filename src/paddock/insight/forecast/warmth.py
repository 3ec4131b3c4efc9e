"""How much of their start-up context agents found in a cache when they started soon after another.

Whether a cache is there is up to the engine and its provider, so it is taken from what starts have shown. That all of
it is there is only assumed where no start so close was seen.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from statistics import fmean

from paddock.core.tasks.task import Attempt, Task
from paddock.insight.costs.runs import RunCost
from paddock.insight.forecast.past import SortOfWork

CACHE_SECONDS = 300.0
"""How long a provider keeps what it was not asked for again."""
ASSUMED_WARMTH = 1.0


@dataclass(frozen=True, slots=True)
class CloseStart:
    """One that followed another of the same agent while a cache would last. A cache had `cached` of what it read, as a
    share."""

    sort: SortOfWork
    cached: float


def cache_of(sort: SortOfWork) -> SortOfWork:
    """What shares a cache: the same agent, with the same engine and model."""
    return SortOfWork(sort.engine, sort.agent, sort.model)


def find_close_starts(tasks: Iterable[Task], traces: Mapping[str, RunCost]) -> list[CloseStart]:
    """`traces` by attempt tell what a cache had; where nobody can tell, a start is not among them."""
    attempts = sorted(((one.started, one, task) for task in tasks for one in task.attempts), key=lambda found: found[0])
    found, lives = list[CloseStart](), dict[SortOfWork, list[tuple[float, float]]]()
    for started, attempt, task in attempts:
        sort = _sort_of(attempt, task)
        before = [(read, until) for read, until in lives.get(sort, []) if until >= started]
        cached = _cached_share(attempt, traces.get(attempt.id))
        # Of two that start together, neither has read anything yet when the other does.
        if cached is not None and any(read < started for read, _ in before):
            found.append(CloseStart(sort, cached))
        lives[sort] = [*before, _life(attempt)]
    return found


def observed_warmth(sort: SortOfWork, starts: Sequence[CloseStart]) -> float:
    """Of the same agent's starts, or else of any with the same engine, on average."""
    for group in _circles(cache_of(sort), starts):
        if group:
            return fmean(group)
    return ASSUMED_WARMTH


def _circles(sort: SortOfWork, starts: Sequence[CloseStart]) -> Iterator[list[float]]:
    same = [one for one in starts if one.sort.engine == sort.engine]
    yield [
        one.cached
        for one in same
        if one.sort.agent == sort.agent and (not sort.model or not one.sort.model or one.sort.model == sort.model)
    ]
    yield [one.cached for one in same]


def _sort_of(attempt: Attempt, task: Task) -> SortOfWork:
    own = task.agent if attempt.role is task.role else None
    return SortOfWork(attempt.engine, attempt.agent or own or "", attempt.model or "")


def _cached_share(attempt: Attempt, trace: RunCost | None) -> float | None:
    """None as well for one that went on with a conversation: that one is what a cache has."""
    goes_on = attempt.continues is not None or bool(attempt.inlined) or attempt.fork
    return None if goes_on or trace is None else trace.cached_share


def _life(attempt: Attempt) -> tuple[float, float]:
    """From when its start-up context was read, until it is forgotten."""
    until = inf if attempt.ended is None else attempt.ended + CACHE_SECONDS
    return attempt.started + (attempt.startup_seconds or 0.0), until
