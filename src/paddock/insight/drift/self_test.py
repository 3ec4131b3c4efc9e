"""The test put to the test: the baseline is divided at random again and again, so that every drift is a false alarm."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from paddock.insight.drift.comparison import compare
from paddock.insight.drift.constants import (
    ALPHA,
    FEWEST_PAIRS,
    SELF_TEST_DRAWS,
    SELF_TEST_RUNS,
    SELF_TEST_SPLITS,
)
from paddock.insight.drift.report import SelfTest, Verdict
from paddock.insight.drift.strata import place_of
from paddock.insight.drift.tests import run_tests
from paddock.insight.drift.units import units_of
from paddock.insight.drift.verdict import verdict_of
from paddock.insight.paths import Symbols
from paddock.insight.trace import KeptTrace


def check_itself(
    baseline: Iterable[KeptTrace], symbols: Symbols, *, splits: int = SELF_TEST_SPLITS, seed: int = 0
) -> SelfTest | None:
    """None where there are too few runs to divide."""
    draw = np.random.default_rng(seed)
    tasks = _some_tasks(sorted(baseline, key=place_of), draw)
    alarms, pairs = 0, 0
    for number in range(splits):
        compared = compare(*_divide(tasks, draw))
        if compared.matching.pairs < FEWEST_PAIRS:
            return None
        pairs = compared.matching.pairs
        units = units_of(compared.matching, SELF_TEST_RUNS, number)
        found = run_tests(units, symbols, tells_steps=compared.tells_steps, draws=SELF_TEST_DRAWS, seed=number)
        alarms += verdict_of(found.tests, pairs) is Verdict.DRIFT
    low, high = binomial_limits(splits, ALPHA)
    rate = alarms / splits
    return SelfTest(splits, alarms, rate, low / splits, high / splits, ALPHA, pairs, is_sound=alarms <= high)


def _some_tasks(runs: Sequence[KeptTrace], draw: np.random.Generator) -> list[list[KeptTrace]]:
    """All runs of a task, as long as there is room."""
    tasks: dict[str, list[KeptTrace]] = defaultdict(list)
    for run in runs:
        tasks[run.trace.task].append(run)
    ordered = list(tasks.values())
    chosen: list[list[KeptTrace]] = []
    room = SELF_TEST_RUNS
    for number in draw.permutation(len(ordered)).tolist():
        of_task = ordered[number]
        chosen.append([of_task[at] for at in draw.permutation(len(of_task))[:room].tolist()])
        room -= len(chosen[-1])
        if room <= 0:
            break
    return chosen


def _divide(tasks: Sequence[Sequence[KeptTrace]], draw: np.random.Generator) -> tuple[list[KeptTrace], list[KeptTrace]]:
    """Half of each task's runs, and half of all."""
    halves: tuple[list[KeptTrace], list[KeptTrace]] = ([], [])
    side = 0
    for number in draw.permutation(len(tasks)).tolist():
        of_task = tasks[number]
        for at in draw.permutation(len(of_task)).tolist():
            halves[side].append(of_task[at])
            side = 1 - side
    return halves


def binomial_limits(trials: int, rate: float) -> tuple[int, int]:
    """Between which the number of alarms lies in 95 of 100 cases."""
    ways = [math.comb(trials, k) * rate**k * (1 - rate) ** (trials - k) for k in range(trials + 1)]
    sums = np.cumsum(ways)
    return int(np.searchsorted(sums, 0.025)), int(np.searchsorted(sums, 0.975))
