"""Runs that ended by what was around them: a network that was away, a provider that refused, a host that was full.

They say nothing of their agent; `paddock failures` tells of them.
"""

from collections.abc import Iterable

from paddock.insight.failures.diagnose import diagnose
from paddock.insight.failures.failed import has_failed
from paddock.insight.failures.vocabulary import FailureCause
from paddock.insight.trace import EndState, KeptTrace

MOST_DIAGNOSED = 1_500
"""Of more, only ends that were recorded count: to read so many would take longer than everything else."""
_OWN_ENDS = frozenset({EndState.OK, EndState.GAVE_UP, EndState.BUDGET, EndState.REFUSED})
"""By which an agent ended its run itself, or its own limits did."""
_REASONS = {
    FailureCause.NEVER_RAN: "never ran",
    FailureCause.RATE_LIMIT: "were refused by their provider",
    FailureCause.OVERLOAD: "were refused by their provider",
    FailureCause.NETWORK: "lost the network",
    FailureCause.SATURATION: "ran on a host that was full",
    FailureCause.CONTENTION: "fought over something with others",
    FailureCause.DEPENDENCY: "lacked something in the environment",
}


def find_troubled(runs: Iterable[KeptTrace]) -> dict[int, str]:
    """Why each of them is one, by its key."""
    failed = [run for run in runs if has_failed(run) and (run.trace.end_state not in _OWN_ENDS or not run.step_count)]
    if not failed or len(failed) > MOST_DIAGNOSED:
        return {}
    return {
        key: reason
        for cluster in diagnose(failed)
        if (reason := _REASONS.get(cluster.cause)) is not None
        for key in cluster.keys
    }
