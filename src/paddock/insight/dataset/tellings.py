"""Runs that several imports tell of: what each of them told, so that one can be replaced without the others.

A run of which one import alone tells has nothing here. What is kept of a run goes with it.
"""

import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import apsw
import msgspec

from paddock.insight.merging import merged
from paddock.insight.trace import Trace

TELLINGS = """
CREATE TABLE IF NOT EXISTS telling(
  run INTEGER NOT NULL,
  source INTEGER NOT NULL,
  trace BLOB NOT NULL,
  UNIQUE(run, source)
) STRICT;
CREATE INDEX IF NOT EXISTS telling_by_source ON telling(source);
CREATE TRIGGER IF NOT EXISTS telling_of_run_that_goes AFTER DELETE ON run BEGIN
  DELETE FROM telling WHERE run=OLD.key;
END;
"""
_DECODER = msgspec.msgpack.Decoder(Trace)


class Joined(NamedTuple):
    """A run before and after it was told of once more."""

    before: Trace
    now: Trace


class Tellings:
    """In the transaction that is open. Keys of sources grow, so the latest import wins where several tell the same."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def note(self, key: int, known: Trace, known_source: int | None, told: Trace, source: int) -> None:
        """`known` is the run before `source` told this of it as well."""
        earlier = self._of(key)
        if not earlier and known_source == source:
            return
        if not earlier:
            self._put(key, known_source or 0, known)
        self._put(key, source, merged(earlier[source], told) if source in earlier else told)

    def withdraw(self, batch: str, put: Callable[[Trace, int], object]) -> None:
        """What an earlier import of the batch told of runs that others tell of too. `put` gets what is left of each,
        and the source that this is from."""
        sql = "SELECT run, source FROM telling WHERE source IN (SELECT key FROM source WHERE batch=?)"
        rows: list[tuple[Any, ...]] = self._db.execute(sql, (batch,)).fetchall()
        for key, source in rows:
            left = self._of(key)
            left.pop(source)
            self._db.execute("DELETE FROM telling WHERE run=? AND (source=? OR ?)", (key, source, len(left) == 1))
            latest, (whole, *others) = max(left), left.values()
            for other in others:
                whole = merged(whole, other)
            put(whole, latest)

    def _of(self, key: int) -> dict[int, Trace]:
        sql = "SELECT source, trace FROM telling WHERE run=? ORDER BY source"
        rows: list[tuple[Any, ...]] = self._db.execute(sql, (key,)).fetchall()
        return {source: _DECODER.decode(zlib.decompress(blob)) for source, blob in rows}

    def _put(self, key: int, source: int, trace: Trace) -> None:
        blob = zlib.compress(msgspec.msgpack.encode(trace), 1)
        self._db.execute("INSERT OR REPLACE INTO telling(run, source, trace) VALUES(?,?,?)", (key, source, blob))
