"""Whether a batch does well at other tasks than its baseline, even if at as many.

It tells something only where tasks were run more than once: of one run of each side, labels that are swapped change
nothing.
"""

from dataclasses import dataclass

import numpy as np

from paddock.insight.drift.scores import Flags, Floats, Scored
from paddock.insight.drift.units import swapped_labels


@dataclass(frozen=True, slots=True)
class ProfileResult:
    """`distance` is the mean squared difference of a task's two means, `beyond_chance` the root of what swapped labels
    leave of it."""

    distance: float
    beyond_chance: float
    p: float


def can_tell(scored: Scored) -> bool:
    return bool((scored.sizes > 2).any())


def compare_profiles(scored: Scored, draws: int, seed: int) -> ProfileResult:
    seen = float(_distances(scored, scored.is_batch[None, :])[0])
    labels = swapped_labels(scored.strata, scored.is_batch, draws, seed)
    by_chance = np.concatenate([_distances(scored, some) for some in labels])
    as_far = int((by_chance >= seen - 1e-9).sum())
    beyond = max(0.0, seen - float(by_chance.mean())) ** 0.5
    return ProfileResult(seen, beyond, (1 + as_far) / (1 + draws))


def _distances(scored: Scored, labels: Flags) -> Floats:
    """The strata of units are one after the other."""
    starts = np.concatenate(([0], np.cumsum(scored.sizes)[:-1]))
    of_batch, of_baseline = scored.of_batch, scored.of_baseline
    totals = np.add.reduceat(scored.values, starts)
    batch = np.add.reduceat(labels * scored.values, starts, axis=1)
    differences = batch / of_batch - (totals - batch) / of_baseline
    weights = of_batch * of_baseline / (of_batch + of_baseline)
    return np.asarray((differences**2 @ weights) / weights.sum(), dtype=np.float64)
