"""Lines that runs which did well show about as often as those that failed: whatever they say, they are not why."""

from collections import Counter
from collections.abc import Iterable, Sequence

from paddock.insight.failures.failed import has_failed
from paddock.insight.failures.lines import OUTPUT, window_of
from paddock.insight.failures.salience import Reader, Work
from paddock.insight.trace import KeptTrace

MOST_READ = 400
"""Of each sort of runs, evenly over all of them: enough to tell a line that is common."""
AS_OFTEN = 0.5
FEWEST = 3


def everyday_lines(runs: Sequence[KeptTrace], reader: Reader) -> frozenset[str]:
    """Their templates."""
    well = _some([kept for kept in runs if kept.trace.tail and not has_failed(kept)])
    badly = _some([kept for kept in runs if kept.trace.tail and has_failed(kept)])
    if not well or not badly:
        return frozenset()
    fine, failed = _shown(well, reader), _shown(badly, reader)
    return frozenset(
        template
        for template, count in fine.items()
        if count >= FEWEST and count / len(well) >= AS_OFTEN * failed[template] / len(badly)
    )


def _some(runs: Sequence[KeptTrace]) -> Sequence[KeptTrace]:
    return runs[:: -(-len(runs) // MOST_READ)] if runs else runs


def _shown(runs: Iterable[KeptTrace], reader: Reader) -> Counter[str]:
    counts: Counter[str] = Counter()
    for kept in runs:
        read = (reader.salient(line, kept.trace.task, Work.NONE) for line in window_of(kept) if line.where == OUTPUT)
        counts.update({found.template for found in read if found is not None})
    return counts
