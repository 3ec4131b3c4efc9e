"""The failures of the runs that somebody asks about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paddock.insight.dataset.dataset import Dataset
from paddock.insight.failures.cluster import Cluster
from paddock.insight.failures.diagnose import diagnose
from paddock.insight.failures.failed import ended_at, has_failed
from paddock.insight.selection import Selection
from paddock.insight.trace import KeptTrace

MOST_RUNS = 20_000
LAST_CALLS = 3
"""A refusal is heard of only if a run did not get over it: it was one of its last calls."""


@dataclass(frozen=True, slots=True)
class FailureBatch:
    """`runs` counts those that were looked at, the latest if that `is_cut`. `ends` says by their keys when runs failed,
    where that is known."""

    runs: int
    clusters: tuple[Cluster, ...]
    is_cut: bool
    ends: Mapping[int, float]

    @property
    def failed(self) -> int:
        return sum(len(cluster.runs) for cluster in self.clusters)


def diagnose_batch(dataset: Dataset, where: Selection, *, most: int = MOST_RUNS) -> FailureBatch:
    runs = dataset.runs(where, limit=most + 1)
    kept = runs if len(runs) <= most else runs[-most:]
    clusters = diagnose(kept, refusals=lambda one: last_refusals(dataset, one))
    ends = {one.key: at for one in kept if has_failed(one) and (at := ended_at(one.trace)) is not None}
    return FailureBatch(len(kept), clusters, len(runs) > most, ends)


def last_refusals(dataset: Dataset, kept: KeptTrace) -> Sequence[int]:
    calls = dataset.calls(kept.key)[-LAST_CALLS:]
    return [call.status for call in calls if call.status is not None and call.status >= 400]
