"""The tables of a log in PostgreSQL, the SQL that creates them, and what a role must be granted to use them.

`events` is the log; rows are only ever added. `head` has one row: whoever locks it is the one writer, so numbers are
given in the order in which records become visible. An identity column is not that: its numbers are given before the
commit, and a reader that has seen 7 may not have seen 6. `bulletin` is no part of the log: see `bulletin.py`.
"""

from typing import Any

import psycopg
from psycopg import sql

from paddock.store.rows import COLUMNS

Connection = psycopg.Connection[tuple[Any, ...]]
Sql = bytes
"""A statement that is composed already: psycopg would compose it again every time."""

LAYOUT = 1
OLDEST_SERVER = 120000

_SCHEMA = """\
CREATE SCHEMA {schema};
"""
_TABLES = """\
CREATE TABLE {schema}.events(
  seq bigint PRIMARY KEY,
  at bigint NOT NULL,
  actor text NOT NULL,
  generation bigint NOT NULL,
  kind text NOT NULL,
  task text,
  attempt text,
  body bytea NOT NULL,
  hash bytea NOT NULL
);
CREATE INDEX events_by_task ON {schema}.events(task, seq) WHERE task IS NOT NULL;
CREATE TABLE {schema}.head(
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  layout integer NOT NULL,
  seq bigint NOT NULL,
  hash bytea NOT NULL,
  moved text NOT NULL
);
CREATE TABLE {schema}.bulletin(
  name text PRIMARY KEY,
  version bigint NOT NULL,
  content bytea NOT NULL
);
INSERT INTO {schema}.head(layout, seq, hash, moved) VALUES ({layout}, 0, '', {moved});
"""
_GRANTS = """\
CREATE ROLE {role} LOGIN;  -- and a password, or another way in: see pg_hba.conf
GRANT CONNECT ON DATABASE {database} TO {role};
GRANT USAGE ON SCHEMA {schema} TO {role};
GRANT SELECT, INSERT ON {schema}.events TO {role};
GRANT SELECT, UPDATE ON {schema}.head TO {role};
GRANT SELECT, INSERT, UPDATE, DELETE ON {schema}.bulletin TO {role};
"""


class Statements:
    """Everything that is asked of one schema, with its name quoted and the text composed once."""

    def __init__(self, schema: str) -> None:
        def fill(text: str) -> bytes:
            return sql.SQL(text).format(schema=sql.Identifier(schema)).as_bytes()

        self._schema = schema
        self.channel = channel_of(schema)
        self.lock = fill("BEGIN; SELECT seq, hash, moved FROM {schema}.head FOR UPDATE")
        self.head = fill("SELECT coalesce(max(seq), 0) FROM {schema}.events")
        self.hash_at = fill("SELECT hash FROM {schema}.events WHERE seq = %s")
        self.record = fill(f"SELECT {COLUMNS} FROM {{schema}}.events WHERE seq = %s")
        self.tail = fill(f"SELECT {COLUMNS} FROM {{schema}}.events WHERE seq >= %s ORDER BY seq LIMIT %s")
        insert, move = f"WITH added AS (INSERT INTO {{schema}}.events({COLUMNS})", "UPDATE {schema}.head SET seq = %s"
        tell = f"), moved AS ({move}, hash = %s) SELECT pg_notify(%s, '')"
        self.insert_one = fill(f"{insert} VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s){tell}")
        self.insert = fill(
            f"{insert} SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::bigint[], %s::text[], "
            f"%s::text[], %s::text[], %s::bytea[], %s::bytea[]){tell}"
        )
        self.set_moved = fill("UPDATE {schema}.head SET moved = %s")
        self.size = fill("SELECT pg_total_relation_size(tableoid) FROM {schema}.events LIMIT 1")
        self.standing = fill("SELECT tableoid, moved, layout, seq FROM {schema}.head")

    def select(self, conditions: str) -> bytes:
        """`conditions` are a constant of ours, with %s for each value."""
        text = f"SELECT {COLUMNS} FROM {{schema}}.events WHERE {conditions} ORDER BY seq LIMIT %s"
        return sql.SQL(text).format(schema=sql.Identifier(self._schema)).as_bytes()


def channel_of(schema: str) -> str:
    """One for each log in the database; two long names that share one only wake each other."""
    return f"paddock {schema}"[:63]


def create_tables(connection: Connection, schema: str, moved: str) -> None:
    """All of them or none, unless somebody else has; `moved`: see `LogMoved`. Raises psycopg.Error."""
    name = sql.Identifier(schema)
    with connection.transaction():
        # Two that create the same log at once: the second finds it.
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (channel_of(schema),))
        known = "SELECT to_regnamespace(%s), to_regclass(%s)"
        found = connection.execute(known, (name.as_string(), f"{name.as_string()}.head")).fetchone()
        assert found is not None
        if found[0] is None:
            connection.execute(sql.SQL(_SCHEMA).format(schema=name))
        if found[1] is None:
            connection.execute(_tables(schema, moved))


def _tables(schema: str, moved: str = "") -> sql.Composed:
    return sql.SQL(_TABLES).format(schema=sql.Identifier(schema), layout=sql.Literal(LAYOUT), moved=sql.Literal(moved))


def schema_as_text(schema: str, database: str, role: str) -> str:
    """For a person who reads it, and runs it as the owner of the database."""
    named = {"schema": sql.Identifier(schema), "role": sql.Identifier(role), "database": sql.Identifier(database)}
    begin, grants = sql.SQL(_SCHEMA).format(**named), sql.SQL(_GRANTS).format(**named)
    return "\n".join(part.as_string() for part in (begin, _tables(schema), grants))
