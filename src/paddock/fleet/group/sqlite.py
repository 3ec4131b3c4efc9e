"""The group of one machine: a small SQLite file among the user's own, reached by every daemon of that user.

It is opened for each call, so that a file which was moved, removed or restored is seen at once. Whoever is killed in
the middle of a change leaves nothing of it.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import apsw

from paddock.core.group.entry import Entry
from paddock.core.group.notes import AccountNote
from paddock.core.ids import printable
from paddock.fleet.group.protocol import GroupChange, GroupState, GroupUnreachable, apply, decode, written

BUSY_MILLISECONDS = 3000
APPLICATION_ID = 0x50444752
SCHEMA = 1
_TABLES = f"""
    CREATE TABLE entries (name TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE notes (name TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
    PRAGMA application_id={APPLICATION_ID};
    PRAGMA user_version={SCHEMA};
"""


@dataclass(frozen=True, slots=True)
class SqliteGroup:
    path: Path

    @property
    def place(self) -> str:
        return str(self.path)

    def look(self) -> GroupState:
        if not self.path.exists():
            return GroupState()
        with self._open(apsw.SQLITE_OPEN_READWRITE) as connection:
            connection.execute("BEGIN")
            return self._read(connection)

    def change(self, decide: Callable[[GroupState], GroupChange]) -> GroupState:
        with self._explained():
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._open(apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE) as connection:
            connection.execute("BEGIN IMMEDIATE")
            state = self._read(connection)
            change = decide(state)
            if not change.is_nothing:
                if not _version(connection):
                    connection.execute(_TABLES)
                _write(connection, change)
                connection.execute("COMMIT")
            return apply(state, change)

    def _read(self, connection: apsw.Connection) -> GroupState:
        version = _version(connection)
        if not version:
            return GroupState()
        if version > SCHEMA:
            raise GroupUnreachable(
                f"`{self.path}` has table layout {version}; this Paddock knows up to {SCHEMA}",
                "upgrade: `pip install --upgrade paddock`",
            )
        entries = decode(Entry, dict(connection.execute("SELECT name, body FROM entries")), self.place)
        notes = decode(AccountNote, dict(connection.execute("SELECT name, body FROM notes")), self.place)
        return GroupState(cast("dict[str, Entry]", entries), cast("dict[str, AccountNote]", notes))

    @contextmanager
    def _open(self, flags: int) -> Iterator[apsw.Connection]:
        """What is left open when it is closed is rolled back."""
        with self._explained():
            _require_file(self.path)
            connection = apsw.Connection(str(self.path), flags=flags)
            try:
                connection.set_busy_timeout(BUSY_MILLISECONDS)
                connection.execute("PRAGMA synchronous=FULL")
                yield connection
            finally:
                with suppress(apsw.Error):
                    connection.close(force=True)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (apsw.Error, OSError) as error:
            raise _explain(error, self.path) from error


def _version(connection: apsw.Connection) -> int:
    return int(cast("int", connection.pragma("user_version")))


def _write(connection: apsw.Connection, change: GroupChange) -> None:
    for table, rows in written(change):
        connection.executemany(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", rows)
    connection.executemany("DELETE FROM entries WHERE name=?", [(name,) for name in change.dropped])


def _require_file(path: Path) -> None:
    """SQLite would wait at a pipe for somebody to write to it."""
    if path.exists() and not path.is_file():
        raise GroupUnreachable(f"`{path}` is not a file", f"move it away: `mv {path} {path}.bad`")


def _explain(error: apsw.Error | OSError, path: Path) -> GroupUnreachable:
    shown = printable(str(path), 1000)
    match error:
        case apsw.CorruptError() | apsw.NotADBError():
            return GroupUnreachable(
                f"`{shown}` is damaged: {error}",
                f"move it away (`mv '{shown}' '{shown}.bad'`): running daemons write it again at once",
            )
        case apsw.BusyError() | apsw.LockedError():
            return GroupUnreachable(
                f"`{shown}` is locked by another program", f"find it with `fuser -v '{shown}'` and end it"
            )
        case apsw.FullError():
            return GroupUnreachable(f"the disk of `{shown}` is full", "free some space; it is tried again")
        case apsw.Error():
            return GroupUnreachable(
                f"`{shown}` cannot be used: {error}", f"check it: `ls -ld '{os.path.dirname(shown)}' '{shown}'`"
            )
        case _:
            return GroupUnreachable(
                f"`{shown}` cannot be reached: {error.strerror or error}", "give your user read and write access to it"
            )
