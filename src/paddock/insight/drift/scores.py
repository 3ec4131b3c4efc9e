"""Scores of units compared within strata: the tests that differ in nothing but what they give a score for.

Of 0 and 1 it is Cochran, Mantel and Haenszel's, of ranks aligned within pairs it is Wilcoxon's signed ranks. Chance is
that the labels within a stratum might as well have been given the other way; where few ways are possible they are all
counted, else their number is taken to be normal.
"""

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

MOST_EXACT_UNITS = 4_000
MOST_EXACT_PAIRS = 60


@dataclass(frozen=True, slots=True)
class Scored:
    """Units of which something is known, on both sides of each stratum; `strata` are numbered without a gap."""

    strata: Ints
    is_batch: Flags
    values: Floats

    @property
    def pairs(self) -> int:
        return int(np.minimum(self.of_batch, self.of_baseline).sum())

    @property
    def sizes(self) -> Ints:
        return np.bincount(self.strata)

    @property
    def of_batch(self) -> Ints:
        return np.bincount(self.strata, weights=self.is_batch).astype(np.int64)

    @property
    def of_baseline(self) -> Ints:
        return self.sizes - self.of_batch

    @property
    def is_paired(self) -> bool:
        return bool((self.sizes == 2).all())


@dataclass(frozen=True, slots=True)
class Score:
    """`z` is positive where the batch has more; `p` is two-sided. `least_p` is the smallest that could have come of
    these units, whichever their labels."""

    z: float
    p: float
    least_p: float


def known_units(strata: Ints, is_batch: Flags, values: Floats) -> Scored:
    """Without those whose value is NaN, and without strata that are left with one side."""
    known = ~np.isnan(values)
    count = int(strata.max()) + 1 if len(strata) else 0
    of_batch = np.bincount(strata[known & is_batch], minlength=count)
    of_baseline = np.bincount(strata[known & ~is_batch], minlength=count)
    kept = known & ((of_batch > 0) & (of_baseline > 0))[strata]
    _, numbers = np.unique(strata[kept], return_inverse=True)
    return Scored(numbers.astype(np.int64), is_batch[kept], values[kept])


def compare_rates(scored: Scored) -> Score:
    """Of values from 0 to 1, which are all 0 or 1 where each unit is one run."""
    z = _deviation(scored, scored.values)
    if len(scored.values) <= MOST_EXACT_UNITS and bool(np.isin(scored.values, (0.0, 1.0)).all()):
        p, least = _exact_rates(scored)
        return Score(z, p, least)
    return Score(z, normal_p(z), 0.0)


def compare_sizes(scored: Scored) -> Score:
    """Of any values: by their ranks after each stratum's mean is taken off."""
    means = np.bincount(scored.strata, weights=scored.values) / scored.sizes
    aligned = scored.values - means[scored.strata]
    ranks = average_ranks(np.round(aligned, 12))
    z = _deviation(scored, ranks)
    if scored.is_paired and len(scored.sizes) <= MOST_EXACT_PAIRS:
        differences = _paired_differences(scored)
        return Score(z, wilcoxon_p(differences), 2.0 ** (1 - int(np.count_nonzero(differences))))
    return Score(z, normal_p(z), 0.0)


def risk_difference(scored: Scored) -> float:
    """Mantel and Haenszel's: the difference within each stratum, weighted by how much it can tell."""
    return mean_of_side(scored, of_batch=True) - mean_of_side(scored, of_batch=False)


def mean_of_side(scored: Scored, *, of_batch: bool) -> float:
    """With each stratum weighted alike on both sides."""
    here = scored.is_batch if of_batch else ~scored.is_batch
    means = np.bincount(scored.strata, weights=scored.values * here) / np.bincount(scored.strata, weights=here)
    weights = scored.of_batch * scored.of_baseline / scored.sizes
    return float((means * weights).sum() / weights.sum())


def normal_p(z: float) -> float:
    return math.erfc(abs(z) / math.sqrt(2))


def average_ranks(values: Floats) -> Floats:
    """From 1; equal values share the mean of their ranks."""
    _, numbers, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[numbers], dtype=np.float64)


def wilcoxon_p(differences: Floats) -> float:
    """Of the signed ranks of differences, two-sided, over all signs they could have; zeros tell nothing."""
    told = differences[differences != 0]
    if not len(told):
        return 1.0
    doubled = np.round(2 * average_ranks(np.abs(told))).astype(np.int64)
    ways = np.zeros(int(doubled.sum()) + 1)
    ways[0] = 1.0
    for rank in doubled:
        shifted = np.zeros_like(ways)
        shifted[rank:] = ways[: len(ways) - rank]
        ways = (ways + shifted) / 2
    up = int(doubled[told > 0].sum())
    return float(min(1.0, 2 * min(ways[: up + 1].sum(), ways[up:].sum())))


def rate_distribution(sizes: Ints, drawn: Ints, ones: Ints) -> tuple[int, Floats]:
    """How probable each number of ones in the batch is, from the least that is possible on, if of each stratum's
    `sizes` the batch's `drawn` are any."""
    least, whole = 0, np.ones(1)
    for size, taken, ones_in in zip(sizes.tolist(), drawn.tolist(), ones.tolist(), strict=True):
        first, last = max(0, taken - (size - ones_in)), min(taken, ones_in)
        ways = np.array(
            [
                math.exp(_log_ways(ones_in, k) + _log_ways(size - ones_in, taken - k) - _log_ways(size, taken))
                for k in range(first, last + 1)
            ]
        )
        least += first
        if len(ways) > 1:
            whole = np.convolve(whole, ways)
    return least, whole


def _exact_rates(scored: Scored) -> tuple[float, float]:
    """Half of what is as probable as what is seen counts, since ties are many where units are few."""
    ones = np.bincount(scored.strata, weights=scored.values).astype(np.int64)
    least, ways = rate_distribution(scored.sizes, scored.of_batch, ones)
    seen = int(scored.values[scored.is_batch].sum()) - least
    below, above = float(ways[:seen].sum()), float(ways[seen + 1 :].sum())
    half = float(ways[seen]) / 2
    p = min(1.0, 2 * min(below + half, above + half))
    return p, min(1.0, float(min(ways[0], ways[-1])))


def _deviation(scored: Scored, values: Floats) -> float:
    """From what swapped labels give on average, in standard deviations of that."""
    sizes, of_batch = scored.sizes, scored.of_batch
    totals = np.bincount(scored.strata, weights=values)
    squares = np.bincount(scored.strata, weights=values**2)
    expected = of_batch * totals / sizes
    seen = np.bincount(scored.strata, weights=values * scored.is_batch)
    spread = np.maximum(0.0, squares - totals**2 / sizes)
    variance = float((of_batch * scored.of_baseline / (sizes * np.maximum(1, sizes - 1)) * spread).sum())
    return float((seen - expected).sum()) / math.sqrt(variance) if variance > 1e-12 else 0.0


def _paired_differences(scored: Scored) -> Floats:
    signed = np.where(scored.is_batch, scored.values, -scored.values)
    return np.round(np.bincount(scored.strata, weights=signed), 12)


def _log_ways(of: int, some: int) -> float:
    return math.lgamma(of + 1) - math.lgamma(some + 1) - math.lgamma(of - some + 1)
