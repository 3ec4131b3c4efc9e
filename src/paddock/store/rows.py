"""Reading records in pieces: between two of them the database is let go, however slowly they are taken.

A statement left half read, such as that of `paddock log` in a pager, would keep the write-ahead log growing.
"""

from collections.abc import Iterator

import apsw

from paddock.store.codec import Row
from paddock.store.protocol import Query

COLUMNS = "seq, at, actor, generation, kind, task, attempt, body, hash"
_PIECE = 500


def select_rows(connection: apsw.Connection, query: Query) -> Iterator[Row]:
    sql, values = _select(query)
    after = query.after
    while True:
        piece = connection.execute(sql, (after, *values)).fetchall()
        yield from piece  # type: ignore[misc]
        # In a damaged database the last may not come after the first.
        if len(piece) < _PIECE or not after < piece[-1][0]:  # type: ignore[operator]
            return
        after = piece[-1][0]  # type: ignore[assignment]


def _select(query: Query) -> tuple[str, tuple[object, ...]]:
    conditions: list[str] = ["seq > ?"]
    values: list[object] = []
    for condition, value in (
        ("seq <= ?", query.until),
        ("task = ?", query.task),
        ("kind GLOB ?", query.kind),
        ("at >= ?", round(query.since * 1_000_000) if query.since is not None else None),
    ):
        if value is not None:
            conditions.append(condition)
            values.append(value)
    return f"SELECT {COLUMNS} FROM events WHERE {' AND '.join(conditions)} ORDER BY seq LIMIT {_PIECE}", tuple(values)
