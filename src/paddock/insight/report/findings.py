"""What a report says of failures, of drift and of alerts: the most important of it, and how much is left out."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from paddock.core.alerts.model import Alert, Alerts, by_urgency
from paddock.core.causes.vocabulary import FailureCause
from paddock.insight.drift.report import DriftReport, DriftTest, HardCase, SelfTest, Verdict
from paddock.insight.failures.cluster import Cluster

MOST_CLUSTERS = 8
MOST_LINES = 3
MOST_NAMES = 12
MOST_ALERTS = 12


class CauseCount(msgspec.Struct, frozen=True):
    cause: FailureCause
    runs: int


class FailureGroup(msgspec.Struct, frozen=True):
    """A cluster of failures. `lines` are what its cause rests on, `runs` some of its `count` runs."""

    id: str
    cause: FailureCause
    title: str
    symptom: str
    count: int
    tasks: int
    lines: tuple[str, ...]
    runs: tuple[str, ...]
    tied: tuple[FailureCause, ...]
    last: float | None


class FailurePart(msgspec.Struct, frozen=True):
    """`failed` of `runs` attempts. `clusters` there are, of which the largest are in `groups`."""

    runs: int
    failed: int
    clusters: int
    causes: tuple[CauseCount, ...] = ()
    groups: tuple[FailureGroup, ...] = ()


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


def sum_failures(clusters: Sequence[Cluster], runs: int) -> FailurePart:
    counts: Counter[FailureCause] = Counter()
    for cluster in clusters:
        counts[cluster.cause] += len(cluster.runs)
    causes = sorted(counts.items(), key=lambda one: (-one[1], one[0].value))
    return FailurePart(
        runs=runs,
        failed=counts.total(),
        clusters=len(clusters),
        causes=tuple(CauseCount(cause, count) for cause, count in causes),
        groups=tuple(_group(cluster) for cluster in clusters[:MOST_CLUSTERS]),
    )


def _group(cluster: Cluster) -> FailureGroup:
    lines = tuple(dict.fromkeys(one.line for one in cluster.evidence))
    return FailureGroup(
        id=cluster.id,
        cause=cluster.cause,
        title=cluster.title,
        symptom=cluster.symptom,
        count=len(cluster.runs),
        tasks=len(cluster.tasks),
        lines=lines[:MOST_LINES],
        runs=cluster.runs[-MOST_NAMES:],
        tied=cluster.tied,
        last=cluster.last,
    )


def sum_alerts(alerts: Alerts, since: float) -> AlertPart:
    standing = sorted(alerts.standing.values(), key=by_urgency)
    raised = sum(one.raised >= since for one in (*standing, *alerts.ended))
    return AlertPart(raised, tuple(standing[:MOST_ALERTS]), max(0, len(standing) - MOST_ALERTS))
