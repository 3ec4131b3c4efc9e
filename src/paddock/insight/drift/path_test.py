"""Whether the paths of a batch differ: the Jensen-Shannon divergence of its directly-follows edges."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paddock.insight.drift.scores import Floats
from paddock.insight.drift.strata import Unit
from paddock.insight.drift.units import Units, swapped_labels, weigh

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
    """In bits. `beyond_chance` is the divergence without what swapped labels give on average."""

    divergence: float
    beyond_chance: float
    p: float
    batch: Floats
    baseline: Floats


def tabulate_edges(units: Sequence[Unit], most: int) -> EdgeTable:
    paths = [(number, run.path) for number, unit in enumerate(units) for run in unit.runs]
    lengths = np.array([len(path) + 1 for _, path in paths], dtype=np.int64)
    runs_of_unit = np.bincount([number for number, _ in paths], minlength=len(units))
    flat = np.concatenate([np.array((START, *path, END), dtype=np.int64) for _, path in paths]) + 2
    base = int(flat.max()) + 1
    is_last = np.zeros(len(flat), dtype=np.bool_)
    is_last[np.cumsum(lengths + 1) - 1] = True
    codes = (flat[:-1] * base + flat[1:])[~is_last[:-1]]
    rows = np.repeat(np.array([number for number, _ in paths], dtype=np.int64), lengths)
    weights = np.repeat(1.0 / lengths, lengths) / runs_of_unit[rows]
    found, columns = np.unique(codes, return_inverse=True)
    totals = np.bincount(columns, weights=weights)
    heaviest = np.sort(np.argsort(-totals, kind="stable")[:most])
    column_of = np.full(len(found), len(heaviest))
    column_of[heaviest] = np.arange(len(heaviest))
    width = len(heaviest) + (len(found) > len(heaviest))
    shares = np.bincount(rows * width + column_of[columns], weights=weights, minlength=len(units) * width)
    edges = tuple((int(code) // base - 2, int(code) % base - 2) for code in found[heaviest])
    return EdgeTable(edges, shares.reshape(len(units), width).astype(np.float32))


def compare_paths(units: Units, table: EdgeTable, draws: int, seed: int) -> PathResult:
    """`p` is one-sided: no paths can be more alike than chance makes them."""
    weights = weigh(units.strata, units.is_batch)
    batch = _mixture(table, weights.batch * units.is_batch)
    baseline = _mixture(table, weights.baseline * ~units.is_batch)
    seen = float(divergence(batch[None, :], baseline[None, :])[0])
    by_chance = np.concatenate(
        [
            divergence(
                (labels * weights.batch).astype(np.float32) @ table.shares,
                (~labels * weights.baseline).astype(np.float32) @ table.shares,
            )
            for labels in swapped_labels(units.strata, units.is_batch, draws, seed)
        ]
    )
    as_far = int((by_chance >= seen - 1e-6).sum())
    beyond = max(0.0, seen - float(by_chance.mean()))
    return PathResult(seen, beyond, (1 + as_far) / (1 + draws), batch, baseline)


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
