"""The failures of the runs that somebody asks about."""

from collections.abc import Sequence
from dataclasses import dataclass

from paddock.insight.dataset.dataset import Dataset
from paddock.insight.failures.cluster import Cluster
from paddock.insight.failures.diagnose import diagnose
from paddock.insight.selection import Selection
from paddock.insight.trace import KeptTrace

MOST_RUNS = 20_000
LAST_CALLS = 3
"""A refusal is heard of only if a run did not get over it: it was one of its last calls."""


@dataclass(frozen=True, slots=True)
class FailureBatch:
    """`runs` counts those that were looked at, the latest if there are too many; `left_out` those before them."""

    runs: int
    clusters: tuple[Cluster, ...]
    is_cut: bool

    @property
    def failed(self) -> int:
        return sum(len(cluster.runs) for cluster in self.clusters)


def diagnose_batch(dataset: Dataset, where: Selection, *, most: int = MOST_RUNS) -> FailureBatch:
    runs = dataset.runs(where, limit=most + 1)
    kept = runs if len(runs) <= most else runs[-most:]
    return FailureBatch(len(kept), diagnose(kept, refusals=lambda one: last_refusals(dataset, one)), len(runs) > most)


def last_refusals(dataset: Dataset, kept: KeptTrace) -> Sequence[int]:
    calls = dataset.calls(kept.key)[-LAST_CALLS:]
    return [call.status for call in calls if call.status is not None and call.status >= 400]
