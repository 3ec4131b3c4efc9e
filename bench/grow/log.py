"""The log in PostgreSQL against bare psycopg that does as little: rows under a locked head, a notification, a commit.

    python -m bench grow [--quick]

Both talk to one server with the settings that Paddock asks for: what is acknowledged is on disk. Prints a table and
writes bench/out/grow.json. `--quick` takes a few of everything and says nothing about goals.
"""

import asyncio
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import psycopg
from tests.store.postgres_server import PostgresServer, find_programs

from bench.history import AUTHOR, added
from bench.log import WRITERS, add_next, per_second
from bench.measure import OUT, Line, print_table, take_turns, write_json
from paddock.core import events as ev
from paddock.store.codec import GENESIS, body_of
from paddock.store.group import GroupWriter
from paddock.store.place import LogPlace
from paddock.store.postgres import PostgresStore
from paddock.store.postgres_schema import create_tables
from paddock.store.protocol import Query

COLUMNS = "seq, at, actor, generation, kind, task, attempt, body, hash"
RAW, OURS = "raw", "ours"
PATIENCE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Sizes:
    appends: int
    wakes: int
    rounds: int


FULL = Sizes(300, 100, 15)
QUICK = Sizes(10, 3, 1)


def main() -> None:
    if sys.argv[1:2] == ["write"]:
        write_when_told(*sys.argv[2:])
        return
    quick = "--quick" in sys.argv[1:]
    programs = find_programs()
    if programs is None:
        sys.exit("error: there is no PostgreSQL here\n\nhint: `make bench` installs one with the locked packages")
    server = PostgresServer(programs)
    try:
        with TemporaryDirectory() as scratch:
            lines = measure(server.url(), Path(scratch), QUICK if quick else FULL)
    finally:
        server.close()
    print_table(f"the log in PostgreSQL{' (quick)' if quick else ''}", lines)
    print(f"\nwritten to {write_json('grow-quick' if quick else 'grow', lines).relative_to(OUT.parent.parent)}")


