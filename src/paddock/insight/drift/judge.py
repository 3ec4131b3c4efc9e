"""Whether a batch behaves differently from its baseline."""

from collections.abc import Iterable, Sequence

from paddock.insight.drift.comparison import Comparison, compare
from paddock.insight.drift.constants import FEWEST_PAIRS, MOST_UNITS, ODD_SHARE, RELIABLE_PAIRS
from paddock.insight.drift.hard_rules import find_hard_cases
from paddock.insight.drift.report import DriftReport, DriftTest, Explanation, QueuedRun
from paddock.insight.drift.verdict import verdict_of
from paddock.insight.extra import require_numpy
from paddock.insight.paths import Symbols
from paddock.insight.trace import KeptTrace


def judge_drift(
    batch: Iterable[KeptTrace],
    baseline: Iterable[KeptTrace],
    symbols: Symbols,
    *,
    batch_name: str = "",
    baseline_name: str = "",
    seed: int = 0,
) -> DriftReport:
    """The same for the same runs in any order. Raises PaddockError where numpy is missing."""
    require_numpy("a verdict on drift")
    from paddock.insight.drift.explanation import explain
    from paddock.insight.drift.review_queue import order_queue
    from paddock.insight.drift.tests import Findings, run_tests
    from paddock.insight.drift.troubles import find_troubled
    from paddock.insight.drift.units import units_of

    batch, baseline = tuple(batch), tuple(baseline)
    compared = compare(batch, baseline, find_troubled((*batch, *baseline)))
    matching = compared.matching
    found, queue = Findings((), None), tuple[QueuedRun, ...]()
    if matching.pairs >= FEWEST_PAIRS:
        units = units_of(matching, MOST_UNITS, seed)
        found = run_tests(units, symbols, tells_steps=compared.tells_steps, seed=seed)
        queue = order_queue(units, found.path, symbols)
    return DriftReport(
        verdict=verdict_of(found.tests, matching.pairs),
        pairs=matching.pairs,
        tests=found.tests,
        batch=batch_name,
        baseline=baseline_name,
        batch_runs=len(batch),
        baseline_runs=len(baseline),
        tasks=matching.tasks,
        unmatched=matching.unmatched,
        missing_pairs=max(0, FEWEST_PAIRS - matching.pairs),
        matched_by=matching.words,
        hard_cases=find_hard_cases(batch),
        review_queue=queue,
        warnings=tuple(_warnings(compared, found.tests)),
        explanation=explain(found.path, symbols) if found.path is not None else Explanation(),
    )


def _warnings(compared: Comparison, tests: Sequence[DriftTest]) -> Iterable[str]:
    for name, reasons in zip(("batch", "baseline"), compared.left_out, strict=True):
        for reason, count in sorted(reasons.items()):
            runs, verb = ("run", "is") if count == 1 else ("runs", "are")
            yield f"{count} {runs} of the {name} {reason} and {verb} not compared"
    pairs = compared.matching.pairs
    if FEWEST_PAIRS <= pairs < RELIABLE_PAIRS:
        yield f"{pairs} pairs are few: from {RELIABLE_PAIRS} on most changes of model are seen"
    if not compared.matching.strata and compared.batch and compared.baseline:
        yield "no task was run on both sides, and no kind of task either: there is nothing to compare with"
    if compared.matching.is_blind:
        yield "runs have neither task nor kind in common: their work may differ more than their agents"
    if any(test.name == "steps" and not test.decides for test in tests):
        yield "many runs were cut off by the clock and the pace of steps differs: how long runs are decides nothing"
    steps = sum(run.step_count for run in (*compared.batch, *compared.baseline))
    odd = sum(run.odd_steps for run in (*compared.batch, *compared.baseline))
    if steps and odd / steps > ODD_SHARE:
        yield f"{odd / steps:.0%} of all steps are of no known sort: paths tell less than they could"
