"""How fast runs are exported, and with how much memory, in each format."""

import json
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from bench.insight.data import Data
from bench.insight.targets import Measured
from paddock.insight.dataset.dataset import Dataset
from paddock.insight.dataset.writer import DatasetWriter
from paddock.insight.exports.batches import ExportTally, span_batches
from paddock.insight.exports.otlp_json import encode_spans
from paddock.insight.exports.reading import read_runs, redactor
from paddock.insight.formats.neutral_lines import to_neutral
from paddock.insight.trace import Result, Step, StepStatus, Trace

STEPS, QUICK_STEPS, PER_RUN = 1_000_000, 2_000, 50
MOST_MB = 500
FORMATS = ("jsonl", "otlp", "parquet")


def measure(data: Data, *, quick: bool = False) -> list[Measured]:
    del data
    steps = QUICK_STEPS if quick else STEPS
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "traces.db"
        _fill(path, steps)
        for form in FORMATS:
            told = _in_a_process(form, path)
            how = f"{steps:,} steps in runs of {PER_RUN}, without what looks secret"
            rows += [
                Measured(f"steps exported in a second as {form}", steps / told["seconds"], "/s", how=how),
                Measured(f"memory of that as {form}", told["mb"], "MB", high=MOST_MB),
            ]
    return rows


def _fill(path: Path, steps: int) -> None:
    with DatasetWriter.open(path) as writer:
        for number in range(steps // PER_RUN):
            began = 1_700_000_000.0 + 60 * number
            taken = tuple(_step(number * PER_RUN + place, began + place) for place in range(PER_RUN))
            outcome = Result.FAILURE if number % 5 == 0 else Result.SUCCESS
            writer.add(Trace(run=f"r{number}", label="b", started=began, outcome=outcome, steps=taken))


def _step(number: int, at: float) -> Step:
    bad = number % 10 == 0
    return Step(
        tool="Bash",
        activity=("TEST", "RUN", "SEARCH")[number % 3],
        target=f"tests/test_part{number % 5000}.py",
        status=StepStatus.ERROR if bad else StepStatus.OK,
        error=f"AssertionError: expected {number}" if bad else "",
        at=at,
        seconds=0.5,
    )


def _in_a_process(form: str, path: Path) -> dict[str, float]:
    argv = [sys.executable, "-m", "bench.insight.exporting", form, str(path)]
    printed = subprocess.run(argv, check=True, capture_output=True, cwd=Path(__file__).parents[2], text=True).stdout
    told: dict[str, float] = json.loads(printed)
    return told


def main(form: str, path: Path) -> None:
    begun = time.perf_counter()
    tally, out = ExportTally(), path.with_name(form)
    with Dataset.open(path) as dataset:
        runs = read_runs(dataset, hide=redactor(frozenset()))
        if form == "parquet":
            from paddock.insight.exports.parquet import write_parquet

            write_parquet(out, runs, tally)
        else:
            with out.open("wb") as file:
                if form == "jsonl":
                    file.writelines(to_neutral(trace) + b"\n" for trace in runs)
                else:
                    file.writelines(encode_spans(batch.groups) + b"\n" for batch in span_batches(runs, tally))
    seconds = time.perf_counter() - begun
    with suppress(OSError):
        out.unlink()
    print(json.dumps({"seconds": seconds, "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
