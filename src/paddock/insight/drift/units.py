"""A matching as arrays: what each unit tells, and the ways in which labels could have been given."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from paddock.insight.drift.scores import Flags, Floats, Ints
from paddock.insight.drift.strata import Matching, Unit
from paddock.insight.trace import KeptTrace

DRAWS_AT_ONCE = 128


@dataclass(frozen=True, slots=True)
class Units:
    """`strata` are numbered without a gap and come one after the other."""

    units: tuple[Unit, ...]
    strata: Ints
    is_batch: Flags

    @property
    def pairs(self) -> int:
        of_batch = np.bincount(self.strata, weights=self.is_batch)
        return int(np.minimum(of_batch, np.bincount(self.strata) - of_batch).sum())

    def values(self, value: Callable[[KeptTrace], float | None]) -> Floats:
        """The mean over a unit's runs, NaN where none of them tells it."""
        return np.array([_mean([told for run in unit.runs if (told := value(run)) is not None]) for unit in self.units])

    def select(self, which: Flags) -> "Units":
        """Those, without strata that are left with one side."""
        count = int(self.strata.max()) + 1 if len(self.strata) else 0
        of_batch = np.bincount(self.strata[which & self.is_batch], minlength=count)
        of_baseline = np.bincount(self.strata[which & ~self.is_batch], minlength=count)
        kept = which & ((of_batch > 0) & (of_baseline > 0))[self.strata]
        _, numbers = np.unique(self.strata[kept], return_inverse=True)
        chosen = tuple(unit for unit, keep in zip(self.units, kept.tolist(), strict=True) if keep)
        return Units(chosen, numbers.astype(np.int64), self.is_batch[kept])


def units_of(matching: Matching, most: int, seed: int) -> Units:
    """At most about so many: of more, a random part of each stratum, with both sides in it."""
    total = sum(map(len, matching.strata))
    draw = np.random.default_rng(seed)
    share = min(1.0, most / max(1, total))
    chosen = [_part(stratum, share, draw) for stratum in matching.strata]
    return Units(
        tuple(unit for stratum in chosen for unit in stratum),
        np.repeat(np.arange(len(chosen)), [len(stratum) for stratum in chosen]),
        np.array([unit.is_batch for stratum in chosen for unit in stratum], dtype=np.bool_),
    )


def _part(stratum: tuple[Unit, ...], share: float, draw: np.random.Generator) -> list[Unit]:
    if share >= 1:
        return list(stratum)
    kept: list[int] = []
    for side in (True, False):
        places = [place for place, unit in enumerate(stratum) if unit.is_batch is side]
        kept += draw.permutation(places)[: max(1, round(share * len(places)))].tolist()
    return [stratum[place] for place in sorted(kept)]


@dataclass(frozen=True, slots=True)
class Weights:
    """What each unit counts within its side: a stratum counts on both sides alike, by how much it can tell."""

    batch: Floats
    baseline: Floats


def weigh(strata: Ints, is_batch: Flags) -> Weights:
    """As if a unit were in the batch, and as if it were not."""
    sizes = np.bincount(strata)
    of_batch = np.bincount(strata, weights=is_batch)
    of_baseline = sizes - of_batch
    stratum = of_batch * of_baseline / sizes
    stratum = stratum / stratum.sum()
    return Weights((stratum / of_batch)[strata], (stratum / of_baseline)[strata])


def swapped_labels(strata: Ints, is_batch: Flags, draws: int, seed: int) -> Iterator[Flags]:
    """Random labels with as many of the batch in each stratum, a draw a row, some rows at once.

    The smaller side of a stratum is drawn; of sides of the same size that of the first unit. So the same divisions are
    drawn if the sides are exchanged.
    """
    sizes = np.bincount(strata)
    of_batch = np.bincount(strata, weights=is_batch).astype(np.int64)
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    of_baseline = sizes - of_batch
    takes_batch = np.where(of_batch == of_baseline, is_batch[starts], of_batch < of_baseline)
    taken = np.minimum(of_batch, of_baseline)
    place = np.arange(len(strata)) - starts[strata]
    is_taken = place < taken[strata]
    generator = np.random.default_rng(seed)
    for first in range(0, draws, DRAWS_AT_ONCE):
        rows = min(DRAWS_AT_ONCE, draws - first)
        order = np.argsort(strata + generator.random((rows, len(strata))), axis=1)
        drawn = np.zeros((rows, len(strata)), dtype=np.bool_)
        np.put_along_axis(drawn, order, is_taken[None, :], axis=1)
        yield drawn == takes_batch[strata][None, :]


def labels_of(units: Units, draws: int, seed: int) -> Flags:
    """Those that were seen in the first row, and below it those that are swapped."""
    return np.concatenate((units.is_batch[None, :], *swapped_labels(units.strata, units.is_batch, draws, seed)))


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else float("nan")
