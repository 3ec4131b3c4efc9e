"""Stores for the conformance tests. A second implementation adds a factory here and passes the same tests."""

import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import apsw
import pytest

from paddock.store.place import LogPlace
from paddock.store.postgres import PostgresStore
from paddock.store.protocol import Query, Store
from paddock.store.rows import COLUMNS, select_rows
from paddock.store.snapshots import snapshot_path
from paddock.store.sqlite import SqliteStore
from paddock.store.witness import witness_path
from tests.store.memory import MemoryLog, MemoryStore
from tests.store.postgres_session import server_of_session


class Shelf(Protocol):
    """One log that may be opened many times."""

    def open(self, *, read_only: bool = False) -> Store: ...

    def open_empty(self) -> Store:
        """Another log, with no record at all."""
        ...

    def tamper(self, sql: str) -> None:
        """Behind the store's back: the `events` table is the same everywhere."""
        ...

    def remove(self) -> None:
        """As somebody who deletes the repository does."""
        ...

    def spoil_snapshot(self) -> None:
        """Flips a byte in the middle of what is kept of the board."""
        ...

    def forget_witness(self) -> None:
        """Takes away what tells how far the log has come."""
        ...


class SqliteShelf:
    def __init__(self, folder: Path) -> None:
        self.path = folder / "log.db"
        self._times = itertools.count(1_800_000_000)
        self._opened: list[SqliteStore] = []
        self._folder = folder
        self.keep(SqliteStore(self.path, create=True, clock=self.clock))

    def clock(self) -> float:
        return float(next(self._times))

    def keep(self, store: SqliteStore) -> SqliteStore:
        self._opened.append(store)
        return store

    def open(self, *, read_only: bool = False) -> SqliteStore:
        return self.keep(SqliteStore(self.path, read_only=read_only, clock=self.clock))

    def open_empty(self) -> SqliteStore:
        path = self._folder / f"other-{len(self._opened)}" / "log.db"
        return self.keep(SqliteStore(path, create=True, announce=False))

    def tamper(self, sql: str) -> None:
        with apsw.Connection(str(self.path)) as connection:
            connection.execute(sql).fetchall()
        connection.close()

    def remove(self) -> None:
        self.path.unlink()

    def spoil_snapshot(self) -> None:
        spoil(snapshot_path(self.path))

    def forget_witness(self) -> None:
        witness_path(self.path).unlink()

    def close(self) -> None:
        for store in self._opened:
            store.close()


class PostgresShelf:
    """A schema of its own in the database of this process."""

    def __init__(self, folder: Path) -> None:
        self._server = server_of_session()
        self._times = itertools.count(1_800_000_000)
        self._opened: list[PostgresStore] = []
        self._folder = folder
        self.place = self._new_place()
        self.keep(PostgresStore(self.place, create=True, clock=self.clock))

    def _new_place(self) -> LogPlace:
        schema = f"log_{os.urandom(5).hex()}"
        return LogPlace(self._folder / "paddock" / schema, self._server.url(), schema)

    def clock(self) -> float:
        return float(next(self._times))

    def keep(self, store: PostgresStore) -> PostgresStore:
        self._opened.append(store)
        return store

    def open(self, *, read_only: bool = False) -> PostgresStore:
        return self.keep(PostgresStore(self.place, read_only=read_only, clock=self.clock))

    def open_empty(self) -> PostgresStore:
        return self.keep(PostgresStore(self._new_place(), create=True, announce=False))

    def tamper(self, sql: str) -> None:
        for ours, theirs in _IN_POSTGRES:
            sql = sql.replace(ours, theirs)
        with self._server.connect() as connection:
            connection.execute(sql.replace(" events ", f" {self.place.schema}.events ").encode())

    def remove(self) -> None:
        with self._server.connect() as connection:
            connection.execute(f"DROP SCHEMA {self.place.schema} CASCADE".encode())

    def spoil_snapshot(self) -> None:
        spoil(snapshot_path(self.place.file))

    def forget_witness(self) -> None:
        witness_path(self.place.file).unlink()

    def close(self) -> None:
        for store in self._opened:
            store.close()
            with self._server.connect() as connection:
                connection.execute(f"DROP SCHEMA IF EXISTS {store.place.schema} CASCADE".encode())


_IN_POSTGRES = (
    ("CAST(replace(CAST(body AS TEXT),", "convert_to(replace(convert_from(body, 'UTF8'),"),
    (") AS BLOB)", "), 'UTF8')"),
    ("zeroblob(20)", "decode(repeat('00', 20), 'hex')"),
    ("randomblob(20)", "decode(repeat('5e', 20), 'hex')"),
)


def spoil(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x40
    path.write_bytes(content)


class MemoryShelf:
    def __init__(self, _folder: Path) -> None:
        self._times = itertools.count(1_800_000_000)
        self._log = MemoryLog()
        self.open()

    def open(self, *, read_only: bool = False) -> MemoryStore:
        return MemoryStore(self._log, lambda: float(next(self._times)))

    def open_empty(self) -> MemoryStore:
        return MemoryStore(MemoryLog(), announce=False)

    def tamper(self, sql: str) -> None:
        with apsw.Connection(":memory:") as connection:
            connection.execute(f"CREATE TABLE events({COLUMNS})")
            connection.executemany("INSERT INTO events VALUES(?,?,?,?,?,?,?,?,?)", self._log.rows)
            connection.execute(sql).fetchall()
            self._log.rows[:] = select_rows(connection, Query())
        connection.close()

    def remove(self) -> None:
        self._log.is_there = False

    def spoil_snapshot(self) -> None:
        content = bytearray(self._log.snapshot)
        content[len(content) // 2] ^= 0x40
        self._log.snapshot = bytes(content)

    def forget_witness(self) -> None:
        self._log.witness = None

    def close(self) -> None:
        pass


SHELVES: dict[str, Callable[[Path], SqliteShelf | MemoryShelf | PostgresShelf]] = {
    "sqlite": SqliteShelf,
    "memory": MemoryShelf,
    "postgres": PostgresShelf,
}


@pytest.fixture(params=SHELVES)
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shelf]:
    made = SHELVES[request.param](tmp_path)
    yield made
    made.close()


@pytest.fixture
def store(shelf: Shelf) -> Store:
    return shelf.open()
