"""How long a report on drift takes for a million steps, and how much memory: a process of its own for each size."""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.insight.data import Data
from bench.insight.synthetic import synthetic_runs
from bench.insight.targets import Measured
from paddock.insight.dataset.dataset import Dataset
from paddock.insight.dataset.writer import DatasetWriter
from paddock.insight.drift.judge import judge_drift
from paddock.insight.extra import require_numpy
from paddock.insight.selection import Selection

SIZES = ((5_000, 200), (20_000, 50))
QUICK_SIZES = ((200, 20),)
MOST_SECONDS, MOST_MEGABYTES = 5.0, 500.0
AT_ONCE = 500


def measure(_data: Data, *, quick: bool) -> list[Measured]:
    return [row for runs, steps in (QUICK_SIZES if quick else SIZES) for row in _measure(runs, steps)]


def _measure(runs: int, steps: int) -> Iterator[Measured]:
    with tempfile.TemporaryDirectory(prefix="paddock-bench-") as folder:
        path = Path(folder) / "traces.db"
        with DatasetWriter.open(path) as writer:
            for first in range(0, runs, AT_ONCE):
                for trace in synthetic_runs(min(AT_ONCE, runs), steps=steps, tasks=runs // 20, first=first):
                    writer.add(trace)
        done = subprocess.run(
            (sys.executable, "-m", "bench.insight.drift_size", str(path)), check=True, capture_output=True, text=True
        )
        told = json.loads(done.stdout)
    how = f"{told['runs']:,} runs of {told['steps']:,} steps, from the dataset to the verdict and its self-test"
    yield Measured("drift report", told["seconds"], "s", high=MOST_SECONDS, how=how)
    yield Measured("drift report, memory", told["megabytes"], "MB", high=MOST_MEGABYTES, how=how)


def _report(path: Path) -> None:
    """Prints what it took, as JSON."""
    require_numpy("this benchmark")
    from paddock.insight.drift.self_test import check_itself

    started = time.perf_counter()
    with Dataset.open(path) as dataset:
        batch, baseline = (dataset.runs(Selection(label=label)) for label in "ab")
        symbols = dataset.symbols
    judge_drift(batch, baseline, symbols)
    check_itself(baseline, symbols)
    seconds = time.perf_counter() - started
    in_a_megabyte = 1024**2 if sys.platform == "darwin" else 1024
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / in_a_megabyte
    steps = sum(run.step_count for run in (*batch, *baseline))
    told = {"seconds": seconds, "megabytes": megabytes, "runs": len(batch) + len(baseline), "steps": steps}
    print(json.dumps(told))


if __name__ == "__main__":
    _report(Path(sys.argv[1]))
