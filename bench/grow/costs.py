"""What the capacity model multiplies and one machine can measure alone: following a log, holding a board, pushing.

    python -m bench.grow.costs [--quick]

Prints each beside the number in bench/grow/constants.py, and writes bench/out/costs.json. Processor time counts.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.grow import constants as of
from bench.history import append, write_history
from bench.measure import Line, print_table, write_json
from paddock.core import events as ev
from paddock.core.ids import attempt_id, task_id
from paddock.store.sqlite import SqliteStore

BATCH = 10
EVENTS_PER_TASK = 12
_MEMORY = """
import gc, sys, psutil
from pathlib import Path
from paddock.store.sqlite import SqliteStore
before = psutil.Process().memory_info().rss
board = SqliteStore(Path(sys.argv[1]), read_only=True).board()
gc.collect()
print(psutil.Process().memory_info().rss - before)
"""


@dataclass(frozen=True, slots=True)
class Sizes:
    events: int
    live: int
    tasks: tuple[int, int]
    refs: tuple[int, int]
    pushes: int


FULL = Sizes(10_000, 10_000, (5_000, 20_000), (1_000, 100_000), 5)
QUICK = Sizes(50, 20, (100, 200), (5, 50), 1)


def main() -> None:
    quick = "--quick" in sys.argv[1:]
    sizes = QUICK if quick else FULL
    with TemporaryDirectory() as folder:
        # A log keeps its witness beside its folder.
        inner = Path(folder) / "here"
        inner.mkdir()
        lines = [*measure_log(inner, sizes), *measure_remote(inner, sizes)]
    print_table("What the capacity model multiplies (against: bench/grow/constants.py)", lines)
    print(f"\n{write_json('costs-quick' if quick else 'costs', lines)}")


def measure_log(folder: Path, sizes: Sizes) -> list[Line]:
    small, large = (_board_bytes(folder / f"{count}.db", count) for count in sizes.tasks)
    per_task = (large - small) / (sizes.tasks[1] - sizes.tasks[0])
    return [
        _line("to follow one event", _follow(folder / "followed.db", sizes.events), 1e6, "µs", of.FOLLOW_SECONDS),
        _line("one look at a live attempt", _pass(folder / "live.db", sizes.live), 1e6, "µs", of.PASS_SECONDS),
        _line("a finished task in memory", per_task, 1, "B", of.BYTES_PER_FINISHED_TASK),
    ]


def measure_remote(folder: Path, sizes: Sizes) -> list[Line]:
    few, many = (_push_seconds(folder / f"remote-{count}", count, sizes.pushes) for count in sizes.refs)
    per_ref = (many - few) / (sizes.refs[1] - sizes.refs[0])
    return [
        _line("a push, both sides", few, 1e3, "ms", of.PUSH_SECONDS),
        _line("the same, per ref at the remote, both sides", per_ref, 1e6, "µs", 2 * of.PUSH_SECONDS_PER_REF),
    ]


def _line(name: str, value: float, factor: float, unit: str, known: float) -> Line:
    return Line(name, value * factor, unit, "the model's", known * factor)


def _cpu(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def _follow(path: Path, events: int) -> float:
    """In the reader, which looks after every few."""
    writer, reader = SqliteStore(path, create=True), SqliteStore(path, read_only=True)
    reader.board()
    drafts = [ev.Draft(_task(number), task=task_id(number)) for number in range(1, events + 1)]
    spent = 0.0
    for start in range(0, events, BATCH):
        append(writer, drafts[start : start + BATCH])
        spent += _cpu(reader.board)
    writer.close()
    reader.close()
    return spent / events


def _pass(path: Path, live: int) -> float:
    store = SqliteStore(path, create=True)
    append(store, [ev.Draft(_task(number), task=task_id(number)) for number in range(1, live + 1)])
    started = ev.AttemptStarted(engine="claude", base="a" * 40, branch="paddock/t", host="n1", worktree="/w")
    names = [task_id(number) for number in range(1, live + 1)]
    append(store, [ev.Draft(started, task=name, attempt=attempt_id(name, 1)) for name in names])
    board = store.board()
    spent = _cpu(lambda: [board.tasks[name].live_attempt for _ in range(5) for name in list(board.live)])
    store.close()
    return spent / (5 * len(board.live))


def _task(number: int) -> ev.TaskAdded:
    return ev.TaskAdded(title=f"Make part {number} of the parser faster", brief="Measure before and after.")


def _board_bytes(path: Path, tasks: int) -> float:
    path.parent.mkdir(exist_ok=True)
    write_history(path, tasks, tasks * EVENTS_PER_TASK)
    done = subprocess.run([sys.executable, "-c", _MEMORY, path], capture_output=True, text=True, check=True)
    return float(done.stdout)


def _push_seconds(folder: Path, refs: int, pushes: int) -> float:
    """Of the push and of what receives it."""
    remote, top = folder / "remote.git", folder / "app"
    folder.mkdir()
    for words in (("init", "-q", "--bare", str(remote)), ("init", "-q", str(top))):
        _git(folder, *words)
    _git(top, "commit", "-q", "--allow-empty", "-m", "First")
    _git(top, "push", "-q", str(remote), "HEAD:refs/heads/main")
    head = _git(top, "rev-parse", "HEAD").strip()
    names = "".join(f"create refs/paddock/nodes/x/attempts/t{number}.1 {head}\n" for number in range(refs))
    _git(remote, "update-ref", "--stdin", given=names)
    _git(remote, "pack-refs", "--all")
    before = os.times()
    for number in range(pushes):
        _git(top, "push", "-q", str(remote), f"HEAD:refs/paddock/nodes/x/attempts/new{number}")
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return spent / pushes


def _git(folder: Path, *words: str, given: str = "") -> str:
    names = {
        f"GIT_{role}_{key}": "bench@example.invalid" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")
    }
    done = subprocess.run(
        ("git", *words),
        cwd=folder,
        input=given,
        env={**os.environ, **names},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


if __name__ == "__main__":
    main()
