"""Where paths differ: the edges that add most, and a typical run beside the oddest."""

from collections.abc import Iterator

import numpy as np

from paddock.insight.drift.habits import Deviations
from paddock.insight.drift.path_test import END, START, Edge, divergence, edge_parts
from paddock.insight.drift.report import EdgeShift, Explanation, HabitShift, TypicalRun
from paddock.insight.drift.tests import PathFindings
from paddock.insight.paths import Symbols
from paddock.insight.trace import KeptTrace

TOP_EDGES = 5
TOP_HABITS = 5


def explain(found: PathFindings, symbols: Symbols) -> Explanation:
    result, table, units = found.result, found.table, found.units
    parts = edge_parts(result.batch, result.baseline)[: len(table.edges)]
    top = np.argsort(-parts, kind="stable")[:TOP_EDGES]
    edges = tuple(
        EdgeShift(
            *_names(table.edges[at], symbols),
            batch_share=float(result.batch[at]),
            baseline_share=float(result.baseline[at]),
            bits=float(parts[at]),
        )
        for at in top.tolist()
        if parts[at] > 0
    )
    of_batch = np.flatnonzero(units.is_batch)
    shares = table.shares[of_batch].astype(np.float64)
    from_batch = divergence(shares, np.broadcast_to(result.batch, shares.shape))
    from_baseline = divergence(shares, np.broadcast_to(result.baseline, shares.shape))
    medoid, outlier = int(from_batch.argmin()), int(from_baseline.argmax())
    return Explanation(
        edges,
        tuple(_habits(result.habits)),
        _typical(units.units[of_batch[medoid]].runs[0], float(from_batch[medoid]), symbols),
        _typical(units.units[of_batch[outlier]].runs[0], float(from_baseline[outlier]), symbols),
    )


def _habits(found: Deviations) -> Iterator[HabitShift]:
    """Each activity once: by what of it deviates more."""
    first = {habit.activity: habit for habit in reversed(found.changed)}
    for habit in [habit for habit in found.changed if first[habit.activity] is habit][:TOP_HABITS]:
        of = "steps" if habit.is_of_steps else "runs"
        yield HabitShift(habit.activity, of, habit.batch, habit.baseline)


def _names(edge: Edge, symbols: Symbols) -> tuple[str, str]:
    first, then = ({START: "^", END: "$"}.get(code) or symbols.text(code) for code in edge)
    return first, then


def _typical(run: KeptTrace, distance: float, symbols: Symbols) -> TypicalRun:
    return TypicalRun(run.trace.run, run.key, tuple(symbols.text(code) for code in run.path), distance)