def measure(url: str, folder: Path, sizes: Sizes) -> list[Line]:
    place = LogPlace(folder / "paddock" / "shared", url, "ours")
    raw, store = RawLog(url), PostgresStore(place, create=True)
    store.append(lambda _: [ev.Draft(ev.ConvoyAdded("convoy-0"))], AUTHOR)
    speeds = take_turns(
        {
            "raw": lambda: raw.singles(sizes.appends),
            "ours": lambda: per_second(sizes.appends, lambda: appends(store, sizes.appends)),
            "raw batched": lambda: raw.batches(sizes.appends // 2),
            "ours grouped": lambda: asyncio.run(grouped(store, sizes.appends // 2)),
        },
        sizes.rounds,
    )
    store.close()
    raw.close()
    with woken(RAW, place) as raw_wake, woken(OURS, place) as our_wake:
        waits = take_turns(
            {
                "raw": lambda: median(raw_wake() for _ in range(sizes.wakes)),
                "ours": lambda: median(our_wake() for _ in range(sizes.wakes)),
            },
            sizes.rounds,
        )
    return [
        Line("raw psycopg, one event a transaction", speeds["raw"], "/s"),
        Line("append, one event a transaction", speeds["ours"], "/s", "raw", speeds["raw"], 0.6, at_least=True),
        Line(f"raw psycopg, {WRITERS} events a transaction", speeds["raw batched"], "/s"),
        Line(
            f"group commit, {WRITERS} asyncio writers", speeds["ours grouped"], "/s",
            "raw batched", speeds["raw batched"], 0.6, at_least=True,
        ),
        Line("raw LISTEN: from the write to its row in another process", waits["raw"], "ms"),
        Line("from the append to its record in another process", waits["ours"], "ms", "raw", waits["raw"], 1 / 0.6),
    ]  # fmt: skip


class RawLog:
    """The same rows in the same tables, in as many journeys to the server, with nobody deciding, folding or hashing."""

    def __init__(self, url: str) -> None:
        self.connection = psycopg.connect(url, autocommit=True)
        create_tables(self.connection, "raw", "")

    def singles(self, count: int) -> float:
        return per_second(count, lambda: self._write(count, 1))

    def batches(self, count: int) -> float:
        return per_second(count * WRITERS, lambda: self._write(count, WRITERS))

    def write_one(self) -> None:
        self._write(1, 1)

    def close(self) -> None:
        self.connection.close()

    def _write(self, transactions: int, each: int) -> None:
        for _ in range(transactions):
            cursor = self.connection.execute("BEGIN; SELECT seq FROM raw.head FOR UPDATE", prepare=False)
            cursor.nextset()
            found = cursor.fetchone()
            assert found is not None
            rows = [_row(found[0] + number) for number in range(1, each + 1)]
            with self.connection.pipeline():
                with self.connection.cursor() as cursor:
                    cursor.executemany(
                        f"INSERT INTO raw.events({COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)", rows
                    )
                self.connection.execute("UPDATE raw.head SET seq = %s, hash = %s", (rows[-1][0], GENESIS))
                self.connection.execute("SELECT pg_notify('raw', '')")
                self.connection.execute("COMMIT")


def _row(seq: int) -> tuple[object, ...]:
    at = time.time_ns() // 1000
    return (seq, at, "bench", 0, "task.added", f"t{seq}", None, body_of(added(1)), GENESIS)


def appends(store: PostgresStore, count: int) -> None:
    for _ in range(count):
        store.append(add_next(), AUTHOR)


async def grouped(store: PostgresStore, each: int) -> float:
    writer = GroupWriter(store)

    async def write() -> None:
        for _ in range(each):
            await writer.append(add_next(), AUTHOR)

    started = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(WRITERS):
            group.create_task(write())
    return WRITERS * each / (time.perf_counter() - started)


class RawReader:
    """Waits for a notification, then selects what is new."""

    def __init__(self, place: LogPlace) -> None:
        self._heard = psycopg.connect(place.url, autocommit=True)
        self._heard.execute("LISTEN raw")
        self._asked = psycopg.connect(place.url, autocommit=True)
        self._seq = 0

    def read_next(self) -> float:
        """When there was something new, by the clock of this machine."""
        while True:
            found = self._asked.execute(f"SELECT {COLUMNS} FROM raw.events WHERE seq > %s", (self._seq,)).fetchall()
            if found:
                self._seq = found[-1][0]
                return time.monotonic()
            select.select([self._heard.fileno()], [], [], PATIENCE_SECONDS)
            self._heard.pgconn.consume_input()
            while self._heard.pgconn.notifies() is not None:
                pass

    def close(self) -> None:
        self._heard.close()
        self._asked.close()


class OurReader:
    def __init__(self, place: LogPlace) -> None:
        self._store = PostgresStore(place, read_only=True)
        self._listener = self._store.listen()
        self._seq = 0

    def read_next(self) -> float:
        seen = 0.0
        while True:
            for record in self._store.records(Query(after=self._seq)):
                self._seq = record.seq
                seen = time.monotonic()
            if seen:
                return seen
            self._listener.wait(PATIENCE_SECONDS)

    def close(self) -> None:
        self._listener.close()
        self._store.close()


@contextmanager
def woken(whose: str, place: LogPlace) -> Iterator[Callable[[], float]]:
    """A function that has another process write, and says after how many milliseconds this one had read it."""
    argv = (sys.executable, "-m", "bench.grow.log", "write", whose, str(place.file.parent.parent / "there"), place.url)
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdin is not None
        assert writer.stdout is not None
        told, answer = writer.stdin, writer.stdout
        answer.readline()
        reader = RawReader(place) if whose == RAW else OurReader(place)
        reader.read_next()

        def wake() -> float:
            told.write(b"\n")
            told.flush()
            seen = reader.read_next()
            return 1000 * (seen - float(answer.readline()))

        yield wake
        reader.close()
        told.close()


def write_when_told(whose: str, folder: str, url: str) -> None:
    """The other process: for each line it reads it writes one record, then says when it began to."""
    raw = RawLog(url)
    store = PostgresStore(LogPlace(Path(folder) / "paddock" / "shared", url, "ours"))
    write = raw.write_one if whose == RAW else lambda: appends(store, 1)
    write()
    os.write(1, b"ready\n")
    for _ in sys.stdin:
        began = time.monotonic()
        write()
        os.write(1, f"{began}\n".encode())
    store.close()
    raw.close()


if __name__ == "__main__":
    main()
