"""Clusters of failures as JSON: what is seen, why, what says so, and what was done about it."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from paddock.core.causes.model import Causes
from paddock.core.ids import printable
from paddock.insight.failures.batch import FailureBatch
from paddock.insight.failures.cluster import Cluster, Evidence, Lift, Measures
from paddock.insight.failures.evidence import RUNS
from paddock.views.document import Document, iso_or_none
from paddock.views.insight.failure_actions import Actions, actions_of

SYMPTOM_CHARS = 300
LINE_CHARS = 300


class EvidenceView(msgspec.Struct, frozen=True):
    """`where` is `error`, `output`, `step` or `call` for a line of `run`, and `runs` for what only the runs together
    show; then `run` is empty."""

    line: str
    where: str
    run: str
    label: str


class LiftView(msgspec.Struct, frozen=True):
    """Runs of `value` fail like this `lift` times as often as all; `p` is the chance of that by luck."""

    facet: str
    value: str
    failures: int
    runs: int
    lift: float
    p: float


class MeasuresView(msgspec.Struct, frozen=True):
    """None where the runs cannot say. `recurrence`: how often another attempt at the same task failed alike. `burst`:
    how many times more frequent they were in their densest quarter of an hour. `all_but_one` of `groups` of concurrent
    attempts had a single survivor. `backoff`: the share of time spent waiting for the provider."""

    recurrence: float | None
    burst: float | None
    groups: int
    all_but_one: int
    backoff: float | None
    lifts: list[LiftView]


class ClusterView(msgspec.Struct, frozen=True):
    """`cause` is never-ran, rate-limit, overload, contention, saturation, network, dependency, task, model or unknown.
    `because` is what lies beneath runs that never ran. `tied` are the classes that the evidence cannot tell apart.
    `causes` are the ids under which the fleet knows it, `done` is what Paddock did about it, `next` what to run."""

    id: str
    symptom: str
    cause: str
    title: str
    because: str
    confidence: float
    tied: list[str]
    runs: list[str]
    tasks: list[str]
    labels: list[str]
    engine: str
    model: str
    host: str
    account: str
    resource: str
    first: str | None
    last: str | None
    evidence: list[EvidenceView]
    measures: MeasuresView
    causes: list[str]
    done: list[str]
    next: list[str]


class FailuresView(Document, frozen=True, kw_only=True):
    """Of `runs`, `failed` are in `clusters`, the largest first, each in exactly one. `cut`: there were more runs than
    are looked at together, and these are the latest."""

    runs: int
    failed: int
    cut: bool
    clusters: list[ClusterView]


@dataclass(frozen=True, slots=True)
class Situation:
    """What is done about causes just now."""

    causes: Causes
    now: float


def view_failures(batch: FailureBatch, situation: Situation) -> FailuresView:
    clusters = [view_cluster(cluster, situation) for cluster in batch.clusters]
    return FailuresView(runs=batch.runs, failed=batch.failed, cut=batch.is_cut, clusters=clusters)


def view_cluster(cluster: Cluster, situation: Situation) -> ClusterView:
    told = actions_of(cluster, situation.causes, situation.now)
    return ClusterView(
        id=cluster.id,
        symptom=printable(cluster.symptom, SYMPTOM_CHARS),
        cause=_cause(cluster, told),
        title=cluster.title,
        because=cluster.because.value,
        confidence=cluster.confidence,
        tied=[] if told.settled is not None else [cause.value for cause in cluster.tied],
        runs=list(cluster.runs),
        tasks=list(cluster.tasks),
        labels=list(cluster.labels),
        engine=cluster.engine,
        model=cluster.model,
        host=cluster.host,
        account=cluster.account,
        resource=cluster.resource,
        first=iso_or_none(cluster.first),
        last=iso_or_none(cluster.last),
        evidence=_evidence(cluster.evidence, told),
        measures=_measures(cluster.measures),
        causes=list(told.causes),
        done=list(told.done),
        next=list(told.next),
    )


def _cause(cluster: Cluster, told: Actions) -> str:
    return cluster.cause.value if told.settled is None else told.settled.cause.value


def _evidence(evidence: Sequence[Evidence], told: Actions) -> list[EvidenceView]:
    """Who has settled it stands in place of what decided before."""
    shown = [EvidenceView(printable(one.line, LINE_CHARS), one.where, one.run, one.label) for one in evidence]
    if told.settled is None:
        return shown
    settled = told.settled.settled or ("somebody has said so",)
    return [*(EvidenceView(line, RUNS, "", "") for line in settled), *shown[bool(shown) and shown[0].where == RUNS :]]


def _measures(measures: Measures) -> MeasuresView:
    return MeasuresView(
        recurrence=_rounded(measures.recurrence),
        burst=_rounded(measures.burst),
        groups=measures.groups,
        all_but_one=measures.all_but_one,
        backoff=_rounded(measures.backoff),
        lifts=[_lift(lift) for lift in measures.lifts],
    )


def _lift(lift: Lift) -> LiftView:
    return LiftView(lift.facet, lift.value, lift.failures, lift.runs, round(lift.lift, 3), lift.p)


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 4)
