"""Reading records out of PostgreSQL in pieces: between two of them nothing is held on the server."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from paddock.store.codec import Row
from paddock.store.postgres_schema import Sql, Statements
from paddock.store.protocol import Query

Ask = Callable[[Sql, Sequence[object]], list[tuple[Any, ...]]]

PIECE = 1000
_LIKE = str.maketrans({"\\": r"\\", "%": r"\%", "_": r"\_", "*": "%", "?": "_"})


def rows_from(ask: Ask, statements: Statements, seq: int) -> Iterator[Row]:
    """The first piece is small: mostly nothing has been added."""
    limit = 50
    while True:
        piece = ask(statements.tail, (seq, limit))
        yield from piece
        if len(piece) < limit:
            return
        seq, limit = piece[-1][0] + 1, PIECE


def select_rows(ask: Ask, statements: Statements, query: Query) -> Iterator[Row]:
    conditions, values = _conditions(query)
    statement = statements.select(conditions)
    after = query.after
    while True:
        piece = ask(statement, (after, *values, PIECE))
        yield from piece
        if len(piece) < PIECE:
            return
        after = piece[-1][0]


def _conditions(query: Query) -> tuple[str, list[object]]:
    """`kind` is compared as SQLite's GLOB does it: byte by byte, `*` for anything."""
    conditions, values = ["seq > %s"], list[object]()
    for condition, value in (
        ("seq <= %s", query.until),
        ("task = %s", query.task),
        ('kind COLLATE "C" LIKE %s', query.kind.translate(_LIKE) if query.kind is not None else None),
        ("at >= %s", round(query.since * 1_000_000) if query.since is not None else None),
    ):
        if value is not None:
            conditions.append(condition)
            values.append(value)
    return " AND ".join(conditions), values
