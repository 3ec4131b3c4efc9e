"""What the tests say together."""

from collections.abc import Sequence

from paddock.insight.drift.constants import FEWEST_PAIRS
from paddock.insight.drift.report import DriftTest, Verdict


def verdict_of(tests: Sequence[DriftTest], pairs: int) -> Verdict:
    if pairs < FEWEST_PAIRS or not tests:
        return Verdict.TOO_LITTLE
    return Verdict.DRIFT if any(test.significant and test.decides for test in tests) else Verdict.NONE
