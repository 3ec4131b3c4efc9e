"""When the failures of a cluster were, as the report and the page draw it."""

from pathlib import Path

from paddock.insight.dataset.headers import FLEET
from paddock.insight.report.reading import read_failures
from paddock.insight.trace import EndState
from tests.insight.dataset.test_dataset import trace, written


def test_runs_that_a_provider_refused_are_in_time_although_nobody_judged_them(tmp_path: Path) -> None:
    error = "API Error: 429 rate_limit, retry after 1 s"
    refused = [
        trace(f"t{n}.1", FLEET, task=f"t{n}", end_state=EndState.THROTTLED, error=error, ended=100.0 * n)
        for n in range(1, 6)
    ]
    with written(tmp_path / "traces.db", *refused) as dataset:
        part = read_failures(dataset, 0.0, 600.0)
    assert [sum(times) for times in part.times] == [len(cluster.runs) for cluster in part.top] == [5]
