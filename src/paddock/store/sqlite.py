"""The embedded log: one SQLite file in the repository's git common directory."""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING

import msgspec

from paddock import __version__
from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import Draft, LogCreated, Record
from paddock.core.ids import printable
from paddock.core.snapshot import encode_board
from paddock.store.codec import Row, decode_row
from paddock.store.files import OpenFiles
from paddock.store.fold import Decisions, Fold, Results, append_group
from paddock.store.lock import locked, open_lock
from paddock.store.protocol import Author, Decide, Listener, LogUnusable, Query
from paddock.store.rows import COLUMNS, select_rows
from paddock.store.schema import connect, create_log, shrink_wal
from paddock.store.snapshots import drop_snapshot, load_snapshot, newest_snapshot, snapshot_distance, write_snapshot
from paddock.store.trouble import cut_short, damaged, explained
from paddock.store.wake import listen, nudge

if TYPE_CHECKING:
    import apsw

    from paddock.store.verification import Verification

_INSERT = f"INSERT INTO events({COLUMNS}) VALUES(?,?,?,?,?,?,?,?,?)"
LOCK_TIMEOUT_SECONDS = 15.0
# The automatic checkpoint starts the write-ahead log over at 4 MB, unless readers overlap all the time.
WAL_LIMIT_BYTES = 16 * 1024 * 1024


class SqliteStore:
    """`clock` gives seconds since the epoch.

    `create` makes the log if there is none; without `announce` it stays empty, for a mirror to fill.
    """

    def __init__(
        self,
        path: Path,
        *,
        create: bool = False,
        announce: bool = True,
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
        self._lock = -1
        self._thread = get_ident()
        try:
            with explained(path):
                self._open(create=create, read_only=read_only)
        except BaseException:
            self._release()
            raise
        if create and announce and self.head() == 0:
            self.append(lambda board: [] if board.seq else [Draft(LogCreated(__version__))], Author("paddock"))

    def _open(self, *, create: bool, read_only: bool) -> None:
        if create:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        elif not self.path.exists():
            raise LogUnusable(f"there is no log at `{self.path}`", "run `paddock init` in this repository")
        if not read_only:
            self._lock = open_lock(self.path.with_suffix(".lock"))
        if create and not self.path.exists():
            with locked(self._lock, self.path, self._lock_timeout):
                create_log(self.path)
        self._connection = connect(self.path, read_only=read_only, busy_seconds=self._lock_timeout)
        self._files = OpenFiles(self.path, read_only=read_only)

    def listen(self) -> Listener:
        return listen(self.path)

    def exists(self) -> bool:
        return self.path.exists()

    def close(self) -> None:
        self._connection.close()
        self._release()

    def _release(self) -> None:
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
        from paddock.store.verification import verify_rows  # here because few commands verify

        return verify_rows(self.rows(), at_least=newest_snapshot(self.path))

    def rebuild(self) -> bool:
        with explained(self.path), self._locked():
            with self._transaction("BEGIN IMMEDIATE"):
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
                if self._fold is None:
                    self._start(repair=True)
                fold = self._catch_up()
                first = fold.board.seq
                for row in rows:
                    fold.require_next(row)
                    fold.follow(self._decode(row))
                    self._db.execute(_INSERT, row)
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
                if fold.board.seq - self._snapshot_seq > snapshot_distance(len(fold.board.tasks)):
                    self._snapshot()
                if self._files.wal_bytes > self._shrink_at:
                    self._shrink()
            if rows:
                nudge(self.path)
        return results

    def _shrink(self) -> None:
        """Tried again when it has grown by as much once more: a reader that stays must not hold up every writer."""
        done = shrink_wal(self._db, busy_seconds=self._lock_timeout)
        self._shrink_at = WAL_LIMIT_BYTES if done else self._files.wal_bytes + WAL_LIMIT_BYTES

    def _locked(self) -> AbstractContextManager[None]:
        self._files.require_own()
        return locked(self._lock, self.path, self._lock_timeout)

    def _catch_up(self) -> Fold:
        """Folds what others have appended. Call it inside a transaction."""
        fold = self._fold if self._fold is not None else self._start()
        rows = self._db.execute(f"SELECT {COLUMNS} FROM events WHERE seq>? ORDER BY seq", (fold.board.seq,))
        try:
            for row in rows:
                fold.follow(self._decode(row))
        except LogUnusable:
            self.forget()
            raise
        except PaddockError as error:
            self.forget()
            raise damaged(self.path, error.message) from error
        return fold

    def _start(self, *, repair: bool = False) -> Fold:
        """The file is read before the transaction's first look at the log, so its record is visible there.

        Snapshots are written after the commit: a record that one tells of was there, and somebody may have acted
        on it. To `repair` is to bring such records back.
        """
        kept = load_snapshot(self.path, mapped=self._lock < 0)
        found = self._hash_at(kept.board.seq) if kept is not None else None
        if kept is not None and found is None and not repair:
            self.forget()
            raise cut_short(self.path, kept.board.seq)
        self._fold = kept if kept is not None and found == kept.tip else Fold()
        self._snapshot_seq = self._fold.board.seq
        return self._fold

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
        self._files.require_same()
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
