"""What runs do at all, and how much of it: which activities occur in a run, and what share of its path each is.

The divergence of paths sees a change that is spread over many steps. This sees one that is of a single thing, such as
planning or delegation, however few steps that takes. Chance is the largest deviation of any activity if labels are
swapped (Westfall and Young's max T), so that it makes no difference how many activities there are.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from paddock.insight.drift.constants import ALPHA, FEWEST_KNOWN_PAIRS, MOST_ACTIVITIES, RATE_FLOOR, SHARE_FLOOR
from paddock.insight.drift.scores import Flags, Floats, Ints, average_ranks
from paddock.insight.drift.strata import Unit
from paddock.insight.drift.units import DRAWS_AT_ONCE, Units, weigh
from paddock.insight.paths import FAILED_SUFFIX, Symbols
from paddock.insight.phases import phase_of

_ROUNDING = 1e-4


@dataclass(frozen=True, slots=True)
class HabitTable:
    """A row for each unit, a column for each of the activities: the share of its runs in which it occurs, and the mean
    of its shares of their paths."""

    activities: tuple[str, ...]
    of_runs: Floats
    of_steps: Floats


@dataclass(frozen=True, slots=True)
class Habit:
    """`batch` and `baseline` are shares of runs or, if `is_of_steps`, of their paths. `p` is that of the largest
    deviation, whichever activity it is of."""

    activity: str
    is_of_steps: bool
    batch: float
    baseline: float
    p: float

    @property
    def effect(self) -> float:
        return self.batch - self.baseline

    @property
    def floor(self) -> float:
        return SHARE_FLOOR if self.is_of_steps else RATE_FLOOR


@dataclass(frozen=True, slots=True)
class Deviations:
    """The largest under each row of labels, in standard deviations, and the habits, of which the one that deviates most
    comes first."""

    largest: Floats
    habits: tuple[Habit, ...]

    @property
    def changed(self) -> tuple[Habit, ...]:
        """Those that chance does not explain."""
        return tuple(habit for habit in self.habits if habit.p <= ALPHA)

    @property
    def activities(self) -> tuple[str, ...]:
        """Of those that chance does not explain: where runs do other things at all, shares of steps only follow."""
        of_runs = [habit for habit in self.changed if not habit.is_of_steps]
        return tuple(dict.fromkeys(habit.activity for habit in of_runs or self.changed))

    @property
    def leading(self) -> Habit | None:
        """Of those that chance does not explain the one that differs most, for what is worth an alarm."""
        changed = self.changed or self.habits[:1]
        return max(changed, key=lambda habit: abs(habit.effect) / habit.floor, default=None)


def tabulate_habits(units: Sequence[Unit], symbols: Symbols, most: int = MOST_ACTIVITIES) -> HabitTable:
    """Of the activities that most runs have in their paths, whether they failed or not. A phase is one of its own where
    there are several in it."""
    paths = [(number, run.path) for number, unit in enumerate(units) for run in unit.runs]
    unit_of_run = np.array([number for number, _ in paths], dtype=np.int64)
    weight_of_run = 1.0 / np.bincount(unit_of_run)[unit_of_run]
    lengths = np.array([len(path) for _, path in paths], dtype=np.int64)
    flat = np.fromiter(chain.from_iterable(path for _, path in paths), dtype=np.int64, count=int(lengths.sum()))
    names, levels = _name_activities(symbols, np.unique(flat).tolist())
    run, name, counts = _count_steps(np.repeat(np.arange(len(paths)), lengths), [level[flat] for level in levels])
    heaviest = np.sort(np.argsort(-np.bincount(name, minlength=len(names)), kind="stable")[:most])
    column = np.full(len(names), -1)
    column[heaviest] = np.arange(len(heaviest))
    kept = column[name] >= 0
    run, name, counts = run[kept], name[kept], counts[kept]
    of_runs, of_steps = np.zeros((2, len(units), len(heaviest)))
    np.add.at(of_runs, (unit_of_run[run], column[name]), weight_of_run[run])
    np.add.at(of_steps, (unit_of_run[run], column[name]), weight_of_run[run] * counts / lengths[run])
    return HabitTable(tuple(names[number] for number in heaviest.tolist()), of_runs, of_steps)


def _name_activities(symbols: Symbols, codes: Iterable[int]) -> tuple[list[str], tuple[Ints, Ints]]:
    """The names, and by the code of each symbol the number of its own and of its phase, -1 for none."""
    own = {code: symbols.text(code).removesuffix(FAILED_SUFFIX) for code in codes}
    of_phase: dict[str, set[str]] = {}
    for activity in own.values():
        of_phase.setdefault(phase_of(activity), set()).add(activity)
    names = sorted({*own.values(), *(phase for phase, activities in of_phase.items() if len(activities) > 1)})
    numbers = {name: number for number, name in enumerate(names)}
    fine, coarse = np.full((2, len(symbols)), -1, dtype=np.int64)
    for code, activity in own.items():
        phase = phase_of(activity)
        fine[code] = numbers[activity]
        coarse[code] = numbers.get(phase, -1) if phase != activity else -1
    return names, (fine, coarse)


def _count_steps(run_of: Ints, levels: Sequence[Ints]) -> tuple[Ints, Ints, Ints]:
    """How often a run has an activity in its path: runs, activities and counts, where there are any."""
    width = 1 + max((int(level.max(initial=0)) for level in levels), default=0)
    cells, counts = np.unique(
        np.concatenate([(run_of * width + level)[level >= 0] for level in levels]), return_counts=True
    )
    return cells // width, cells % width, counts


def deviate(units: Units, table: HabitTable, labels: Flags) -> Deviations:
    """Under `labels` of which the first row are those that were seen."""
    scaled = _standardised(units, table)
    told = np.flatnonzero(np.abs(scaled).sum(axis=0) > 0)
    if not len(told):
        return Deviations(np.zeros(len(labels)), ())
    # Signs in place of flags: exchanged sides deviate by exactly as much.
    signs = (np.where(some, np.float32(0.5), np.float32(-0.5)) for some in _some_at_once(labels))
    largest = np.concatenate([np.abs(some @ scaled[:, told]).max(axis=1) for some in signs]).astype(np.float64)
    seen = np.abs(np.where(units.is_batch, np.float32(0.5), np.float32(-0.5)) @ scaled[:, told])
    as_far = len(labels) - np.searchsorted(np.sort(largest), seen - _ROUNDING)
    values = np.concatenate((table.of_runs, table.of_steps), axis=1)[:, told]
    weights = weigh(units.strata, units.is_batch)
    batch, baseline = (weights.batch * units.is_batch) @ values, (weights.baseline * ~units.is_batch) @ values
    width = len(table.activities)
    habits = tuple(
        Habit(
            table.activities[int(told[at]) % width],
            bool(told[at] >= width),
            float(batch[at]),
            float(baseline[at]),
            float(as_far[at] / len(labels)),
        )
        for at in np.argsort(-seen.round(3), kind="stable").tolist()
    )
    return Deviations(largest, habits)


def _some_at_once(labels: Flags) -> Iterable[Flags]:
    return (labels[first : first + DRAWS_AT_ONCE] for first in range(0, len(labels), DRAWS_AT_ONCE))


def _standardised(units: Units, table: HabitTable) -> NDArray[np.float32]:
    """By column without their stratum's mean, and divided by what their sum over the batch varies by if labels are
    swapped; 0 where too few units tell of it. Of shares of paths, which have long tails, the ranks are taken."""
    strata = units.strata
    centred = _centred(np.concatenate((table.of_runs, _ranks(_centred(table.of_steps, strata))), axis=1), strata)
    sizes, of_batch = np.bincount(strata), np.bincount(strata, weights=units.is_batch)
    each = of_batch * (sizes - of_batch) / (sizes * np.maximum(1, sizes - 1))
    spread = np.sqrt(each[strata] @ centred**2)
    tells = ((np.abs(centred) > 1e-9).sum(axis=0) >= FEWEST_KNOWN_PAIRS) & (spread > 1e-6)
    return np.asarray(centred * tells / np.where(tells, spread, 1.0), dtype=np.float32)


def _centred(values: Floats, strata: Ints) -> Floats:
    """The strata of units are one after the other."""
    sizes = np.bincount(strata)
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    return np.asarray(values - (np.add.reduceat(values, starts, axis=0) / sizes[:, None])[strata])


def _ranks(values: Floats) -> Floats:
    ranks = [average_ranks(column) for column in np.round(values, 12).T]
    return np.stack(ranks, axis=1) if ranks else values
