"""In which order a person might look at the runs of a batch. One run alone proves nothing: the score is no alarm."""

from collections.abc import Iterator

import numpy as np

from paddock.insight.drift.behaviour import Measure, rate_measures, size_measures
from paddock.insight.drift.path_test import divergence
from paddock.insight.drift.report import QueuedRun
from paddock.insight.drift.scores import Floats
from paddock.insight.drift.tests import PathFindings
from paddock.insight.drift.units import Units
from paddock.insight.paths import Symbols

MOST_QUEUED = 20
GOOD = "last edit verified"
FAR = 1.5
"""From so many deviations on it is a reason."""
LEAST_SPREAD = 0.05
"""In bits, or as a logarithm: smaller differences are none, however alike the baseline is."""


def order_queue(units: Units, path: PathFindings | None, symbols: Symbols) -> tuple[QueuedRun, ...]:
    """The oddest first: far from the baseline's paths, dear, or with something omitted."""
    scores = np.zeros(len(units.units))
    reasons: list[list[str]] = [[] for _ in units.units]
    for words, deviations in _deviations(units, path):
        scores += np.maximum(0.0, deviations)
        for at in np.flatnonzero(deviations >= FAR):
            reasons[at].append(words)
    for measure in rate_measures(symbols):
        odd = _flags(units, measure)
        usual = float(odd[~units.is_batch].mean())
        scores += (1 - usual) * odd
        if usual > 0.5:
            continue
        words = "last edit not verified" if measure.name == GOOD else measure.name
        for at in np.flatnonzero(odd):
            reasons[at].append(words)
    order = np.argsort(-np.where(units.is_batch, scores, -1.0), kind="stable")
    chosen = [int(at) for at in order[:MOST_QUEUED] if units.is_batch[at] and scores[at] > 0]
    return tuple(
        QueuedRun(run.trace.run, run.key, run.trace.task, round(float(scores[at]), 2), tuple(reasons[at]))
        for at in chosen
        for run in units.units[at].runs[:1]
    )


def _deviations(units: Units, path: PathFindings | None) -> Iterator[tuple[str, Floats]]:
    if path is not None:
        place = {id(unit): at for at, unit in enumerate(units.units)}
        distances = np.full(len(units.units), np.nan)
        distances[[place[id(unit)] for unit in path.units.units]] = _distances(path)
        yield "unusual path", _standardised(units, distances)
    for measure in size_measures():
        if measure.name in ("tokens", "steps"):
            yield f"many {measure.name}", _standardised(units, units.values(measure.value))


def _distances(path: PathFindings) -> Floats:
    """Of each unit from the baseline of its stratum without itself; from the whole baseline if it is alone there."""
    shares = path.table.shares.astype(np.float64)
    strata, is_batch = path.units.strata, path.units.is_batch
    count = int(strata.max()) + 1
    of_baseline = np.bincount(strata[~is_batch], minlength=count)
    sums = np.zeros((count, shares.shape[1]))
    np.add.at(sums, strata[~is_batch], shares[~is_batch])
    others = of_baseline[strata] - ~is_batch
    cohort = (sums[strata] - shares * ~is_batch[:, None]) / np.maximum(1, others)[:, None]
    cohort[others == 0] = path.result.baseline
    return divergence(shares, cohort)


def _standardised(units: Units, values: Floats) -> Floats:
    """From the baseline's middle, in the baseline's spread; 0 where nothing is known."""
    known = values[~units.is_batch & ~np.isnan(values)]
    if len(known) < 2:
        return np.zeros(len(values))
    middle = float(np.median(known))
    spread = max(LEAST_SPREAD, 1.4826 * float(np.median(np.abs(known - middle))))
    return np.clip(np.nan_to_num((values - middle) / spread), -5.0, 5.0)


def _flags(units: Units, measure: Measure) -> Floats:
    values = units.values(measure.value)
    odd = values < 0.5 if measure.name == GOOD else values > 0.5
    return np.asarray(odd & ~np.isnan(values), dtype=np.float64)
