"""The log and the commands that read it, against raw SQLite and a bare interpreter.

    python -m bench.log [--quick]

Prints a table and writes bench/out/log.json. `--quick` takes a tenth of the tasks and says nothing about goals.
"""

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw

from bench.history import AUTHOR, added, write_history
from bench.measure import OUT, Line, print_table, take_turns, wall_seconds, write_json
from bench.runtime import make_runtime
from paddock.core import events as ev
from paddock.core.ids import task_id
from paddock.store.codec import GENESIS, body_of, chain
from paddock.store.group import GroupWriter
from paddock.store.protocol import Decide
from paddock.store.schema import connect, create_log
from paddock.store.sqlite import SqliteStore

WRITERS = 8
LISTED = "phase=ready,running and agent=fixer"
"""A filter for which the board has a list of all tasks that can match."""
UNLISTED = "cost>100 or (outcome=crash* and label=area/*) or nowhere"
"""One that looks at every task, in every field that is searched."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Of the histories that are read, and how often each thing is measured; `appends` are one round's."""

    tasks: int
    few_tasks: int
    events: int
    few_events: int
    appends: int
    append_rounds: int
    status_rounds: int


FULL = Sizes(10_000, 1_000, 1_000_000, 10_000, 200, 15, 25)
QUICK = Sizes(1_000, 200, 3_000, 1_500, 10, 1, 1)


def main() -> None:
    quick = "--quick" in sys.argv[1:]
    sizes = QUICK if quick else FULL
    OUT.mkdir(exist_ok=True)
    with TemporaryDirectory(dir=OUT, prefix="log-") as scratch:
        folder = Path(scratch)
        lines = [*append_lines(folder, sizes), *status_lines(folder, sizes)]
    print_table(f"the log{' (quick)' if quick else ''}", lines)
    print(f"\nwritten to {write_json('log-quick' if quick else 'log', lines).relative_to(OUT.parent.parent)}")


