"""All tests of one comparison, corrected for being many."""

import math
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace

from paddock.insight.drift.behaviour import Measure, rate_measures, size_measures, success_of
from paddock.insight.drift.constants import (
    ALPHA,
    DRAWS,
    FEWEST_KNOWN_PAIRS,
    JSD_FLOOR,
    MOST_EDGES,
    RATE_FLOOR,
    RATIO_FLOOR,
)
from paddock.insight.drift.corrections import corrected
from paddock.insight.drift.path_test import EdgeTable, PathResult, compare_paths, tabulate_edges
from paddock.insight.drift.report import DriftTest
from paddock.insight.drift.scores import Scored, compare_rates, compare_sizes, known_units, risk_difference
from paddock.insight.drift.units import Units
from paddock.insight.paths import Symbols

PATH = "path"
OUTCOME = "outcome"


@dataclass(frozen=True, slots=True)
class PathFindings:
    """What the path test was computed from, for whoever explains it."""

    units: Units
    table: EdgeTable
    result: PathResult


@dataclass(frozen=True, slots=True)
class Findings:
    tests: tuple[DriftTest, ...]
    path: PathFindings | None


def run_tests(units: Units, symbols: Symbols, *, tells_steps: bool, draws: int = DRAWS, seed: int = 0) -> Findings:
    path = _path(units, draws, seed) if tells_steps else None
    found = [_of_path(path)] if path is not None else []
    rates = (Measure(OUTCOME, success_of), *rate_measures(symbols))
    found += [test for measure in rates if (test := _of_rate(units, measure)) is not None]
    found += [test for measure in size_measures() if (test := _of_size(units, measure)) is not None]
    return Findings(_judged(found), path)


@dataclass(frozen=True, slots=True)
class _Uncorrected:
    test: DriftTest
    counts: bool


def _judged(found: list[_Uncorrected]) -> tuple[DriftTest, ...]:
    """What decides nothing, or what no labels could make significant, costs the others no power."""
    counting = [one.test for one in found if one.counts]
    qs = dict(zip((test.name for test in counting), corrected([test.p for test in counting]), strict=True))
    return tuple(_with_q(one.test, qs.get(one.test.name, one.test.p)) for one in found)


def _with_q(test: DriftTest, q: float) -> DriftTest:
    # A floor is met with what rounding leaves of it.
    return replace(test, q=q, significant=q <= ALPHA and abs(test.effect) >= test.floor - 1e-9)


def _path(units: Units, draws: int, seed: int) -> PathFindings | None:
    told = np.array([any(run.step_count for run in unit.runs) for unit in units.units], dtype=np.bool_)
    units = units.select(told)
    if _pairs(units) < FEWEST_KNOWN_PAIRS:
        return None
    table = tabulate_edges(units.units, MOST_EDGES)
    return PathFindings(units, table, compare_paths(units, table, draws, seed))


def _of_path(path: PathFindings) -> _Uncorrected:
    result, pairs = path.result, _pairs(path.units)
    test = _test(PATH, result.divergence, result.p, result.beyond_chance, JSD_FLOOR, pairs)
    return _Uncorrected(test, counts=True)


def _of_rate(units: Units, measure: Measure) -> _Uncorrected | None:
    scored = _scored(units, measure)
    if scored is None:
        return None
    score = compare_rates(scored)
    batch, baseline = (_mean(scored, side) for side in (True, False))
    test = _test(measure.name, score.z, score.p, risk_difference(scored), RATE_FLOOR, scored.pairs)
    decides = not measure.is_of_surroundings
    test = replace(test, batch=batch, baseline=baseline, decides=decides)
    return _Uncorrected(test, counts=decides and score.least_p <= ALPHA)


def _of_size(units: Units, measure: Measure) -> _Uncorrected | None:
    scored = _scored(units, measure)
    if scored is None:
        return None
    score = compare_sizes(scored)
    batch, baseline = (math.exp(_mean(scored, side)) for side in (True, False))
    effect = risk_difference(scored)
    test = _test(measure.name, score.z, score.p, effect, math.log(RATIO_FLOOR), scored.pairs)
    decides = not measure.is_of_surroundings
    test = replace(test, batch=batch, baseline=baseline, decides=decides)
    return _Uncorrected(test, counts=decides and score.least_p <= ALPHA)


def _scored(units: Units, measure: Measure) -> Scored | None:
    """None where too few tell it, or all tell the same."""
    scored = known_units(units.strata, units.is_batch, units.values(measure.value))
    if scored.pairs < FEWEST_KNOWN_PAIRS or float(np.ptp(scored.values)) == 0:
        return None
    return scored


def _test(name: str, statistic: float, p: float, effect: float, floor: float, pairs: int) -> DriftTest:
    return DriftTest(name, statistic, p, 1.0, effect, significant=False, floor=floor, pairs=pairs)


def _mean(scored: Scored, side: bool) -> float:
    """With all strata weighted alike on both sides."""
    of_batch, of_baseline = scored.of_batch, scored.of_baseline
    here = scored.is_batch if side else ~scored.is_batch
    means = np.bincount(scored.strata, weights=scored.values * here) / (of_batch if side else of_baseline)
    weights = of_batch * of_baseline / (of_batch + of_baseline)
    return float((means * weights).sum() / weights.sum())


def _pairs(units: Units) -> int:
    if not len(units.strata):
        return 0
    of_batch = np.bincount(units.strata, weights=units.is_batch)
    return int(np.minimum(of_batch, np.bincount(units.strata) - of_batch).sum())
