"""The verdicts on the fleet's batches, made again only when another batch may be whole: they are dear."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from paddock.insight.dataset.dataset import Dataset
from paddock.insight.dataset.headers import FLEET
from paddock.insight.extra import HINT, has_numpy
from paddock.insight.selection import Selection

if TYPE_CHECKING:
    from paddock.insight.drift.report import BatchVerdict

AGAIN_SECONDS = 600.0
"""At least between two judgements, however many runs end."""
ANCHOR_SECONDS = 30 * 86_400.0
"""Batches are counted from the beginning of such a span, so that their boundaries stay where they are."""
MOST_RUNS = 3_000
WORTH = 100.0
"""So many times as long as a judgement took there is none again."""


class BatchVerdicts:
    """`verdicts` is None where nobody can judge: `why_none` says why."""

    def __init__(self) -> None:
        self.verdicts: Sequence[BatchVerdict] | None = ()
        self.why_none = ""
        self._judged_at: float | None = None
        self._taken = 0
        self._pause = AGAIN_SECONDS

    def judge(self, dataset: Dataset, taken: int, now: float) -> None:
        """`taken` is how many ended runs have been seen so far."""
        if not has_numpy():
            self.verdicts, self.why_none = None, f"this needs numpy: {HINT}"
            return
        if not self._is_due(taken, now):
            return
        from paddock.insight.drift.batches import judge_batches

        begun = time.thread_time()
        since = (now // ANCHOR_SECONDS - 1) * ANCHOR_SECONDS
        runs = dataset.runs(Selection(label=FLEET, since=since), limit=MOST_RUNS)
        self.verdicts = judge_batches(runs, dataset.symbols, now)
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
