"""What a report says of failures, of drift and of alerts: the most important of it, and how much is left out."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from paddock.core.alerts.model import Alert, Alerts, by_urgency
from paddock.core.causes.vocabulary import FailureCause
from paddock.insight.drift.report import DriftReport, DriftTest, HardCase, SelfTest, Verdict
from paddock.insight.failures.batch import FailureBatch
from paddock.insight.failures.cluster import Cluster

MOST_CLUSTERS = 8
TIME_BINS = 28
MOST_ALERTS = 12


class CauseCount(msgspec.Struct, frozen=True):
    cause: FailureCause
    runs: int


class FailurePart(msgspec.Struct, frozen=True):
    """`failed` of `runs` attempts, in so many clusters, of which the largest are in `top`; `times` says for each of
    those when its failures were, from the beginning of the time asked about to its end. `cut`: there were more
    attempts, and these are the latest."""

    runs: int
    failed: int
    clusters: int
    cut: bool = False
    causes: tuple[CauseCount, ...] = ()
    top: tuple[Cluster, ...] = ()
    times: tuple[tuple[int, ...], ...] = ()


class JudgedBatch(msgspec.Struct, frozen=True):
    """A batch of the fleet's own attempts, against those that ended before it. `runs` are some of its `count` attempts;
    `report` says what was found."""

    name: str
    ended: float | None
    count: int
    runs: tuple[str, ...]
    report: DriftReport

    @property
    def signs(self) -> tuple[DriftTest, ...]:
        """What the verdict rests on."""
        return tuple(test for test in self.report.significant if test.decides)


class DriftPart(msgspec.Struct, frozen=True):
    """The last whole batches, the newest first. `problem` says why nothing could be judged, empty if it could."""

    batches: tuple[JudgedBatch, ...] = ()
    self_test: SelfTest | None = None
    problem: str = ""

    @property
    def drifted(self) -> tuple[JudgedBatch, ...]:
        return tuple(one for one in self.batches if one.report.verdict is Verdict.DRIFT)

    @property
    def hard_cases(self) -> tuple[HardCase, ...]:
        return tuple(case for one in self.batches for case in one.report.hard_cases)


class AlertPart(msgspec.Struct, frozen=True):
    """Those that stand, the gravest first, and how many were raised in the time asked about."""

    raised: int = 0
    standing: tuple[Alert, ...] = ()
    more: int = 0


def sum_failures(batch: FailureBatch, began: float, now: float) -> FailurePart:
    counts: Counter[FailureCause] = Counter()
    for cluster in batch.clusters:
        counts[cluster.cause] += len(cluster.runs)
    causes = sorted(counts.items(), key=lambda one: (-one[1], one[0].value))
    top = batch.clusters[:MOST_CLUSTERS]
    return FailurePart(
        runs=batch.runs,
        failed=batch.failed,
        clusters=len(batch.clusters),
        cut=batch.is_cut,
        causes=tuple(CauseCount(cause, count) for cause, count in causes),
        top=tuple(top),
        times=tuple(_times([batch.ends.get(key) for key in cluster.keys], began, now) for cluster in top),
    )


def _times(ends: Sequence[float | None], began: float, now: float) -> tuple[int, ...]:
    bins = [0] * TIME_BINS
    width = max(1.0, now - began) / TIME_BINS
    for at in ends:
        if at is not None and began <= at <= now:
            bins[min(TIME_BINS - 1, int((at - began) / width))] += 1
    return tuple(bins)


def sum_alerts(alerts: Alerts, raised: int) -> AlertPart:
    standing = sorted(alerts.standing.values(), key=by_urgency)
    return AlertPart(raised, tuple(standing[:MOST_ALERTS]), max(0, len(standing) - MOST_ALERTS))
