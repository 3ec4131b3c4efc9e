"""Whether the paths of a batch differ: the Jensen-Shannon divergence of its directly-follows edges.

It is taken of two levels of symbols, what is done and what it is done to, since a change of either is a change."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paddock.insight.drift.scores import Flags, Floats, Ints
from paddock.insight.drift.strata import Unit
from paddock.insight.drift.units import DRAWS_AT_ONCE, Units, Weights, swapped_labels, weigh
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


def compare_paths(units: Units, tables: Sequence[EdgeTable], draws: int, seed: int) -> PathResult:
    """By the mean of the divergences that the tables show, of which the first is told. `p` is one-sided: no paths can
    be more alike than chance makes them."""
    weights = weigh(units.strata, units.is_batch)
    labels = np.concatenate((units.is_batch[None, :], *swapped_labels(units.strata, units.is_batch, draws, seed)))
    found = _divergences(tables, weights, labels)
    seen, by_chance = float(found[0]), found[1:]
    as_far = int((by_chance >= seen - 1e-6).sum())
    beyond = max(0.0, seen - float(by_chance.mean()))
    batch, baseline = (
        _mixture(tables[0], weights.batch * units.is_batch),
        _mixture(tables[0], weights.baseline * ~units.is_batch),
    )
    return PathResult(seen, beyond, (1 + as_far) / (1 + draws), batch, baseline)


def _divergences(tables: Sequence[EdgeTable], weights: Weights, labels: Flags) -> Floats:
    parts = []
    for first in range(0, len(labels), DRAWS_AT_ONCE):
        some = labels[first : first + DRAWS_AT_ONCE]
        batch, baseline = (some * weights.batch).astype(np.float32), (~some * weights.baseline).astype(np.float32)
        parts.append(sum(divergence(batch @ table.shares, baseline @ table.shares) for table in tables) / len(tables))
    return np.concatenate(parts)


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
