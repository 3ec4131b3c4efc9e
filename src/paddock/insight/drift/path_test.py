"""Whether the paths of a batch differ, by three views of them: how far its directly-follows edges diverge in all
(Jensen and Shannon's), how far they are apart run by run, and what runs do at all (`habits.py`).

Each sees changes that the others hardly see, so what counts is how improbable they are together (Fisher's sum of
logarithms, whose chance is that of the same swapped labels). Edges are taken of two levels of symbols, what is done and
what it is done to, since a change of either is a change.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paddock.insight.drift.constants import DIVERGENCE_COUNTS
from paddock.insight.drift.habits import Deviations, HabitTable, deviate
from paddock.insight.drift.scores import Flags, Floats, Ints
from paddock.insight.drift.strata import Unit
from paddock.insight.drift.units import DRAWS_AT_ONCE, Units, Weights, weigh
from paddock.insight.paths import FAILED_SUFFIX, Symbols
from paddock.insight.phases import phase_of

START, END = -1, -2
Edge = tuple[int, int]
"""Two codes of symbols, or START or END."""


@dataclass(frozen=True, slots=True)
class EdgeTable:
    """A row for each unit, which sums to 1; a column for each of the edges that weigh most, and a last one for the
    others where there are others."""

    edges: tuple[Edge, ...]
    shares: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class PathResult:
    """In bits; `batch` and `baseline` are the shares of edges. `beyond_chance` is the divergence without what swapped
    labels give on average."""

    divergence: float
    beyond_chance: float
    p: float
    batch: Floats
    baseline: Floats
    habits: Deviations


def tabulate_edges(units: Sequence[Unit], most: int, coarser: Ints | None = None) -> EdgeTable:
    """`coarser` says by its code as which other each symbol counts; immediate repeats are told once."""
    paths = [(number, run.path) for number, unit in enumerate(units) for run in unit.runs]
    unit_of_run = np.array([number for number, _ in paths], dtype=np.int64)
    flat = np.concatenate([np.array((START, *path, END), dtype=np.int64) for _, path in paths])
    run_of = np.repeat(np.arange(len(paths)), [len(path) + 2 for _, path in paths])
    if coarser is not None:
        flat = np.where(flat >= 0, coarser[flat], flat)
        told = np.concatenate(([True], (flat[1:] != flat[:-1]) | (run_of[1:] != run_of[:-1])))
        flat, run_of = flat[told], run_of[told]
    lengths = np.bincount(run_of) - 1
    weights = (1.0 / lengths / np.bincount(unit_of_run)[unit_of_run])[run_of[:-1]]
    is_edge = run_of[1:] == run_of[:-1]
    base = int(flat.max()) + 3
    codes = ((flat[:-1] + 2) * base + flat[1:] + 2)[is_edge]
    return _table(codes, unit_of_run[run_of[:-1]][is_edge], weights[is_edge], (len(units), base, most))


def _table(codes: Ints, rows: Ints, weights: Floats, sizes: tuple[int, int, int]) -> EdgeTable:
    """`sizes` are the number of units, the base of the codes, and the most edges that have a column of their own."""
    units, base, most = sizes
    found, columns = np.unique(codes, return_inverse=True)
    totals = np.bincount(columns, weights=weights)
    heaviest = np.sort(np.argsort(-totals, kind="stable")[:most])
    column_of = np.full(len(found), len(heaviest))
    column_of[heaviest] = np.arange(len(heaviest))
    width = len(heaviest) + (len(found) > len(heaviest))
    shares = np.bincount(rows * width + column_of[columns], weights=weights, minlength=units * width)
    edges = tuple((int(code) // base - 2, int(code) % base - 2) for code in found[heaviest])
    return EdgeTable(edges, shares.reshape(units, width).astype(np.float32))


def phase_codes(symbols: Symbols) -> Ints:
    """Of each symbol the code of its phase, failed or not: what is done, whatever to."""
    numbers: dict[str, int] = {}
    plain = (_without_target(symbols.text(code)) for code in range(len(symbols)))
    return np.array([numbers.setdefault(text, len(numbers)) for text in plain], dtype=np.int64)


def _without_target(symbol: str) -> str:
    return phase_of(symbol.removesuffix(FAILED_SUFFIX)) + (FAILED_SUFFIX if symbol.endswith(FAILED_SUFFIX) else "")


def compare_paths(units: Units, tables: Sequence[EdgeTable], habits: HabitTable, labels: Flags) -> PathResult:
    """Under `labels` of which the first row are those that were seen. The mean divergence of all tables is judged, and
    the first is told. `p` is one-sided: no paths can be more alike than chance makes them."""
    weights = weigh(units.strata, units.is_batch)
    divergences, distances = _differences(tables, weights, labels)
    deviations = deviate(units, habits, labels)
    views = (_as_far(divergences) ** DIVERGENCE_COUNTS, _as_far(distances), _as_far(deviations.largest))
    improbable = -np.log(np.prod(views, axis=0))
    seen = float(divergences[0])
    batch, baseline = (
        _mixture(tables[0], weights.batch * units.is_batch),
        _mixture(tables[0], weights.baseline * ~units.is_batch),
    )
    beyond = max(0.0, seen - float(divergences[1:].mean()))
    return PathResult(seen, beyond, float(_as_far(improbable)[0]), batch, baseline, deviations)


def _as_far(found: Floats) -> Floats:
    """The share of all that are at least as large as each; what differs by rounding is equal."""
    rounding = 1e-5 * max(1e-12, float(found.max()))
    return np.asarray(1 - np.searchsorted(np.sort(found), found - rounding) / len(found), dtype=np.float64)


def _differences(tables: Sequence[EdgeTable], weights: Weights, labels: Flags) -> tuple[Floats, Floats]:
    """Under each row of labels: how far the mixtures of both sides diverge, and how far apart the means of their roots
    are. In roots it counts in how many runs an edge is, rather than how much of a few. A table's distances count in
    units of their mean."""
    roots = [np.sqrt(table.shares) for table in tables]
    divergences, distances = np.zeros(len(labels)), np.zeros((len(tables), len(labels)))
    for first in range(0, len(labels), DRAWS_AT_ONCE):
        some = labels[first : first + DRAWS_AT_ONCE]
        rows = slice(first, first + len(some))
        batch, baseline = (some * weights.batch).astype(np.float32), (~some * weights.baseline).astype(np.float32)
        for number, table in enumerate(tables):
            divergences[rows] += divergence(batch @ table.shares, baseline @ table.shares) / len(tables)
            distances[number, rows] = (((batch - baseline) @ roots[number]) ** 2).sum(axis=1)
    return divergences, (distances / np.maximum(1e-12, distances.mean(axis=1, keepdims=True))).sum(axis=0)


def divergence(first: NDArray[np.floating], second: NDArray[np.floating]) -> Floats:
    """Jensen and Shannon's of each row, in bits."""
    middle = (first + second) / 2
    return np.asarray((_entropy(middle) - (_entropy(first) + _entropy(second)) / 2), dtype=np.float64)


def edge_parts(batch: Floats, baseline: Floats) -> Floats:
    """What each edge adds to the divergence."""
    middle = (batch + baseline) / 2
    return (_bits(batch) + _bits(baseline)) / 2 - _bits(middle)


def _entropy(shares: NDArray[np.floating]) -> NDArray[np.floating]:
    return -np.asarray(_bits(shares).sum(axis=-1))


def _bits(shares: NDArray[np.floating]) -> NDArray[np.floating]:
    return np.asarray(shares * np.log2(np.maximum(shares, 1e-30)))


def _mixture(table: EdgeTable, weights: Floats) -> Floats:
    return np.asarray(weights.astype(np.float32) @ table.shares, dtype=np.float64)
