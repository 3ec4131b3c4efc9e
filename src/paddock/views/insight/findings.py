"""What failures have in common and which batches drifted, as JSON: short enough for a page and a report."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from paddock.core.ids import printable
from paddock.insight.drift.report import DriftTest
from paddock.insight.report.findings import DriftPart, FailurePart, JudgedBatch
from paddock.views.document import iso_or_none, view_of
from paddock.views.insight.drift import (
    HardCaseView,
    SelfTestView,
    difference_of,
    plain_words,
    view_case,
    view_self_test,
)
from paddock.views.insight.failures import ClusterView, EvidenceView, MeasuresView, Situation, view_cluster

MOST_EDGES = 5
MOST_CASES = 10
MOST_RUNS = 50
MOST_LINES = 6


class CauseView(msgspec.Struct, frozen=True):
    cause: str
    runs: int


class ClusterCard(msgspec.Struct, frozen=True):
    """A cluster of `count` failures at `tasks` tasks, as `paddock failures` tells it: some of its runs, and the first
    lines that its cause rests on. `times` says when they were, in equal parts of the time asked about."""

    id: str
    symptom: str
    cause: str
    title: str
    tied: list[str]
    count: int
    tasks: int
    runs: list[str]
    evidence: list[EvidenceView]
    measures: MeasuresView
    engine: str
    host: str
    account: str
    resource: str
    last: str | None
    times: tuple[int, ...]
    done: list[str]
    next: list[str]


class FailuresPartView(msgspec.Struct, frozen=True):
    """`failed` of `runs` attempts, in so many `clusters`, of which the largest are in `top`. `cut`: there were more
    attempts, and these are the latest."""

    runs: int
    failed: int
    cut: bool
    clusters: int
    causes: list[CauseView]
    top: list[ClusterCard]


class DriftTestCard(msgspec.Struct, frozen=True):
    """`batch` and `baseline` are what was measured on both sides, where there is one number for each. `words` say what
    is compared, `difference` by how much it differs."""

    name: str
    p: float
    q: float
    effect: float
    floor: float
    batch: float | None
    baseline: float | None
    words: str
    difference: str


class EdgeCard(msgspec.Struct, frozen=True):
    """One step after another, with its share of all on both sides; `share` is of the whole difference."""

    first: str
    then: str
    baseline: float
    batch: float
    share: float


class BatchView(msgspec.Struct, frozen=True):
    """A batch of the fleet's own attempts against those before it. `tests` are what the verdict rests on; `typical` and
    `odd` name the run that is nearest to all others of the batch, and the one that is farthest from the baseline."""

    name: str
    ended: str | None
    verdict: str
    count: int
    baseline: int
    pairs: int
    missing_pairs: int
    runs: list[str]
    tests: list[DriftTestCard]
    edges: list[EdgeCard]
    typical: str
    odd: str
    hard_cases: list[HardCaseView]
    warnings: list[str]


class DriftPartView(msgspec.Struct, frozen=True):
    """The last whole batches, the newest first. `problem` says why nothing could be judged, empty if it could."""

    batches: list[BatchView]
    drifted: int
    self_test: SelfTestView | None
    problem: str


def view_failure_part(part: FailurePart, situation: Situation) -> FailuresPartView:
    told = [view_cluster(cluster, situation) for cluster in part.top]
    return FailuresPartView(
        runs=part.runs,
        failed=part.failed,
        cut=part.cut,
        clusters=part.clusters,
        causes=_count_causes(part, told),
        top=[_view_card(cluster, times) for cluster, times in zip(told, part.times, strict=True)],
    )


def _count_causes(part: FailurePart, told: Sequence[ClusterView]) -> list[CauseView]:
    """Those that somebody has settled count as that."""
    counts = Counter({one.cause.value: one.runs for one in part.causes})
    for found, cluster in zip(part.top, told, strict=True):
        counts[found.cause.value] -= len(found.runs)
        counts[cluster.cause] += len(found.runs)
    ranked = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return [CauseView(cause, runs) for cause, runs in ranked if runs]


def _view_card(cluster: ClusterView, times: tuple[int, ...]) -> ClusterCard:
    own = {"count": len(cluster.runs), "tasks": len(cluster.tasks), "times": times}
    runs = [printable(run, 120) for run in cluster.runs[: -MOST_RUNS - 1 : -1]]
    return view_of(ClusterCard, cluster, runs=runs, evidence=cluster.evidence[:MOST_LINES], **own)


def view_drift_part(part: DriftPart) -> DriftPartView:
    return DriftPartView(
        batches=[_view_batch(batch) for batch in part.batches],
        drifted=len(part.drifted),
        self_test=view_self_test(part.self_test),
        problem=printable(part.problem, 400),
    )


def _view_batch(batch: JudgedBatch) -> BatchView:
    report = batch.report
    why = report.explanation
    bits = sum(edge.bits for edge in why.edges) or 1.0
    return BatchView(
        name=printable(batch.name, 120),
        ended=iso_or_none(batch.ended),
        verdict=report.verdict.value,
        count=batch.count,
        baseline=report.baseline_runs,
        pairs=report.pairs,
        missing_pairs=report.missing_pairs,
        runs=[printable(run, 120) for run in batch.runs],
        tests=[_view_test_card(test) for test in batch.signs],
        edges=[
            EdgeCard(
                printable(edge.first, 60),
                printable(edge.then, 60),
                round(edge.baseline_share, 4),
                round(edge.batch_share, 4),
                round(edge.bits / bits, 4),
            )
            for edge in why.edges[:MOST_EDGES]
        ],
        typical=printable(why.medoid.run, 120) if why.medoid is not None else "",
        odd=printable(why.outlier.run, 120) if why.outlier is not None else "",
        hard_cases=[view_case(case) for case in report.hard_cases[:MOST_CASES]],
        warnings=[printable(words, 300) for words in report.warnings],
    )


def _view_test_card(test: DriftTest) -> DriftTestCard:
    numbers = (test.p, test.q, round(test.effect, 4), test.floor, test.batch, test.baseline)
    return DriftTestCard(test.name, *numbers, plain_words(test), difference_of(test))