def append_lines(folder: Path, sizes: Sizes) -> list[Line]:
    raw, store = RawLog(folder / "raw.db"), SqliteStore(folder / "ours" / "log.db", create=True)
    start_convoy(store)
    speeds = take_turns(
        {
            "raw": lambda: raw.singles(sizes.appends),
            "ours": lambda: singles(store, sizes.appends),
            "raw batched": lambda: raw.batches(sizes.appends // 2),
            "ours grouped": lambda: asyncio.run(grouped(store, sizes.appends // 2)),
        },
        sizes.append_rounds,
    )
    store.close()
    raw.close()
    return [
        Line("raw SQLite, one event a transaction", speeds["raw"], "/s"),
        Line("append, one event a transaction", speeds["ours"], "/s", "raw", speeds["raw"], 0.6, at_least=True),
        Line(f"raw SQLite, {WRITERS} events a transaction", speeds["raw batched"], "/s"),
        Line(
            f"group commit, {WRITERS} asyncio writers", speeds["ours grouped"], "/s",
            "raw batched", speeds["raw batched"], 0.5, at_least=True,
        ),
    ]  # fmt: skip


class RawLog:
    """The same rows in the same table, with nobody deciding, folding or hashing."""

    def __init__(self, path: Path) -> None:
        create_log(path)
        self._db: apsw.Connection = connect(path, read_only=False, busy_seconds=15.0)
        self._seq = 0

    def singles(self, count: int) -> float:
        return per_second(count, lambda: self._insert(count, 1))

    def batches(self, count: int) -> float:
        return per_second(count * WRITERS, lambda: self._insert(count, WRITERS))

    def close(self) -> None:
        self._db.close()

    def _insert(self, transactions: int, each: int) -> None:
        for _ in range(transactions):
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany(
                "INSERT INTO events(seq, at, actor, generation, kind, task, attempt, body, hash) "
                "VALUES(?,?,?,?,?,?,?,?,?)",
                [self._row() for _ in range(each)],
            )
            self._db.execute("COMMIT")

    def _row(self) -> tuple[object, ...]:
        self._seq += 1
        body = body_of(added(1))
        return (self._seq, time.time_ns() // 1000, "bench", 0, "task.added", f"t{self._seq}", None, body, GENESIS)


def start_convoy(store: SqliteStore) -> None:
    store.append(lambda _: [ev.Draft(ev.ConvoyAdded("convoy-0"))], AUTHOR)


def add_next() -> Decide:
    return lambda board: [ev.Draft(added(1), task=task_id(board.next_task))]


def singles(store: SqliteStore, count: int) -> float:
    def run() -> None:
        for _ in range(count):
            store.append(add_next(), AUTHOR)

    return per_second(count, run)


async def grouped(store: SqliteStore, each: int) -> float:
    writer = GroupWriter(store)

    async def write() -> None:
        for _ in range(each):
            await writer.append(add_next(), AUTHOR)

    started = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(WRITERS):
            group.create_task(write())
    return WRITERS * each / (time.perf_counter() - started)


def per_second(count: int, run: Callable[[], None]) -> float:
    started = time.perf_counter()
    run()
    return count / (time.perf_counter() - started)


def status_lines(folder: Path, sizes: Sizes) -> list[Line]:
    tasks, few, many, fewer = sizes.tasks, sizes.few_tasks, sizes.events, sizes.few_events
    command = make_runtime(folder / "runtime")
    python = str(command.with_name("python"))
    full = make_repository(folder / "full", tasks, many)
    tops = {
        "open": make_repository(folder / "open", tasks, tasks),
        "short": make_repository(folder / "short", few, fewer),
        "long": make_repository(folder / "long", few, many),
        "full": full,
    }
    subjects = {name: timed_status(command, top) for name, top in tops.items()}
    subjects |= {text: timed_status(command, full, "--where", text) for text in (LISTED, UNLISTED)}
    subjects["pass"] = lambda: 1000 * wall_seconds([python, "-c", "pass"], folder)
    subjects["help"] = lambda: 1000 * wall_seconds([str(command), "--help"], folder)
    took = take_turns(subjects, sizes.status_rounds)
    bare, word = took["pass"], "python -c pass"
    records, rebuild = rebuild_seconds(log_of(full))
    size = sum(path.stat().st_size for path in log_of(full).parent.glob("log.db*"))
    return [
        Line(word, bare, "ms"),
        Line("paddock --help", took["help"], "ms", word, bare, 6),
        Line(f"status, {tasks:,} tasks, {many:,} events", took["full"], "ms", word, bare, 8),
        Line(f"status, {tasks:,} tasks, all of them open", took["open"], "ms", word, bare, 8),
        Line(f"status, {few:,} tasks, {fewer:,} events", took["short"], "ms", word, bare),
        Line(f"status, {few:,} tasks, {many:,} events", took["long"], "ms", f"{fewer:,} events", took["short"], 1.3),
        Line(f"status --where '{LISTED}', {tasks:,} tasks", took[LISTED], "ms", "status", took["full"], 1.5),
        Line(f"status --where '{UNLISTED}', {tasks:,} tasks", took[UNLISTED], "ms", "status", took["full"], 4),
        Line(f"rebuild of {records:,} events", rebuild, "s", "", None, 20),
        Line("bytes per event on disk", size / records, "B"),
        Line("hash chain alone, per event", hash_microseconds(), "us"),
    ]


def timed_status(command: Path, top: Path, *options: str) -> Callable[[], float]:
    return lambda: 1000 * wall_seconds([str(command), "status", *options], top)


def make_repository(top: Path, tasks: int, events: int) -> Path:
    subprocess.run(("git", "init", "--quiet", str(top)), check=True, cwd=top.parent)
    log = log_of(top)
    log.parent.mkdir(parents=True)
    write_history(log, tasks, events)
    return top


def log_of(top: Path) -> Path:
    return top / ".git" / "paddock" / "log.db"


def rebuild_seconds(log: Path) -> tuple[int, float]:
    store = SqliteStore(log)
    started = time.perf_counter()
    assert store.rebuild(), "the snapshot had been wrong"
    seconds = time.perf_counter() - started
    head = store.head()
    store.close()
    return head, seconds


def hash_microseconds(count: int = 20_000) -> float:
    row = (1, 1_800_000_000_000_000, "bench", 0, "task.added", "t1", None, body_of(added(1)))
    started = time.perf_counter()
    for _ in range(count):
        chain(GENESIS, row)
    return (time.perf_counter() - started) / count * 1e6


if __name__ == "__main__":
    main()
