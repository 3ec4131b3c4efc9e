"""What one store knows of its log: folded as far as it has read or written, with the snapshot that spares the next one.

Every store that keeps files beside its log moves forward through this: what others appended is checked against the
hash chain before it is folded, and the last record that is known is looked at again, for it may be gone.
"""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import Record
from paddock.core.ids import printable
from paddock.core.snapshot import encode_board
from paddock.store.apart import WrittenApart
from paddock.store.codec import Row, decode_row, follows
from paddock.store.fold import Fold
from paddock.store.place import LogPlace
from paddock.store.protocol import LogUnusable
from paddock.store.snapshots import drop_snapshot, snapshot_distance, write_snapshot
from paddock.store.witness import Witness

Damaged = Callable[[str], LogUnusable]


class FoldedLog:
    """`rows_from` gives the rows from a number on, that one included; `head` the newest number; `gather` what was
    written apart from the log. `damaged` explains a problem with its records. `started` hears where folding begins.

    `current` is None until the log was read, and after what it held may have been rolled back.
    """

    __slots__ = (
        "_damaged",
        "_gather",
        "_head",
        "_place",
        "_rows_from",
        "_snapshot_after",
        "_snapshot_seq",
        "_started",
        "current",
    )

    def __init__(
        self,
        place: LogPlace,
        rows_from: Callable[[int], Iterator[Row]],
        head: Callable[[], int],
        gather: Callable[[], WrittenApart],
        damaged: Damaged,
        started: Callable[[int], None] = lambda _seq: None,
    ) -> None:
        self._place = place
        self._rows_from = rows_from
        self._head = head
        self._gather = gather
        self._damaged = damaged
        self._started = started
        self._snapshot_seq = self._snapshot_after = 0
        self.current: Fold | None = None

    def forget(self) -> None:
        self.current = None

    def catch_up(self, *, repair: bool = False) -> Fold:
        """Folds what others have appended. To `repair` is to bring lost records back, or to continue without them.

        Raises LogUnusable."""
        fold = self.current if self.current is not None else self._start(repair=repair)
        known = fold.board.seq
        rows = self._rows_from(known)
        try:
            if known and not _is_at(next(rows, None), known, fold.tip):
                raise self._lost_while_open(fold)
            for row in rows:
                record = self.decode(row)
                if not follows(fold.tip, row):
                    raise self._damaged(f"record {row[0]} does not match its hash")
                fold.follow(record)
        except LogUnusable:
            self.forget()
            raise
        except PaddockError as error:
            self.forget()
            raise self._damaged(error.message) from error
        return fold

    def _start(self, *, repair: bool) -> Fold:
        evidence = self._gather()
        if not repair:
            evidence.require_all()
        self.current = evidence.fold()
        self._snapshot_seq = self._snapshot_after = self.current.board.seq
        self._started(self._snapshot_seq)
        return self.current

    def _lost_while_open(self, fold: Fold) -> LogUnusable:
        from paddock.store.loss import LostRecords, log_lost

        board = fold.board
        return log_lost(self._place, LostRecords(self._head(), board.seq, board.at, board.given))

    def decode(self, row: Row) -> Record:
        try:
            return decode_row(row)
        except (msgspec.DecodeError, TypeError, ValueError) as error:
            # SQLite gives NULLs and texts of any length where a page is damaged.
            raise self._damaged(f"record {row[0]} ({printable(str(row[4]), 40)}) cannot be read: {error}") from None

    def snapshot(self) -> None:
        """After the commit and under the writers' lock: a snapshot never knows more than the log."""
        if self.current is not None and self.current.board.seq:
            write_snapshot(self._place.file, self.current)
            self._snapshot_seq = self._snapshot_after = self.current.board.seq

    def is_snapshot_due(self, board: Board) -> bool:
        """Looked at again only when it would be due without the tasks that are added until then."""
        if board.seq <= self._snapshot_after:
            return False
        self._snapshot_after = self._snapshot_seq + snapshot_distance(len(board.tasks))
        return board.seq > self._snapshot_after

    def fold_again(self) -> bool:
        """From the first record on, without the snapshot. True if that had said the same."""
        before = self._encoded()
        drop_snapshot(self._place.file)
        self.forget()
        return encode_board(self.catch_up().board) == before

    def _encoded(self) -> bytes | None:
        """None if the snapshot is such that what follows it cannot fold."""
        try:
            return encode_board(self.catch_up().board)
        except PaddockError:
            return None


def testimony(fold: Fold, rows: Sequence[Row]) -> Witness:
    """`rows` are the last ones; none where their time is only known as the board has it."""
    board = fold.board
    at = rows[-1][1] if rows else round(board.at * 1_000_000)
    return Witness(board.identity, board.seq, fold.tip, at, board.given)


def _is_at(row: object, seq: int, digest: bytes) -> bool:
    return isinstance(row, tuple) and row[0] == seq and row[-1] == digest
