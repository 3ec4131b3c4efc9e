"""A transaction of SQLite's as a `with`: committed at its end, or rolled back."""

from collections.abc import Callable

import apsw


class Transaction:
    """`undone` is called when it was rolled back, or could not be committed.

    Not a generator: those cost more than a whole statement, and every record is written in one of these.
    """

    __slots__ = ("_begin", "_connection", "_undone")

    def __init__(self, connection: apsw.Connection, begin: str, undone: Callable[[], None]) -> None:
        self._connection = connection
        self._begin = begin
        self._undone = undone

    def __enter__(self) -> None:
        self._connection.execute(self._begin)

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self._roll_back()
            return
        try:
            self._connection.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        self._undone()
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
