"""Keeps watch over the failures of the live fleet: diagnoses those that have just come, and has the causes recorded.

Nothing is remembered between two looks: what is recorded already stands on the board, so a daemon that starts again, or
looks at the same attempts twice, records nothing twice.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import partial

from paddock.core.board import Board
from paddock.core.causes.decide import Diagnosis, record_diagnosis
from paddock.core.causes.probing import settle_probed
from paddock.core.causes.vocabulary import FailureCause
from paddock.core.events import Draft
from paddock.core.ids import AttemptId
from paddock.insight.dataset.dataset import Dataset
from paddock.insight.dataset.headers import FLEET
from paddock.insight.failures.cluster import Cluster
from paddock.insight.failures.diagnose import diagnose
from paddock.insight.failures.failed import ended_at, has_failed
from paddock.insight.look import Decide, Look
from paddock.insight.selection import Selection
from paddock.insight.trace import KeptTrace, Result

WINDOW_SECONDS = 6 * 3600.0
MOST_RUNS = 600
"""What is diagnosed together: the latest attempts, those that went well included, since they say how often something
could have failed."""
EVIDENCE_LINES = 6
SURE = 0.75
"""The confidence of a diagnosis by which a task may be blocked at its first failure; others are tried once more."""
EXPLAINED_SECONDS = 3600.0
"""What failed longer ago than this and has no cause yet gets none: what would follow from it is over."""


def observe_causes(look: Look) -> Sequence[Decide]:
    """What is diagnosed of the attempts that have failed since the look before, and of probes that are over: also of
    those that were cancelled before they began, which end no attempt."""
    return (*_settle(look.board), *(_explain(look) if look.ended else ()))


def _settle(board: Board) -> Sequence[Decide]:
    return (settle_probed,) if settle_probed(board) else ()


def _explain(look: Look) -> Sequence[Decide]:
    where = Selection(label=FLEET, since=look.now - WINDOW_SECONDS)
    runs = look.dataset.runs(where, limit=MOST_RUNS)
    ended = frozenset(look.ended)
    if not any(kept.trace.run in ended and has_failed(kept) for kept in runs):
        return ()
    found = diagnose(runs, refusals=partial(_refusals, look.dataset))
    return [partial(_record, diagnosis=told) for told in diagnoses(found, runs, look.now)]


def _record(board: Board, diagnosis: Diagnosis) -> Sequence[Draft]:
    return record_diagnosis(board, diagnosis)


def diagnoses(clusters: Iterable[Cluster], runs: Sequence[KeptTrace], now: float) -> list[Diagnosis]:
    """What is worth recording of the clusters: attempts that failed lately."""
    by_name = {kept.trace.run: kept for kept in runs}
    found = []
    for cluster in clusters:
        recent = [name for name in cluster.runs if name in by_name and _is_recent(by_name[name], now)]
        if recent:
            found.append(_diagnosis(cluster, [by_name[name] for name in recent], runs))
    return found


def _diagnosis(cluster: Cluster, recent: Sequence[KeptTrace], runs: Sequence[KeptTrace]) -> Diagnosis:
    saturated, missed = cluster.cause is FailureCause.SATURATION, cluster.cause is FailureCause.NEVER_RAN
    lines = (f"{one.run}: {one.line}" if one.run else one.line for one in cluster.evidence[:EVIDENCE_LINES])
    versions = {kept.trace.engine_version for kept in recent}
    return Diagnosis(
        signature=cluster.id,
        cause=cluster.cause,
        attempts=[AttemptId(kept.trace.run) for kept in recent],
        symptom=cluster.symptom or cluster.title,
        evidence=tuple(lines),
        resource=cluster.resource,
        tied=cluster.tied,
        is_sure=cluster.confidence >= SURE,
        version=versions.pop() if len(versions) == 1 else "",
        at_work={kept.trace.run: _at_work(kept, runs) for kept in recent} if saturated else {},
        since_ran=_since_ran(recent, runs) if missed else frozenset(),
    )


def _is_recent(kept: KeptTrace, now: float) -> bool:
    at = ended_at(kept.trace)
    return at is not None and now - at < EXPLAINED_SECONDS


def _at_work(failed: KeptTrace, runs: Iterable[KeptTrace]) -> int:
    """How many agents were at work on its host when it failed, itself included."""
    at = ended_at(failed.trace)
    assert at is not None
    others = (kept.trace for kept in runs if kept.trace.host == failed.trace.host)
    return sum(1 for one in others if (one.started or at) <= at and (one.ended is None or one.ended >= at))


def _since_ran(recent: Iterable[KeptTrace], runs: Iterable[KeptTrace]) -> frozenset[str]:
    """Those after which an attempt of the same engine has succeeded."""
    latest: dict[str, float] = defaultdict(float)
    for kept in runs:
        trace = kept.trace
        if trace.outcome is Result.SUCCESS and trace.ended is not None:
            latest[trace.engine] = max(latest[trace.engine], trace.ended)
    return frozenset(
        kept.trace.run for kept in recent if (ended_at(kept.trace) or 0.0) < latest.get(kept.trace.engine, 0.0)
    )


def _refusals(dataset: Dataset, kept: KeptTrace) -> Sequence[int]:
    return [call.status for call in dataset.calls(kept.key) if call.status is not None]
