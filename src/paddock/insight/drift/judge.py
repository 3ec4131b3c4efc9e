"""Whether a batch behaves differently from its baseline."""

from collections.abc import Iterable, Sequence

from paddock.insight.drift.comparison import Comparison, compare
from paddock.insight.drift.constants import FEWEST_PAIRS, MOST_UNITS, ODD_SHARE, RELIABLE_PAIRS
from paddock.insight.drift.hard_rules import find_hard_cases
from paddock.insight.drift.report import DriftReport, DriftTest, Verdict
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
    from paddock.insight.drift.tests import Findings, run_tests
    from paddock.insight.drift.units import units_of

    batch, baseline = tuple(batch), tuple(baseline)
    compared = compare(batch, baseline)
    matching = compared.matching
    found = Findings((), None)
    if matching.pairs >= FEWEST_PAIRS:
        units = units_of(matching, MOST_UNITS, seed)
        found = run_tests(units, symbols, tells_steps=compared.tells_steps, seed=seed)
    verdict = verdict_of(found.tests, matching.pairs)
    report = DriftReport(
        verdict=verdict,
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
        warnings=_warnings(compared),
    )
    if found.path is None:
        return report
    from msgspec.structs import replace

    return replace(report, explanation=explain(found.path, symbols))


def verdict_of(tests: Sequence[DriftTest], pairs: int) -> Verdict:
    if pairs < FEWEST_PAIRS or not tests:
        return Verdict.TOO_LITTLE
    return Verdict.DRIFT if any(test.significant and test.decides for test in tests) else Verdict.NONE


def _warnings(compared: Comparison) -> tuple[str, ...]:
    return tuple(_told(compared))


def _told(compared: Comparison) -> Iterable[str]:
    for name, reasons in zip(("batch", "baseline"), compared.left_out, strict=True):
        for reason, count in sorted(reasons.items()):
            yield f"{count} {'run' if count == 1 else 'runs'} of the {name} {reason} and are not compared"
    pairs = compared.matching.pairs
    if FEWEST_PAIRS <= pairs < RELIABLE_PAIRS:
        yield f"{pairs} pairs are few: from {RELIABLE_PAIRS} on a change of model is hardly missed"
    steps = sum(run.step_count for run in (*compared.batch, *compared.baseline))
    odd = sum(run.odd_steps for run in (*compared.batch, *compared.baseline))
    if steps and odd / steps > ODD_SHARE:
        yield f"{odd / steps:.0%} of all steps are of no known sort: paths tell less than they could"
