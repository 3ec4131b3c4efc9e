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

    def size(self, above: float) -> float:
        """Of a run that is so many spreads above the middle."""
        return exp(min(self.middle + self.spread * above, LARGEST_LOG))


@dataclass(frozen=True, slots=True)
class Seen:
    """The logarithms of the sizes of `count` runs of the same sort."""

    count: int
    middle: float
    spread: float


@dataclass(frozen=True, slots=True)
class Sizes:
    """What is believed of runs to come, and those that were `seen`, None if none was. The places of these among each
    other are drawn in towards their middle, and as much chance is added: the fewer there are, the less they say."""

    belief: Belief
    seen: Seen | None = None

    @property
    def smooth(self) -> float:
        """The share of a place that is chance, as a standard deviation."""
        return 1.0 if self.seen is None else min(1.0, self.seen.count**-0.2)

    def place(self, size: float) -> float:
        """Of a run that was seen, in spreads above the middle; 0 where that says nothing."""
        if self.seen is None or size <= 0 or self.seen.spread <= LEAST_SPREAD:
            return 0.0
        return sqrt(1.0 - self.smooth**2) * (log(size) - self.seen.middle) / self.seen.spread

    def draw_day(self, chance: Random) -> DaySizes:
        """One of the days that are possible as far as anybody knows."""
        belief = self.belief
        drawn = 2.0 * chance.gammavariate(belief.spread_weight / 2.0, 1.0)
        spread = belief.spread * sqrt(belief.spread_weight / max(drawn, 1e-9))
        return DaySizes(belief.middle + chance.gauss(0.0, 1.0) * spread * self._doubt, spread)

    @property
    def _doubt(self) -> float:
        """How unsure the middle is, in spreads. A part of that is in the shape: see `Urn`."""
        in_shape = 0.0 if self.seen is None else (1.0 - self.smooth**2) / self.seen.count
        return sqrt(max(0.0, 1.0 / self.belief.middle_weight - in_shape))


class Urn:
    """The runs that were seen, as they are drawn for one day: each one drawn goes back with another like it. So days
    differ in their shape as much as is open after so few runs (the Bayesian bootstrap, as Polya's urn)."""

    __slots__ = ("_drawn", "_seen")

    def __init__(self, seen: int) -> None:
        self._seen = seen
        self._drawn: list[int] = []

    def draw(self, chance: Random) -> int:
        at = int(chance.random() * (self._seen + len(self._drawn)))
        number = at if at < self._seen else self._drawn[at - self._seen]
        self._drawn.append(number)
        return number


def learn_sizes(sizes: Sequence[float], before: Belief) -> Sizes:
    """`sizes` are above 0."""
    logs = [log(size) for size in sizes]
    if not logs:
        return Sizes(before)
    mean = fmean(logs)
    spread = sqrt(sum((value - mean) ** 2 for value in logs) / len(logs))
    return Sizes(before.after(logs), Seen(len(logs), mean, spread))


def quantile(ordered: Sequence[float], share: float) -> float:
    """Between the two nearest values. Raises ValueError where there is none."""
    if not ordered:
        raise ValueError("there is no quantile of nothing")
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)
