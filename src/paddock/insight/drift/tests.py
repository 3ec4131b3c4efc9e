"""All tests of one comparison, corrected for being many."""

import dataclasses
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace

from paddock.insight.drift.behaviour import (
    Measure,
    achievement_of,
    is_cut_off,
    pace_of,
    rate_measures,
    share_measures,
    size_measures,
    success_of,
)
from paddock.insight.drift.constants import (
    ALPHA,
    CUT_OFF_SHARE,
    DRAWS,
    FEWEST_KNOWN_PAIRS,
    JSD_FLOOR,
    MOST_EDGES,
    RATE_FLOOR,
    RATIO_FLOOR,
    SHARE_FLOOR,
    WEIGHTS,
)
from paddock.insight.drift.corrections import can_be_significant, corrected
from paddock.insight.drift.habits import tabulate_habits
from paddock.insight.drift.path_test import EdgeTable, PathResult, compare_paths, phase_codes, tabulate_edges
from paddock.insight.drift.profile_test import can_tell, compare_profiles
from paddock.insight.drift.report import DriftTest
from paddock.insight.drift.scores import (
    Score,
    Scored,
    compare_rates,
    compare_sizes,
    known_units,
    mean_of_side,
    risk_difference,
)
from paddock.insight.drift.units import Units, labels_of
from paddock.insight.paths import Symbols

MOST_NAMED = 3


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
    path = _find_paths(units, symbols, draws, seed) if tells_steps else None
    found = list(_path_tests(path)) if path is not None else []
    found += _outcome_tests(units, draws, seed)
    for measure in rate_measures(symbols):
        found += _score_tests(units, measure, compare_rates, RATE_FLOOR)
    for measure in share_measures(symbols):
        found += _score_tests(units, measure, compare_sizes, SHARE_FLOOR)
    clock_decides = _clock_decides(units)
    for measure in size_measures():
        if clock_decides:
            measure = dataclasses.replace(measure, is_of_surroundings=True)
        found += _score_tests(units, measure, compare_sizes, math.log(RATIO_FLOOR))
    return Findings(_judged(found), path)


@dataclass(frozen=True, slots=True)
class _Uncorrected:
    """`least_p` is the smallest that any labels could give. One that is `part_of` another says more of what that has
    found and has no budget of its own."""

    test: DriftTest
    least_p: float = 0.0
    part_of: str = ""


def _judged(found: list[_Uncorrected]) -> tuple[DriftTest, ...]:
    """What decides nothing keeps its p; what cannot be significant is not counted among the many, and its q is 1."""
    deciding = [one for one in found if one.test.decides and not one.part_of]
    weights = {one.test.name: WEIGHTS.get(one.test.name, 1.0) for one in deciding}
    hopeful = can_be_significant([one.least_p for one in deciding], [*weights.values()], ALPHA)
    counting = [one.test for one, is_hopeful in zip(deciding, hopeful, strict=True) if is_hopeful]
    corrected_ps = corrected([test.p for test in counting], [weights[test.name] for test in counting])
    qs = {one.test.name: 1.0 for one in deciding}
    qs |= {test.name: q for test, q in zip(counting, corrected_ps, strict=True)}
    qs |= {one.test.name: max(one.test.p, qs[one.part_of]) for one in found if one.part_of}
    return tuple(_with_q(one.test, qs.get(one.test.name, one.test.p)) for one in found)


def _with_q(test: DriftTest, q: float) -> DriftTest:
    # A floor is met with what rounding leaves of it.
    return replace(test, q=q, significant=q <= ALPHA and abs(test.effect) >= test.floor - 1e-9)


def _find_paths(units: Units, symbols: Symbols, draws: int, seed: int) -> PathFindings | None:
    told = np.array([any(run.step_count for run in unit.runs) for unit in units.units], dtype=np.bool_)
    units = units.select(told)
    if units.pairs < FEWEST_KNOWN_PAIRS:
        return None
    table = tabulate_edges(units.units, MOST_EDGES)
    by_phase = tabulate_edges(units.units, MOST_EDGES, phase_codes(symbols))
    habits = tabulate_habits(units.units, symbols)
    return PathFindings(units, table, compare_paths(units, (table, by_phase), habits, labels_of(units, draws, seed)))


def _path_tests(path: PathFindings) -> Iterator[_Uncorrected]:
    result, pairs = path.result, path.units.pairs
    yield _Uncorrected(_test("path", result.divergence, result.p, result.beyond_chance, JSD_FLOOR, pairs))
    leading = result.habits.leading
    if leading is None:
        return
    largest, p = float(result.habits.largest[0]), result.habits.habits[0].p
    test = _test("habits", largest, p, leading.effect, leading.floor, pairs)
    named = result.habits.activities[:MOST_NAMED] or (leading.activity,)
    test = replace(test, batch=leading.batch, baseline=leading.baseline, activities=named)
    yield _Uncorrected(test, part_of="path")


def _outcome_tests(units: Units, draws: int, seed: int) -> Iterator[_Uncorrected]:
    yield from _score_tests(units, Measure("outcome", success_of), compare_rates, RATE_FLOOR)
    scored = _scored(units, Measure("outcome by task", achievement_of))
    if scored is None or not can_tell(scored):
        return
    result = compare_profiles(scored, draws, seed)
    test = _test("outcome by task", result.distance, result.p, result.beyond_chance, RATE_FLOOR, scored.pairs)
    yield _Uncorrected(test)


def _score_tests(
    units: Units, measure: Measure, compare: Callable[[Scored], Score], floor: float
) -> Iterator[_Uncorrected]:
    """None where too few tell it, or all tell the same."""
    scored = _scored(units, measure)
    if scored is None:
        return
    score = compare(scored)
    batch, baseline = (mean_of_side(scored, of_batch=side) for side in (True, False))
    if measure.is_logarithm:
        batch, baseline = math.exp(batch), math.exp(baseline)
    test = _test(measure.name, score.z, score.p, risk_difference(scored), floor, scored.pairs)
    decides = not measure.is_of_surroundings
    test = replace(test, batch=batch, baseline=baseline, decides=decides)
    yield _Uncorrected(test, score.least_p)


def _clock_decides(units: Units) -> bool:
    """Where many runs are cut off, a slow host or provider makes them shorter: then their length tells of that."""
    if float(units.values(is_cut_off).mean()) < CUT_OFF_SHARE:
        return False
    scored = _scored(units, Measure("pace", pace_of))
    return scored is not None and compare_sizes(scored).p <= ALPHA


def _scored(units: Units, measure: Measure) -> Scored | None:
    scored = known_units(units.strata, units.is_batch, units.values(measure.value))
    if scored.pairs < FEWEST_KNOWN_PAIRS or float(np.ptp(scored.values)) == 0:
        return None
    return scored


def _test(name: str, statistic: float, p: float, effect: float, floor: float, pairs: int) -> DriftTest:
    return DriftTest(name, statistic, p, 1.0, effect, significant=False, floor=floor, pairs=pairs)
