"""Synthetic runs, as the dataset keeps them."""

from collections.abc import Sequence
from typing import Any

from paddock.insight.failures.cluster import Cluster
from paddock.insight.failures.diagnose import diagnose
from paddock.insight.failures.vocabulary import FailureCause
from paddock.insight.paths import Symbols, keep
from paddock.insight.trace import KeptTrace, Result, Step, StepStatus, Trace

MINUTE, HOUR = 60.0, 3_600.0
START = 1_790_000_000.0


def a_run(number: int, *, fails: bool = True, **told: Any) -> KeptTrace:
    """Each at a task of its own, one a minute, if nothing else is said."""
    fields: dict[str, Any] = {
        "run": f"r{number}",
        "task": f"job-{number:03}",
        "engine": "claude",
        "label": "batch",
        "started": START + number * MINUTE,
        "ended": START + (number + 5) * MINUTE,
        "outcome": Result.FAILURE if fails else Result.SUCCESS,
        **told,
    }
    return keep(Trace(**fields), number, Symbols())


def failing(numbers: Sequence[int], *lines: str, **told: Any) -> list[KeptTrace]:
    return [a_run(number, tail="\n".join(lines), **told) for number in numbers]


def steps(count: int, error: str = "") -> tuple[Step, ...]:
    """The last of them fails, if there is an error."""
    well = tuple(Step("Bash", activity="RUN") for _ in range(count - bool(error)))
    return (*well, Step("Bash", activity="RUN", status=StepStatus.ERROR, error=error)) if error else well


def causes(runs: Sequence[KeptTrace]) -> dict[str, FailureCause]:
    """By the name of the run."""
    return {run: cluster.cause for cluster in diagnose(runs) for run in cluster.runs}


def only(runs: Sequence[KeptTrace]) -> Cluster:
    [cluster] = diagnose(runs)
    return cluster
