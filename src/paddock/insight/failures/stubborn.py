"""Troubles that most attempts at a task meet: as no agent gets over them, they are none of the work's own."""

from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

from paddock.insight.failures.failed import has_failed
from paddock.insight.failures.lines import OUTPUT, STEP, window_of
from paddock.insight.failures.salience import Reader, Work
from paddock.insight.failures.vocabulary import PASSING, FailureCause
from paddock.insight.trace import KeptTrace

FEWEST = 3
RECURS = 0.6
_SURROUNDINGS = PASSING | {FailureCause.DEPENDENCY}

Stubborn: TypeAlias = frozenset[tuple[str, str]]
"""Tasks with the names of the signs."""


def stubborn_troubles(runs: Sequence[KeptTrace], reader: Reader) -> Stubborn:
    attempts = Counter(kept.trace.task for kept in runs)
    met: Counter[tuple[str, str]] = Counter()
    for kept in runs:
        if kept.step_count and kept.trace.task and has_failed(kept):
            met.update((kept.trace.task, name) for name in _met_by(kept, reader))
    return frozenset(
        (task, name) for (task, name), count in met.items() if count >= FEWEST and count >= RECURS * attempts[task]
    )


def _met_by(kept: KeptTrace, reader: Reader) -> set[str]:
    lines = (line for line in window_of(kept) if line.where in (STEP, OUTPUT))
    read = (reader.salient(line, kept.trace.task, Work.NONE) for line in lines)
    return {found.sign.name for found in read if found and found.sign and found.sign.cause in _SURROUNDINGS}
