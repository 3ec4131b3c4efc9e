"""What a daemon tells of itself beside the log, where the log is shared: small files, for the other machines.

They are hints. Nobody decides by them, so a commit of theirs is not waited for, and one that is lost comes again.
"""

from collections.abc import Collection, Mapping

from psycopg import sql

from paddock.store.place import LogPlace
from paddock.store.postgres_link import Link
from paddock.store.postgres_schema import Connection
from paddock.store.postgres_trouble import Explained

PATIENCE_SECONDS = 5.0


class Bulletin:
    """Of the log at `place`, which is in a database. Each method raises LogUnusable."""

    def __init__(self, place: LogPlace) -> None:
        self._link = Link(place, read_only=False, lock_timeout_seconds=PATIENCE_SECONDS)
        self._explained = Explained(place, PATIENCE_SECONDS)
        self._table = sql.SQL("{}.bulletin").format(sql.Identifier(place.schema))

    def post(self, files: Mapping[str, bytes], removed: Collection[str] = ()) -> None:
        with self._explained:
            connection = self._connection()
            with connection.transaction():
                connection.execute("SET LOCAL synchronous_commit = off")
                for name, content in files.items():
                    connection.execute(self._fill(_POST), (name, content))
                if removed:
                    connection.execute(self._fill("DELETE FROM {table} WHERE name = ANY(%s)"), (list(removed),))

    def read(self, known: Mapping[str, int]) -> tuple[dict[str, int], dict[str, bytes]]:
        """The version of every file that is posted, and what is in those that `known` has not in that version."""
        with self._explained:
            rows = self._connection().execute(self._fill(_READ), (list(known), list(known.values()))).fetchall()
        versions = {name: version for name, version, _ in rows}
        return versions, {name: content for name, _, content in rows if content is not None}

    def close(self) -> None:
        self._link.drop()

    def _connection(self) -> Connection:
        return self._link.get(0.0)

    def _fill(self, text: str) -> sql.Composed:
        return sql.SQL(text).format(table=self._table)


_POST = """INSERT INTO {table} AS old(name, version, content) VALUES (%s, 1, %s)
 ON CONFLICT (name) DO UPDATE SET version = old.version + 1, content = excluded.content"""
_READ = """SELECT posted.name, posted.version, CASE WHEN known.name IS NULL THEN posted.content END
 FROM {table} AS posted LEFT JOIN unnest(%s::text[], %s::bigint[]) AS known(name, version)
 ON posted.name = known.name AND posted.version = known.version"""
