"""The verdicts on the fleet's own last batches."""

from collections.abc import Sequence

from paddock.core.errors import PaddockError, words_of
from paddock.insight.drift.batches import before, divide_batches
from paddock.insight.drift.judge import judge_drift
from paddock.insight.drift.report import SelfTest
from paddock.insight.paths import Symbols
from paddock.insight.report.findings import DriftPart, JudgedBatch
from paddock.insight.trace import KeptTrace

MOST_BATCHES = 6
MOST_NAMES = 50


def judge_last(runs: Sequence[KeptTrace], symbols: Symbols, now: float, since: float) -> DriftPart:
    """Of the batches that ended since then. `runs` are all attempts, for those before them are what they are compared
    with."""
    batches = divide_batches(runs, now)
    recent = [place for place, batch in enumerate(batches) if batch.is_whole and (batch.ended or now) >= since]
    judged: list[JudgedBatch] = []
    try:
        for place in reversed(recent[-MOST_BATCHES:]):
            batch = batches[place]
            report = judge_drift(batch.runs, before(batches, place), symbols, batch_name=batch.name)
            names = tuple(kept.trace.run for kept in batch.runs[:MOST_NAMES])
            judged.append(JudgedBatch(batch.name, batch.ended, len(batch.runs), names, report))
    except PaddockError as error:
        return DriftPart(problem=words_of(error))
    return DriftPart(tuple(judged), _test_itself(before(batches, recent[-1]), symbols) if recent else None)


def _test_itself(baseline: Sequence[KeptTrace], symbols: Symbols) -> SelfTest | None:
    from paddock.insight.drift.self_test import check_itself

    return check_itself(baseline, symbols)
