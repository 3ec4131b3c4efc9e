"""How fast runs are imported, end to end: from a file of neutral lines into the dataset, beside the least that anybody
could do, which is `json` and `sqlite3` with the values as they come."""

import json
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.insight.data import Data
from bench.insight.targets import Measured
from paddock.core.money.prices import PriceBook
from paddock.insight.dataset.writer import DatasetWriter
from paddock.insight.formats.importing import Importer, origin_of

STEPS = 1_000_000
QUICK_STEPS = 2_000
PER_RUN = 50
LEAST_STEPS_PER_SECOND = 50_000
MOST_MB = 500
_CALLS = (
    ("Bash", "python -m pytest -q tests/test_part{}.py"),
    ("Bash", "git commit -m 'Take step {}'"),
    ("Read", "src/part{}/app.py"),
    ("Edit", "src/part{}/app.py"),
    ("Grep", "def handle_{}"),
    ("Write", "docs/page{}.md"),
)


def measure(data: Data, *, quick: bool = False) -> list[Measured]:
    del data
    steps = QUICK_STEPS if quick else STEPS
    with tempfile.TemporaryDirectory() as folder:
        return [
            *_measure(Path(folder), steps, "", 400),
            *_measure(Path(folder), steps, ", no two alike", 10**9),
        ]


def _measure(folder: Path, steps: int, name: str, distinct: int) -> list[Measured]:
    file = folder / "runs.jsonl"
    write_runs(file, steps, distinct)
    ours, baseline = (_in_a_process(mode, file) for mode in ("ours", "plain"))
    speed = steps / ours["seconds"]
    how = f"{steps:,} steps in runs of {PER_RUN}, {file.stat().st_size >> 20} MB of JSON lines"
    return [
        Measured(f"steps imported in a second{name}", speed, "/s", low=LEAST_STEPS_PER_SECOND, how=how),
        Measured(f"times as long as json and sqlite3{name}", ours["seconds"] / baseline["seconds"], "x"),
        Measured(f"memory of an import{name}", ours["mb"], "MB", high=MOST_MB),
    ]


def write_runs(file: Path, steps: int, distinct: int) -> None:
    """`distinct` is how many different arguments a tool is called with."""
    draw = random.Random(1)
    with file.open("w", encoding="utf-8") as out:
        for number in range(steps // PER_RUN):
            started = 1_700_000_000 + 60 * number
            run = {
                "run": f"r{number}",
                "task": f"t{number % 200}",
                "kind": "fix",
                "engine": "made-up",
                "model": "made-up-1",
                "host": f"h{number % 7}",
                "started": started,
                "ended": started + PER_RUN,
                "outcome": "failure" if number % 5 == 0 else "success",
                "usage": {"input_tokens": 10_000, "output_tokens": 500, "cache_read_input_tokens": 9_000},
                "steps": [_step(draw, started + place, distinct) for place in range(PER_RUN)],
            }
            out.write(json.dumps(run) + "\n")


def _step(draw: random.Random, at: int, distinct: int) -> dict[str, object]:
    tool, argument = draw.choice(_CALLS)
    step: dict[str, object] = {"tool": tool, "argument": argument.format(draw.randrange(distinct)), "time": at}
    if draw.random() < 0.1:
        return {**step, "status": "error", "error": "AssertionError: expected 1", "seconds": 0.5}
    return {**step, "status": "ok", "seconds": round(draw.random() * 5, 2)}


def _in_a_process(mode: str, file: Path) -> dict[str, float]:
    """Its memory is its own."""
    argv = [sys.executable, "-m", "bench.insight.importing", mode, str(file)]
    printed = subprocess.run(argv, check=True, capture_output=True, cwd=Path(__file__).parents[2], text=True).stdout
    told: dict[str, float] = json.loads(printed)
    return told


def _import(file: Path, database: Path) -> None:
    with DatasetWriter.open(database) as writer:
        Importer(writer, PriceBook({})).take(origin_of(file, "auto", ""))


def _plainly(file: Path, database: Path) -> None:
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("CREATE TABLE run(name, task, outcome, rest)")
    connection.execute("CREATE TABLE step(run, seq, tool, argument, status, error, at, seconds)")
    with file.open("rb") as lines:
        for number, line in enumerate(lines):
            run = json.loads(line)
            steps = run.pop("steps")
            told = (run["run"], run["task"], run["outcome"], json.dumps(run))
            connection.execute("INSERT INTO run VALUES(?,?,?,?)", told)
            names = ("tool", "argument", "status", "error", "time", "seconds")
            rows = ((number, seq, *(step.get(name) for name in names)) for seq, step in enumerate(steps))
            connection.executemany("INSERT INTO step VALUES(?,?,?,?,?,?,?,?)", rows)
    connection.commit()
    connection.close()


def main(mode: str, file: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        (_import if mode == "ours" else _plainly)(file, Path(folder) / "x.db")
        seconds = time.perf_counter() - started
    print(json.dumps({"seconds": seconds, "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
