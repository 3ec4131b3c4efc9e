"""The verdicts on the fleet's batches, made again only when another batch may be whole: they are dear."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from paddock.core.errors import PaddockError, words_of
from paddock.insight.dataset.dataset import Dataset
from paddock.insight.extra import require_numpy
from paddock.insight.fleet_batches import latest_in_batches
from paddock.insight.paths import Symbols
from paddock.insight.trace import KeptTrace

if TYPE_CHECKING:
    from paddock.insight.drift.report import BatchVerdict

AGAIN_SECONDS = 600.0
"""At least between two judgements, however many runs end."""
LATELY_SECONDS = 30 * 86_400.0
"""A batch that is older than this is no news."""
WORTH = 100.0
"""So many times as long as a judgement took there is none again."""


SURELY = 0.01
"""Two batches in a row that each look different are compared once more, as one: chance rarely goes the same way
twice. Without that a fleet with 250 attempts a day had an alert for nothing every other month (simulated)."""


class BatchVerdicts:
    """`verdicts` is None where nobody can judge: `why_none` says why. `sure` are the tests in which the last ones
    differ as one, too."""

    def __init__(self) -> None:
        self.verdicts: Sequence[BatchVerdict] | None = ()
        self.sure: frozenset[str] = frozenset()
        self.why_none = ""
        self._judged_at: float | None = None
        self._taken = 0
        self._pause = AGAIN_SECONDS

    def judge(self, dataset: Dataset, taken: int, now: float) -> None:
        """`taken` is how many ended runs have been seen so far."""
        if not self._is_due(taken, now):
            return
        try:
            require_numpy("this")
        except PaddockError as problem:
            self.verdicts, self.why_none = None, words_of(problem)
            self._judged_at, self._taken = now, taken
            return
        from paddock.insight.drift.batches import judge_batches

        begun = time.thread_time()
        runs = latest_in_batches(dataset)
        verdicts = judge_batches(runs, dataset.symbols, now)
        self.verdicts = tuple(one for one in verdicts if now - (one.ended or now) < LATELY_SECONDS)
        self.sure = _judge_as_one(runs, dataset.symbols, now, self.verdicts)
        self._judged_at, self._taken = now, taken
        self._pause = max(AGAIN_SECONDS, WORTH * (time.thread_time() - begun))

    def _is_due(self, taken: int, now: float) -> bool:
        from paddock.insight.drift.constants import BATCH_RUNS, DAY_SECONDS

        if self._judged_at is None:
            return taken > 0
        waited = now - self._judged_at
        if taken - self._taken >= BATCH_RUNS:
            return not 0.0 <= waited < self._pause
        return taken > self._taken and not 0.0 <= waited < DAY_SECONDS


def _judge_as_one(
    runs: Sequence[KeptTrace], symbols: Symbols, now: float, verdicts: "Sequence[BatchVerdict]"
) -> frozenset[str]:
    from paddock.insight.drift.batches import before, divide_batches
    from paddock.insight.drift.judge import judge_drift
    from paddock.insight.drift.report import Verdict

    if not verdicts or any(one.verdict is not Verdict.DRIFT for one in verdicts):
        return frozenset()
    batches = divide_batches(runs, now)
    whole = [number for number, batch in enumerate(batches) if batch.is_whole][-len(verdicts) :]
    together = [run for number in whole for run in batches[number].runs]
    report = judge_drift(together, before(batches, whole[0]), symbols)
    return frozenset(test.name for test in report.significant if test.q <= SURELY)
