"""The embedded log: one SQLite file in the repository's git common directory."""

import time
from _thread import get_ident  # `threading` is a millisecond that every command would wait
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import Record
from paddock.core.ids import printable
from paddock.core.snapshot import encode_board
from paddock.store.apart import WrittenApart, head_of
from paddock.store.codec import Row, decode_row, follows
from paddock.store.fold import Decisions, Fold, Results, append_group
from paddock.store.identity import begin_log
from paddock.store.lock import WritersLock
from paddock.store.protocol import Author, Decide, Listener, LogUnusable, Query
from paddock.store.rows import COLUMNS, select_rows
from paddock.store.schema import INSERT, connect, create_log
from paddock.store.snapshots import drop_snapshot, snapshot_distance, write_snapshot
from paddock.store.transaction import Transaction
from paddock.store.trouble import Explained, damaged
from paddock.store.wake import listen, nudge
from paddock.store.wal import WriteAheadLog
from paddock.store.witness import Witness, WitnessFile, read_witness

if TYPE_CHECKING:
    import apsw

    from paddock.store.loss import LostRecords
    from paddock.store.verification import Verification

_FROM = f"SELECT {COLUMNS} FROM events WHERE seq>=? ORDER BY seq"
LOCK_TIMEOUT_SECONDS = 15.0
_PADDOCK = Author("paddock")


