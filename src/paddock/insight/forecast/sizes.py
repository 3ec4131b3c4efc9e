"""How much runs of one sort may use: a predictive distribution that stays honest where few runs are known.

What runs of one sort cost is nearly log-normal in every set of real runs that we have, so middle and spread are learnt
on the scale of logarithms, and the learning is done as Bayes would: a forecast from four runs is as much wider than
one from forty as it has to be for nine out of ten days to stay below its p90. The shape comes from the runs
themselves as soon as there are enough of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from random import Random
from statistics import fmean

LEAST_SPREAD = 0.02
"""A program that always costs the same may cost a little more tomorrow."""
LARGEST_LOG = 60.0
"""Beyond any size there is; what an attempt may cost bounds it long before."""


@dataclass(frozen=True, slots=True)
class Belief:
    """What is thought of the logarithm of a size: `middle` as if `middle_weight` runs had said so, and `spread` as if
    `spread_weight` had."""

    middle: float
    spread: float
    middle_weight: float
    spread_weight: float

    def after(self, logs: Sequence[float]) -> "Belief":
        """Once these runs were seen."""
        if not logs:
            return self
        count, mean = len(logs), fmean(logs)
        weight = self.middle_weight + count
        squares = sum((value - mean) ** 2 for value in logs)
        apart = self.middle_weight * count / weight * (mean - self.middle) ** 2
        spread_weight = self.spread_weight + count
        variance = (self.spread_weight * self.spread**2 + squares + apart) / spread_weight
        middle = (self.middle_weight * self.middle + count * mean) / weight
        return Belief(middle, max(LEAST_SPREAD, sqrt(variance)), weight, spread_weight)


@dataclass(frozen=True, slots=True)
class DaySizes:
    """How runs of a sort are on one day that may come: `middle` and `spread` of the logarithms of their sizes."""

    middle: float
    spread: float


@dataclass(frozen=True, slots=True)
class Sizes:
    """`shape` are the runs that were seen, each by how many spreads it was above their middle, and drawn in towards it
    by as much as chance is added: the fewer there are, the less their own places say."""

    belief: Belief
    shape: tuple[float, ...]
    smooth: float = 1.0

    def draw_day(self, chance: Random) -> DaySizes:
        """One of the days that are possible as far as anybody knows."""
        belief = self.belief
        drawn = 2.0 * chance.gammavariate(belief.spread_weight / 2.0, 1.0)
        spread = belief.spread * sqrt(belief.spread_weight / max(drawn, 1e-9))
        return DaySizes(belief.middle + chance.gauss(0.0, 1.0) * spread / sqrt(belief.middle_weight), spread)

    def draw(self, day: DaySizes, chance: Random) -> tuple[float, int | None]:
        """The size of one run on that day, and which of those that were seen it resembles, None if there is none."""
        shape, above = self.shape, chance.gauss(0.0, 1.0)
        if not shape:
            return exp(min(day.middle + day.spread * above, LARGEST_LOG)), None
        like = int(chance.random() * len(shape))
        return exp(min(day.middle + day.spread * (shape[like] + self.smooth * above), LARGEST_LOG)), like


def learn_sizes(sizes: Sequence[float], before: Belief) -> Sizes:
    """`sizes` are above 0."""
    logs = [log(size) for size in sizes]
    if not logs:
        return Sizes(before, ())
    mean = fmean(logs)
    spread = sqrt(sum((value - mean) ** 2 for value in logs) / len(logs))
    smooth = min(1.0, len(logs) ** -0.2)
    kept = sqrt(1.0 - smooth * smooth)
    shape = tuple(kept * (value - mean) / spread if spread > LEAST_SPREAD else 0.0 for value in logs)
    return Sizes(before.after(logs), shape, smooth)


def quantile(ordered: Sequence[float], share: float) -> float:
    """Between the two nearest values. Raises ValueError where there is none."""
    if not ordered:
        raise ValueError("there is no quantile of nothing")
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)
