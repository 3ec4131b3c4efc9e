"""Who is compared with whom: runs of one task where both sides have such, else tasks of one sort.

Within a stratum it might as well have been the other side that did a piece of work: that is what chance is measured
by. Two runs of a task are not two pieces of evidence about its sort, so where tasks differ they stay together.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TypeVar

from paddock.insight.drift.constants import FEWEST_PAIRS
from paddock.insight.trace import KeptTrace, Trace


@dataclass(frozen=True, slots=True)
class Unit:
    """What keeps or changes its side as a whole: a run, or all runs of a task that was not run on the other side."""

    runs: tuple[KeptTrace, ...]
    is_batch: bool


@dataclass(frozen=True, slots=True)
class Matching:
    """`strata` hold the units that can be exchanged, each with both sides in it. `tasks` of them are tasks. `is_blind`:
    the others are of work of which nobody knows that it is of the same sort."""

    strata: tuple[tuple[Unit, ...], ...] = ()
    tasks: int = 0
    unmatched: int = 0
    is_blind: bool = False

    @property
    def pairs(self) -> int:
        return sum(pairs_of(stratum) for stratum in self.strata)

    @property
    def words(self) -> str:
        if not self.strata:
            return ""
        if self.tasks == len(self.strata):
            return "task"
        rest = "nothing" if self.is_blind else "kind"
        return f"task and {rest}" if self.tasks else rest


_Side = tuple[KeptTrace, bool]


def pairs_of(stratum: Sequence[Unit]) -> int:
    batch = sum(unit.is_batch for unit in stratum)
    return min(batch, len(stratum) - batch)


def match_runs(batch: Iterable[KeptTrace], baseline: Iterable[KeptTrace]) -> Matching:
    """The same whatever the order of runs, and the same strata if the sides are exchanged."""
    sided = [*((run, True) for run in batch), *((run, False) for run in baseline)]
    sided.sort(key=lambda side: place_of(side[0]))
    by_task, alone = _divide(sided, lambda side: _task_of(side[0].trace), lambda side: side[1])
    strata = [tuple(Unit((run,), is_batch) for run, is_batch in sides) for sides in by_task]
    tasks = len(strata)
    if sum(map(pairs_of, strata)) >= FEWEST_PAIRS:
        return Matching(tuple(strata), tasks, len(alone))
    rest = _climb(_clusters(alone), strata, _LEVELS)
    sorts = len(strata)
    if not sorts and not _are_of_other_sorts(rest):
        rest = _climb(rest, strata, _BLIND_LEVELS)
    return Matching(tuple(strata), tasks, sum(len(unit.runs) for unit in rest), is_blind=len(strata) > sorts)


def _are_of_other_sorts(units: Iterable[Unit]) -> bool:
    """Whether all say of what kind their work is: then nothing that they do says how it should be done on the other
    side, which has no such kind."""
    return all(unit.runs[0].trace.kind for unit in units)


def _climb(units: list[Unit], strata: list[tuple[Unit, ...]], levels: Sequence["_Level"]) -> list[Unit]:
    """Adds what is of one sort at each level; gives back what is left."""
    for level in levels:
        found, units = _divide(units, partial(_at_level, level), lambda unit: unit.is_batch)
        strata += map(tuple, found)
    return units


def place_of(run: KeptTrace) -> tuple[str, str, str, float, tuple[int, ...]]:
    """Where it stands among others, whatever order they were told in."""
    trace = run.trace
    return trace.task, trace.run, trace.label, trace.started or 0.0, run.path


def _task_of(trace: Trace) -> Hashable:
    """None where another run of that name is another matter: a retry follows only after a failure."""
    return trace.task if trace.task and not is_retried(trace) else None


def is_retried(trace: Trace) -> bool:
    """Whether runs of its task are tries, each made because that before it failed. Only the fleet's own are, and of
    those not what a schedule runs again and again."""
    return trace.label == "fleet" and "task" not in trace.attributes


def _clusters(alone: Iterable[_Side]) -> list[Unit]:
    """Of a task that was tried on both sides nobody knows which side it tells of."""
    runs: dict[Hashable, list[_Side]] = defaultdict(list)
    for number, side in enumerate(alone):
        runs[side[0].trace.task or number].append(side)
    one_sided = (sides for sides in runs.values() if len({is_batch for _, is_batch in sides}) == 1)
    return [Unit(tuple(run for run, _ in sides), sides[0][1]) for sides in one_sided]


_Level = Callable[[Trace], Hashable]
_LEVELS: tuple[_Level, ...] = (
    lambda trace: (trace.kind, trace.agent, trace.engine) if trace.kind or trace.agent else None,
    lambda trace: (trace.kind, trace.agent) if trace.kind or trace.agent else None,
    lambda trace: trace.kind or None,
)
_BLIND_LEVELS: tuple[_Level, ...] = (lambda trace: trace.engine or None, lambda _: "")
"""Only where nothing better is known of any run."""


def _at_level(level: _Level, unit: Unit) -> Hashable:
    return level(unit.runs[0].trace)


_Member = TypeVar("_Member")


def _divide(
    members: Iterable[_Member], key: Callable[[_Member], Hashable], is_batch: Callable[[_Member], bool]
) -> tuple[list[list[_Member]], list[_Member]]:
    """Those of one key that are on both sides, by key; and all others, with those whose key is None."""
    groups: dict[Hashable, list[_Member]] = defaultdict(list)
    rest: list[_Member] = []
    for member in members:
        if (found := key(member)) is None:
            rest.append(member)
        else:
            groups[found].append(member)
    both = [group for group in groups.values() if len({is_batch(member) for member in group}) == 2]
    one_sided = (group for group in groups.values() if len({is_batch(member) for member in group}) == 1)
    return both, [*rest, *chain.from_iterable(one_sided)]
