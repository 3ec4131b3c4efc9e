"""The group of several machines: two small tables in a PostgreSQL database that all of them reach.

A lock of the transaction makes changes of one group come one after the other.
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from paddock.core.group.entry import Entry
from paddock.core.group.notes import AccountNote
from paddock.core.ids import printable
from paddock.fleet.group.protocol import GroupChange, GroupState, GroupUnreachable, apply, decode, written

if TYPE_CHECKING:
    from psycopg import Connection

SCHEMA = "paddock_groups"
CONNECT_SECONDS, LOCK_MILLISECONDS = 5, 3000
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_TABLES = f"""
    CREATE SCHEMA IF NOT EXISTS {SCHEMA};
    CREATE TABLE IF NOT EXISTS {SCHEMA}.entries
        (of text NOT NULL, name text NOT NULL, body bytea NOT NULL, PRIMARY KEY (of, name));
    CREATE TABLE IF NOT EXISTS {SCHEMA}.notes
        (of text NOT NULL, name text NOT NULL, body bytea NOT NULL, PRIMARY KEY (of, name));
"""


@dataclass(frozen=True, slots=True)
class PostgresGroup:
    """`url` may name variables of the environment as `${NAME}`."""

    url: str
    name: str

    @property
    def place(self) -> str:
        """Without what may be a password."""
        return printable(re.sub(r"//[^@/]*@", "//…@", self.url), 200)

    def look(self) -> GroupState:
        with self._open() as connection:
            return self._read(connection)

    def change(self, decide: Callable[[GroupState], GroupChange]) -> GroupState:
        with self._open() as connection:
            connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"{SCHEMA}/{self.name}",))
            state = self._read(connection)
            change = decide(state)
            if not change.is_nothing:
                _require_tables(connection)
                self._write(connection, change)
            return apply(state, change)

    def _read(self, connection: "Connection[tuple[object, ...]]") -> GroupState:
        if not _has_tables(connection):
            return GroupState()
        entries = decode(Entry, self._rows(connection, "entries"), self.place)
        notes = decode(AccountNote, self._rows(connection, "notes"), self.place)
        return GroupState(cast("dict[str, Entry]", entries), cast("dict[str, AccountNote]", notes))

    def _rows(self, connection: "Connection[tuple[object, ...]]", table: str) -> dict[str, bytes]:
        found = connection.execute(f"SELECT name, body FROM {SCHEMA}.{table} WHERE of=%s", (self.name,))
        return {str(name): bytes(cast("bytes", body)) for name, body in found}

    def _write(self, connection: "Connection[tuple[object, ...]]", change: GroupChange) -> None:
        with connection.cursor() as cursor:
            for table, rows in written(change):
                insert = (
                    f"INSERT INTO {SCHEMA}.{table} VALUES (%s, %s, %s) "
                    "ON CONFLICT (of, name) DO UPDATE SET body=excluded.body"
                )
                cursor.executemany(insert, [(self.name, *row) for row in rows])
            for name in change.dropped:
                cursor.execute(f"DELETE FROM {SCHEMA}.entries WHERE of=%s AND name=%s", (self.name, name))

    @contextmanager
    def _open(self) -> Iterator["Connection[tuple[object, ...]]"]:
        """One transaction: committed at the end, rolled back where something is raised."""
        try:
            import psycopg
        except ImportError:
            raise GroupUnreachable(
                f"the group is in a database (`{self.place}`), and its driver is not installed",
                "install it with `pip install 'paddock[postgres]'`",
            ) from None
        try:
            options = f"-c lock_timeout={LOCK_MILLISECONDS} -c statement_timeout={2 * LOCK_MILLISECONDS}"
            with psycopg.connect(_expanded(self.url), connect_timeout=CONNECT_SECONDS, options=options) as connection:
                yield connection
        except psycopg.Error as error:
            words = printable(" ".join(str(error).split()), 300)
            raise GroupUnreachable(
                f"the database of the group (`{self.place}`) cannot be used: {words}",
                "start it, or correct `url` in the group's file",
            ) from error


def _has_tables(connection: "Connection[tuple[object, ...]]") -> bool:
    row = connection.execute("SELECT to_regclass(%s) IS NOT NULL", (f"{SCHEMA}.notes",)).fetchone()
    return row is not None and bool(row[0])


def _require_tables(connection: "Connection[tuple[object, ...]]") -> None:
    """Made under a lock of their own: two groups may begin at the same moment."""
    if not _has_tables(connection):
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (SCHEMA,))
        connection.execute(_TABLES)


def _expanded(url: str) -> str:
    """Raises GroupUnreachable for a variable that is not set."""

    def value(found: re.Match[str]) -> str:
        if (known := os.environ.get(found[1])) is None:
            raise GroupUnreachable(
                f"`url` of the group names `${{{found[1]}}}`, which is not set", f"set the variable `{found[1]}`"
            )
        return known

    return _VARIABLE.sub(value, url)
