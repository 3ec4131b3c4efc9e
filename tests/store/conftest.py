"""Stores for the conformance tests. A second implementation adds a factory here and passes the same tests."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import apsw
import pytest

from paddock.store.protocol import Store
from paddock.store.snapshots import snapshot_path
from paddock.store.sqlite import SqliteStore


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
        path = snapshot_path(self.path)
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 0x40
        path.write_bytes(content)

    def close(self) -> None:
        for store in self._opened:
            store.close()


SHELVES: dict[str, Callable[[Path], SqliteShelf]] = {"sqlite": SqliteShelf}


@pytest.fixture(params=SHELVES)
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shelf]:
    made = SHELVES[request.param](tmp_path)
    yield made
    made.close()


@pytest.fixture
def store(shelf: Shelf) -> Store:
    return shelf.open()
