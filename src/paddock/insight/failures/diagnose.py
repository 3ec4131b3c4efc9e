"""From runs to clusters of failures with their causes."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import TypeAlias

from paddock.insight.failures.cluster import Cluster
from paddock.insight.failures.failed import ended_at, has_failed
from paddock.insight.failures.vocabulary import FailureCause
from paddock.insight.trace import KeptTrace

Refusals: TypeAlias = Callable[[KeptTrace], Sequence[int]]
"""The HTTP statuses of the model calls of a run that were refused, oldest first."""


def diagnose(runs: Sequence[KeptTrace], *, refusals: Refusals | None = None) -> tuple[Cluster, ...]:
    """Every failed run is in exactly one cluster; the others say how often something could have failed. The largest
    cluster is first. The order of the runs does not matter."""
    groups: dict[str, list[KeptTrace]] = defaultdict(list)
    for kept in runs:
        if has_failed(kept):
            lines = kept.trace.error.strip().splitlines()
            groups[lines[0] if lines else kept.trace.end_state.value].append(kept)
    clusters = [_cluster(symptom, members) for symptom, members in groups.items()]
    return tuple(sorted(clusters, key=lambda cluster: (-len(cluster.runs), cluster.id)))


def _cluster(symptom: str, members: list[KeptTrace]) -> Cluster:
    members = sorted(members, key=lambda kept: (ended_at(kept.trace) or 0.0, kept.key))
    return Cluster(
        id=f"f{sha256(symptom.encode()).hexdigest()[:7]}",
        symptom=symptom,
        cause=FailureCause.UNKNOWN,
        title="",
        because=FailureCause.UNKNOWN,
        runs=tuple(kept.trace.run for kept in members),
        keys=tuple(kept.key for kept in members),
        tasks=tuple(sorted({kept.trace.task for kept in members} - {""})),
        evidence=(),
    )
