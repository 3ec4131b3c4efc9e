"""The embedded log: one SQLite file in the repository's git common directory."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING

import msgspec

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import Record
from paddock.core.ids import printable
from paddock.core.snapshot import encode_board
from paddock.store.codec import Row, decode_row, follows
from paddock.store.files import OpenFiles
from paddock.store.fold import Decisions, Fold, Results, append_group
from paddock.store.identity import begin_log
from paddock.store.lock import locked, open_lock
from paddock.store.protocol import Author, Decide, Listener, LogUnusable, Query
from paddock.store.rows import COLUMNS, select_rows
from paddock.store.schema import checkpoint_wal, connect, create_log, shrink_wal
from paddock.store.snapshots import drop_snapshot, load_snapshot, snapshot_distance, write_snapshot
from paddock.store.trouble import damaged, explained
from paddock.store.wake import listen, nudge
from paddock.store.witness import Witness, WitnessFile, read_witness

if TYPE_CHECKING:
    import apsw

    from paddock.store.loss import LostRecords
    from paddock.store.verification import Verification

_INSERT = f"INSERT INTO events({COLUMNS}) VALUES(?,?,?,?,?,?,?,?,?)"
LOCK_TIMEOUT_SECONDS = 15.0
# The automatic checkpoint starts the write-ahead log over at 4 MB, unless readers overlap all the time.
WAL_LIMIT_BYTES = 16 * 1024 * 1024
MOST_READ_BACK = 10_000
SETTLE_SECONDS = 1.0
"""Nothing stays longer in the write-ahead log alone, unless a reader needs it there."""


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
        self._fold: Fold | None = None
        self._snapshot_seq = 0
        self._shrink_at = WAL_LIMIT_BYTES
        self._witness = WitnessFile(path)
        self._settle_at = time.monotonic() + SETTLE_SECONDS
        self._settled = self._read_to = -1
        self._wrote = False
        self._lock = -1
        self._thread = get_ident()
        try:
            with explained(path):
                self._open(create=create, revive=not announce, read_only=read_only)
        except BaseException:
            self._release()
            raise
        if create and announce and self.head() == 0:
            self.append(begin_log(labelled=labelled), Author("paddock"))

    def _open(self, *, create: bool, revive: bool, read_only: bool) -> None:
        if create:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        elif not self.path.exists():
            self._refuse_gone()
            raise LogUnusable(f"there is no log at `{self.path}`", "run `paddock init` in this repository")
        if not read_only:
            self._lock = open_lock(self.path.with_suffix(".lock"))
        if create and not self.path.exists():
            with locked(self._lock, self.path, self._lock_timeout):
                if not revive:
                    self._refuse_gone()
                create_log(self.path)
        self._connection = connect(self.path, read_only=read_only, busy_seconds=self._lock_timeout)
        self._files = OpenFiles(self.path, read_only=read_only)

    def _refuse_gone(self) -> None:
        """The log is looked for once more: somebody may have made it a moment ago."""
        if (witness := read_witness(self.path)) is None or self.path.exists():
            return
        from paddock.store.loss import log_gone

        raise log_gone(self.path, witness)

    def listen(self) -> Listener:
        return listen(self.path)

    def exists(self) -> bool:
        return self.path.exists()

    def close(self) -> None:
        if self._wrote:
            self._wrote = False
            self._leave_settled()
        self._connection.close()
        self._release()

    def _leave_settled(self) -> None:
        """Best effort: what was to be recorded is recorded, and whoever writes next settles it."""
        with suppress(LogUnusable), explained(self.path):
            self._files.require_own()
            self._require_files()
            checkpoint_wal(self._connection)
            self._witness.sync()

    def _release(self) -> None:
        self._witness.close()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def append(self, decide: Decide, author: Author) -> list[Record]:
        (result,) = self.append_all([(decide, author)])
        if isinstance(result, PaddockError):
            raise result
        return result

    def append_all(self, decisions: Decisions) -> Results:
        return append_group(self._transact, decisions)

    def board(self) -> Board:
        with explained(self.path), self._transaction("BEGIN"):
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
        with explained(self.path):
            rows = self._db.execute("SELECT coalesce(max(seq), 0) FROM events").fetchall()
        return int(rows[0][0])  # type: ignore[arg-type]

    def record(self, seq: int) -> Record:
        with explained(self.path):
            rows = self._db.execute(f"SELECT {COLUMNS} FROM events WHERE seq=?", (seq,)).fetchall()
        if not rows:
            raise LogUnusable(f"the log has no record {seq}", "run `paddock log verify`")
        return self._decode(rows[0])  # type: ignore[arg-type]

    def records(self, query: Query) -> Iterator[Record]:
        with explained(self.path):
            for row in select_rows(self._db, query):
                yield self._decode(row)

    def rows(self, after: int = 0) -> Iterator[Row]:
        """Records as stored, for mirrors and verification."""
        with explained(self.path):
            yield from select_rows(self._db, Query(after=after))

    def verify(self) -> "Verification":
        from paddock.store.verification import verify_log  # here because few commands verify

        return verify_log(self.path, self.rows())

    def loss(self) -> "LostRecords | None":
        with explained(self.path), self._transaction("BEGIN"):
            return self._find_loss()

    def accept_loss(self, author: Author, reason: str = "") -> "LostRecords | None":
        """Killed halfway, it is done again: what is accepted counts once the witness is replaced."""
        from paddock.core.intent.loss import accept_loss

        with explained(self.path), self._locked():
            with self._transaction("BEGIN IMMEDIATE"):
                if (loss := self._find_loss()) is None:
                    return None
                self.forget()
                drop_snapshot(self.path)
                fold = self._catch_up(repair=True)
                accept = partial(accept_loss, last=loss.last, given=loss.given, reason=reason)
                _, rows = fold.write([(accept, author)], self._clock)
                self._db.executemany(_INSERT, rows)
            self._witness.replace(self._testimony(fold, rows))
            self._snapshot()
        nudge(self.path)
        return loss

    def rebuild(self) -> bool:
        with explained(self.path), self._locked():
            with self._transaction("BEGIN IMMEDIATE"):
                self._require_all()
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
        with explained(self.path), self._locked():
            with self._transaction("BEGIN IMMEDIATE"):
                fold, row = self._catch_up(repair=True), None
                first = fold.board.seq
                for row in rows:
                    fold.require_next(row)
                    fold.follow(self._decode(row))
                    self._db.execute(_INSERT, row)
                lost = self._require_own_records(fold)
            if lost is not None:
                self.forget()
            elif row is not None:
                self._witness.note(self._testimony(fold, [row]))
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

    def _transact(self, decisions: Decisions) -> Results:
        with explained(self.path):
            with self._locked():
                with self._transaction("BEGIN IMMEDIATE"):
                    fold = self._catch_up()
                    results, rows = fold.write(decisions, self._clock)
                    self._db.executemany(_INSERT, rows)
                if rows:
                    self._files.remember_wal()
                    self._witness.note(self._testimony(fold, rows))
                    self._wrote = True
                if fold.board.seq - self._snapshot_seq > snapshot_distance(len(fold.board.tasks)):
                    self._snapshot()
                if self._files.wal_bytes > self._shrink_at:
                    self._shrink()
                if time.monotonic() >= self._settle_at:
                    self._checkpoint()
            if rows:
                nudge(self.path)
        return results

    def settle(self) -> bool:
        if self._fold is None or self._settled == self._fold.board.seq or self._lock < 0:
            return True
        with explained(self.path), self._locked():
            self._require_files()
            self._read_back(self._fold)
            self._checkpoint()
            self._witness.sync()
        return self._settled == self._fold.board.seq

    def _checkpoint(self) -> None:
        """What a reader needs in the write-ahead log stays there."""
        self._settle_at = time.monotonic() + SETTLE_SECONDS
        if checkpoint_wal(self._db) and self._fold is not None:
            self._settled = self._fold.board.seq

    def _read_back(self, fold: Fold) -> None:
        """By another connection: this one has what it wrote in memory, whatever has become of it on disk."""
        from paddock.store.verification import require_on_disk

        require_on_disk(self.path, max(self._read_to, fold.board.seq - MOST_READ_BACK), fold)
        self._read_to = fold.board.seq

    @staticmethod
    def _testimony(fold: Fold, rows: Sequence[Row]) -> Witness:
        board = fold.board
        return Witness(board.identity, board.seq, fold.tip, rows[-1][1], board.given)

    def _require_files(self) -> None:
        """Raises LogUnusable if one was removed, replaced or cut short."""
        self._files.require_same()
        if self._lock < 0 or not self._files.wal_shrank():
            return
        from paddock.store.loss import cut_short

        try:
            if self._fold is not None:
                self._read_back(self._fold)
        except PaddockError as error:
            raise cut_short(self.path) from error
        # SQLite would go on behind a hole, unless it begins the file again.
        if not shrink_wal(self._connection, busy_seconds=self._lock_timeout):
            raise cut_short(self.path)
        self._files.remember_wal()

    def _shrink(self) -> None:
        """Tried again when it has grown by as much once more: a reader that stays must not hold up every writer."""
        done = shrink_wal(self._db, busy_seconds=self._lock_timeout)
        self._files.remember_wal()
        self._shrink_at = WAL_LIMIT_BYTES if done else self._files.wal_bytes + WAL_LIMIT_BYTES

    def _locked(self) -> AbstractContextManager[None]:
        self._files.require_own()
        return locked(self._lock, self.path, self._lock_timeout)

    def _catch_up(self, *, repair: bool = False) -> Fold:
        """Folds what others have appended. Call it inside a transaction.

        The last record that is known is looked at too: it may be gone. To `repair` is to bring lost records back, or
        to continue without them.
        """
        fold = self._fold if self._fold is not None else self._start(repair=repair)
        known = fold.board.seq
        rows = self._db.execute(f"SELECT {COLUMNS} FROM events WHERE seq>=? ORDER BY seq", (known,))
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
        """The files are read before the transaction's first look at the log, so what they tell of is visible there."""
        witness, kept = self._evidence()
        if not repair:
            self._require(witness, kept)
        found = self._hash_at(kept.board.seq) if kept is not None else None
        self._fold = kept if kept is not None and found == kept.tip else Fold()
        self._snapshot_seq = self._fold.board.seq
        self._read_to = min(self._read_to, self._snapshot_seq)
        return self._fold

    def _evidence(self) -> tuple[Witness | None, Fold | None]:
        """Both are written after the commit: what they tell of was there, and somebody may have acted on it."""
        return read_witness(self.path), load_snapshot(self.path, mapped=self._lock < 0)

    def _require_all(self) -> None:
        """Raises LogLost."""
        self._require(*self._evidence())

    def _require(self, witness: Witness | None, kept: Fold | None) -> None:
        whole = witness is None or self._hash_at(witness.seq) == witness.tip
        if whole and (kept is None or self._hash_at(kept.board.seq) is not None):
            return
        from paddock.store.loss import find_loss, log_lost

        loss = find_loss(witness, kept, self.head(), self._hash_at)
        assert loss is not None
        self.forget()
        raise log_lost(self.path, loss)

    def _find_loss(self) -> "LostRecords | None":
        from paddock.store.loss import find_loss

        return find_loss(*self._evidence(), self.head(), self._hash_at)

    def _require_own_records(self, fold: Fold) -> "LostRecords | None":
        from paddock.store.loss import require_own

        witness = read_witness(self.path)
        return require_own(self.path, witness, fold, self._hash_at(witness.seq) if witness is not None else None)

    def _lost_while_open(self, fold: Fold) -> LogUnusable:
        from paddock.store.loss import LostRecords, log_lost

        return log_lost(self.path, LostRecords(self.head(), fold.board.seq, fold.board.at, fold.board.given))

    def _hash_at(self, seq: int) -> object:
        for (digest,) in self._db.execute("SELECT hash FROM events WHERE seq=?", (seq,)):
            return digest
        return None

    def _snapshot(self) -> None:
        """After the commit and under the lock: a snapshot never knows more than the log."""
        if self._fold is not None and self._fold.board.seq:
            write_snapshot(self.path, self._fold)
            self._snapshot_seq = self._fold.board.seq

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        self._require_files()
        self._db.execute(begin)
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            self.forget()
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def forget(self) -> None:
        """It may hold what was rolled back."""
        self._fold = None


def _is_at(row: object, seq: int, digest: bytes) -> bool:
    return isinstance(row, tuple) and row[0] == seq and row[-1] == digest