class SqliteStore:
    """`clock` gives seconds since the epoch.

    `create` makes the log if there is none and never was; without `announce` it stays empty, for a mirror to fill,
    and takes the place of one that is gone. `labelled`: see `LogCreated`.
    """

    def __init__(
        self,
        path: Path,
        *,
        create: bool = False,
        announce: bool = True,
        labelled: bool = False,
        read_only: bool = False,
        clock: Callable[[], float] = time.time,
        lock_timeout_seconds: float | None = None,
    ) -> None:
        self.path = path
        self._clock = clock
        self._lock_timeout = LOCK_TIMEOUT_SECONDS if lock_timeout_seconds is None else lock_timeout_seconds
        self._explained = Explained(path)
        self._fold: Fold | None = None
        self._seen_version = -1
        self._snapshot_seq = self._snapshot_after = 0
        self._witness = WitnessFile(path)
        self._wrote = False
        self._writers: WritersLock | None = None
        self._thread = get_ident()
        begin = begin_log(labelled=labelled)
        try:
            with self._explained:
                if create:
                    self._create(begin, announce=announce)
                self._open(read_only=read_only)
        except BaseException:
            self._release()
            raise
        if create and announce and self.head() == 0:
            self.append(begin, _PADDOCK)

    def _create(self, begin: Decide, *, announce: bool) -> None:
        """A log with its first record, or an empty one for a mirror to fill: killed anywhere, it is there or not."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.exists():
            return
        self._writers = WritersLock(self.path, self._lock_timeout)
        with self._locked():
            if self.path.exists():
                return
            if not announce:
                create_log(self.path)
                return
            self._refuse_gone()
            fold = Fold()
            _, rows = fold.write([(begin, _PADDOCK)], self._clock)
            create_log(self.path, rows)
            self._witness.note(_testimony(fold, rows))
            self._wrote = True

    def _open(self, *, read_only: bool) -> None:
        if not self.path.exists():
            self._refuse_gone()
            raise LogUnusable(f"there is no log at `{self.path}`", "run `paddock init` in this repository")
        if not read_only and self._writers is None:
            self._writers = WritersLock(self.path, self._lock_timeout)
        self._connection = connect(self.path, read_only=read_only, busy_seconds=self._lock_timeout)
        self._wal = WriteAheadLog(self.path, self._connection, read_only=read_only, busy_seconds=self._lock_timeout)

    def _refuse_gone(self) -> None:
        """The log is looked for once more: somebody may have made it a moment ago."""
        if (witness := read_witness(self.path)) is None or self.path.exists():
            return
        from paddock.store.loss import log_gone

        raise log_gone(self.path, witness)

    def listen(self) -> Listener:
        return listen(self.path)

    def exists(self) -> bool:
        return self._wal.is_in_place()

    def close(self) -> None:
        if self._wrote:
            self._wrote = False
            self._leave_settled()
        self._wal.close()
        self._connection.close()
        self._release()

    def _leave_settled(self) -> None:
        """Best effort: what was to be recorded is recorded, and whoever writes next settles it."""
        with suppress(LogUnusable), self._explained:
            self._locked().require_own()
            self._wal.require_sound(self._fold)
            self._wal.checkpoint(self._fold)
            if self._witness.is_in_place():
                self._witness.sync()
            elif self._fold is not None:
                self._put_witness_back(self._fold)

    def _put_witness_back(self, fold: Fold) -> None:
        """Unless a person has accepted meanwhile that what it tells of is lost. Raises LogUnusable."""
        with self._locked():
            self._wal.read_back(fold)
            self._witness.sync()

    def _release(self) -> None:
        self._witness.close()
        if self._writers is not None:
            self._writers.close()
            self._writers = None

    def append(self, decide: Decide, author: Author) -> list[Record]:
        (result,) = self.append_all([(decide, author)])
        if isinstance(result, PaddockError):
            raise result
        return result

    def append_all(self, decisions: Decisions) -> Results:
        return append_group(self._transact, decisions)

    def _transact(self, decisions: Decisions) -> Results:
        """SQLite's version of the data is another one once anybody else has written."""
        with self._explained:
            with self._locked():
                with self._transaction("BEGIN IMMEDIATE"):
                    fold = self._fold
                    if fold is None or self._connection.data_version() != self._seen_version:
                        fold = self._catch_up()
                    results, rows = fold.write(decisions, self._clock)
                    self._connection.executemany(INSERT, rows)
                self._seen_version = self._connection.data_version()
                if rows:
                    self._witness.note(_testimony(fold, rows))
                    self._wal.have_committed(fold)
                    self._wrote = True
                if fold.board.seq > self._snapshot_after and self._is_snapshot_due(fold.board):
                    self._snapshot()
            if rows:
                nudge(self.path)
        return results

    def settle(self) -> bool:
        fold = self._fold
        if fold is None or self._wal.settled == fold.board.seq or self._writers is None:
            return True
        with self._explained, self._locked():
            self._wal.require_sound(fold)
            self._wal.read_back(fold)
            self._wal.checkpoint(fold)
            self._witness.sync()
        return self._wal.settled == fold.board.seq

    def board(self) -> Board:
        with self._explained, self._transaction("BEGIN"):
            return self._catch_up().board

    def known(self) -> Board:
        self._require_own_thread()
        return self._fold.board if self._fold is not None else self.board()

    @property
    def _db(self) -> "apsw.Connection":
        self._require_own_thread()
        return self._connection

    def _require_own_thread(self) -> None:
        """A bug in the caller, so loud: what two threads read and fold at once is nobody's log."""
        if get_ident() != self._thread:
            raise RuntimeError(f"the log `{self.path}` was opened by another thread: read what you need there")

    def head(self) -> int:
        with self._explained:
            return head_of(self._db)

    def record(self, seq: int) -> Record:
        with self._explained:
            rows = self._db.execute(f"SELECT {COLUMNS} FROM events WHERE seq=?", (seq,)).fetchall()
        if not rows:
            raise LogUnusable(f"the log has no record {seq}", "run `paddock log verify`")
        return self._decode(rows[0])  # type: ignore[arg-type]

    def records(self, query: Query) -> Iterator[Record]:
        with self._explained:
            for row in select_rows(self._db, query):
                yield self._decode(row)

    def rows(self, after: int = 0) -> Iterator[Row]:
        """Records as stored, for mirrors and verification."""
        with self._explained:
            yield from select_rows(self._db, Query(after=after))

    def verify(self) -> "Verification":
        from paddock.store.verification import verify_log  # here because few commands verify

        return verify_log(self.path, self.rows())

    def loss(self) -> "LostRecords | None":
        with self._explained, self._transaction("BEGIN"):
            return self._written_apart().loss()

    def accept_loss(self, author: Author, reason: str = "") -> "LostRecords | None":
        """Killed halfway, it is done again: what is accepted counts once the witness is replaced."""
        from paddock.core.intent.loss import accept_loss

        with self._explained, self._locked():
            with self._transaction("BEGIN IMMEDIATE"):
                if (loss := self._written_apart().loss()) is None:
                    return None
                self.forget()
                drop_snapshot(self.path)
                fold = self._catch_up(repair=True)
                accept = partial(accept_loss, last=loss.last, given=loss.given, reason=reason)
                _, rows = fold.write([(accept, author)], self._clock)
                self._db.executemany(INSERT, rows)
            self._witness.replace(_testimony(fold, rows))
            self._snapshot()
        nudge(self.path)
        return loss

    def rebuild(self) -> bool:
        with self._explained, self._locked():
            with self._transaction("BEGIN IMMEDIATE"):
                self._written_apart().require_all()
                before = self._encoded_board()
                drop_snapshot(self.path)
                self.forget()
                same = encode_board(self._catch_up().board) == before
            self._snapshot()
        return same

    def _encoded_board(self) -> bytes | None:
        """None if the snapshot is such that what follows it cannot fold."""
        try:
            return encode_board(self._catch_up().board)
        except PaddockError:
            return None

    def restore(self, rows: Iterable[Row]) -> int:
        with self._explained, self._locked():
            with self._transaction("BEGIN IMMEDIATE"):
                evidence = self._written_apart()
                fold, row = self._catch_up(repair=True), None
                first = fold.board.seq
                for row in rows:
                    fold.require_next(row)
                    fold.follow(self._decode(row))
                    self._db.execute(INSERT, row)
                lost = evidence.missing_from(fold)
            if lost is not None:
                self.forget()
            elif row is not None:
                self._witness.note(_testimony(fold, [row]))
            self._wrote = True
            self._snapshot()
        nudge(self.path)
        return fold.board.seq - first

    def _decode(self, row: Row) -> Record:
        try:
            return decode_row(row)
        except (msgspec.DecodeError, TypeError, ValueError) as error:
            # SQLite gives NULLs and texts of any length where a page is damaged.
            raise damaged(
                self.path, f"record {row[0]} ({printable(str(row[4]), 40)}) cannot be read: {error}"
            ) from None

    def _locked(self) -> WritersLock:
        assert self._writers is not None, "opened to be read only"
        return self._writers

    def _catch_up(self, *, repair: bool = False) -> Fold:
        """Folds what others have appended. Call it inside a transaction.

        The last record that is known is looked at too: it may be gone. To `repair` is to bring lost records back, or
        to continue without them.
        """
        fold = self._fold if self._fold is not None else self._start(repair=repair)
        known = fold.board.seq
        rows = self._connection.execute(_FROM, (known,))
        try:
            if known and not _is_at(next(rows, None), known, fold.tip):
                raise self._lost_while_open(fold)
            for row in rows:
                record = self._decode(row)
                if not follows(fold.tip, row):
                    raise damaged(self.path, f"record {row[0]} does not match its hash")
                fold.follow(record)
        except LogUnusable:
            self.forget()
            raise
        except PaddockError as error:
            self.forget()
            raise damaged(self.path, error.message) from error
        return fold

    def _start(self, *, repair: bool = False) -> Fold:
        evidence = self._written_apart()
        if not repair:
            evidence.require_all()
        self._fold = evidence.fold()
        self._snapshot_seq = self._snapshot_after = self._fold.board.seq
        self._wal.read_back_after(self._fold.board.seq)
        return self._fold

    def _written_apart(self) -> WrittenApart:
        return WrittenApart(self.path, self._db, mapped=self._writers is None)

    def _lost_while_open(self, fold: Fold) -> LogUnusable:
        from paddock.store.loss import LostRecords, log_lost

        return log_lost(self.path, LostRecords(self.head(), fold.board.seq, fold.board.at, fold.board.given))

    def _snapshot(self) -> None:
        """After the commit and under the lock: a snapshot never knows more than the log."""
        if self._fold is not None and self._fold.board.seq:
            write_snapshot(self.path, self._fold)
            self._snapshot_seq = self._snapshot_after = self._fold.board.seq

    def _is_snapshot_due(self, board: Board) -> bool:
        """Looked at again only when it would be due without the tasks that are added until then."""
        self._snapshot_after = self._snapshot_seq + snapshot_distance(len(board.tasks))
        return board.seq > self._snapshot_after

    def _transaction(self, begin: str) -> Transaction:
        """Raises LogUnusable where the files are not the ones that were opened."""
        self._require_own_thread()
        self._wal.require_sound(self._fold)
        return Transaction(self._connection, begin, self.forget)

    def forget(self) -> None:
        """It may hold what was rolled back."""
        self._fold = None


def _testimony(fold: Fold, rows: Sequence[Row]) -> Witness:
    board = fold.board
    return Witness(board.identity, board.seq, fold.tip, rows[-1][1], board.given)


def _is_at(row: object, seq: int, digest: bytes) -> bool:
    return isinstance(row, tuple) and row[0] == seq and row[-1] == digest
