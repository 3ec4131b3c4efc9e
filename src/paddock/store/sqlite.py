"""The embedded log: one SQLite file in the repository's git common directory."""

import os
import time
from _thread import get_ident  # `threading` is a millisecond that every command would wait
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import Record
from paddock.git.checkpoints import Checkpoint, no_checkpoint
from paddock.store.apart import WrittenApart
from paddock.store.codec import Row
from paddock.store.fold import Decisions, Fold, Results, append_group
from paddock.store.folded import FoldedLog, testimony
from paddock.store.identity import begin_log
from paddock.store.lock import WritersLock
from paddock.store.place import LogPlace
from paddock.store.protocol import Author, Decide, Listener, LogUnusable, Query
from paddock.store.rows import COLUMNS, select_rows
from paddock.store.schema import INSERT, connect, create_log
from paddock.store.snapshots import drop_snapshot
from paddock.store.transaction import Transaction
from paddock.store.trouble import Explained, damaged
from paddock.store.wake import listen, nudge
from paddock.store.wal import WriteAheadLog
from paddock.store.witness import WitnessFile, read_witness, sync_folder

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
        self._place = LogPlace(path)
        self._log = FoldedLog(
            self._place,
            self._rows_from,
            self._newest,
            self._written_apart,
            partial(damaged, path),
            self._have_begun,
        )
        self._seen_version = -1
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
        from paddock.store.moved import refuse_moved

        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.exists():
            return
        self._writers = WritersLock(self.path, self._lock_timeout)
        with self._locked():
            if self.path.exists():
                return
            refuse_moved(self._place)
            if not announce:
                create_log(self.path)
                return
            self._refuse_gone()
            fold = Fold()
            _, rows = fold.write([(begin, _PADDOCK)], self._clock)
            create_log(self.path, rows)
            self._witness.note(testimony(fold, rows))
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
        if not self.path.exists() and self.path.parent.exists():
            from paddock.store.moved import refuse_moved

            refuse_moved(self._place)
        if (witness := read_witness(self.path)) is None or self.path.exists():
            return
        from paddock.store.loss import log_gone

        raise log_gone(self._place, witness)

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
            self._wal.require_sound(self._log.current)
            self._wal.checkpoint(self._log.current)
            if self._witness.is_in_place():
                self._witness.sync()
            elif self._log.current is not None:
                self._put_witness_back(self._log.current)

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
                    fold = self._log.current
                    if fold is None or self._connection.data_version() != self._seen_version:
                        fold = self._log.catch_up()
                    results, rows = fold.write(decisions, self._clock)
                    self._connection.executemany(INSERT, rows)
                self._seen_version = self._connection.data_version()
                if rows:
                    self._witness.note(testimony(fold, rows))
                    self._wal.have_committed(fold)
                    self._wrote = True
                if self._log.is_snapshot_due(fold.board):
                    self._log.snapshot()
            if rows:
                nudge(self.path)
        return results

    def settle(self) -> bool:
        fold = self._log.current
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
            return self._log.catch_up().board

    def known(self) -> Board:
        self._require_own_thread()
        return self._log.current.board if self._log.current is not None else self.board()

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
            return self._newest()

    def _newest(self) -> int:
        rows = self._db.execute("SELECT coalesce(max(seq), 0) FROM events").fetchall()
        return int(rows[0][0])  # type: ignore[arg-type]

    def _hash_at(self, seq: int) -> object:
        for (digest,) in self._connection.execute("SELECT hash FROM events WHERE seq=?", (seq,)):
            return digest
        return None

    def _rows_from(self, seq: int) -> Iterator[Row]:
        return self._connection.execute(_FROM, (seq,))

    def record(self, seq: int) -> Record:
        with self._explained:
            rows = self._db.execute(f"SELECT {COLUMNS} FROM events WHERE seq=?", (seq,)).fetchall()
        if not rows:
            raise LogUnusable(f"the log has no record {seq}", "run `paddock log verify`")
        return self._log.decode(rows[0])  # type: ignore[arg-type]

    def records(self, query: Query) -> Iterator[Record]:
        with self._explained:
            for row in select_rows(self._db, query):
                yield self._log.decode(row)

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
                self._log.forget()
                drop_snapshot(self.path)
                fold = self._log.catch_up(repair=True)
                accept = partial(accept_loss, last=loss.last, given=loss.given, reason=reason)
                _, rows = fold.write([(accept, author)], self._clock)
                self._db.executemany(INSERT, rows)
            self._witness.replace(testimony(fold, rows))
            self._log.snapshot()
        nudge(self.path)
        return loss

    def rebuild(self) -> bool:
        with self._explained, self._locked():
            with self._transaction("BEGIN IMMEDIATE"):
                self._written_apart().require_all()
                same = self._log.fold_again()
            self._log.snapshot()
        return same

    def restore(self, rows: Iterable[Row]) -> int:
        with self._explained, self._locked():
            with self._transaction("BEGIN IMMEDIATE"):
                evidence = self._written_apart()
                fold, row = self._log.catch_up(repair=True), None
                first = fold.board.seq
                for row in rows:
                    fold.require_next(row)
                    fold.follow(self._log.decode(row))
                    self._db.execute(INSERT, row)
                lost = evidence.missing_from(fold)
            if lost is not None:
                self._log.forget()
            elif row is not None:
                self._witness.note(testimony(fold, [row]))
            self._wrote = True
            self._log.snapshot()
        nudge(self.path)
        return fold.board.seq - first

    def fold_in(self) -> None:
        """All of it into the one file. Raises LogUnusable."""
        with self._explained, self._locked():
            self._wal.fold_in()

    def move_away(self, moved: str, take_rest: Callable[[Board], None], checkpoint: Checkpoint = no_checkpoint) -> None:
        """Calls `take_rest` while nobody can write; then the log is `moved`, and what is left of it says so.

        It has happened once the file has another name. Killed before, it is done again."""
        from paddock.store.moved import left_file, write_note

        with self._explained, self._locked():
            take_rest(self.board())
            write_note(self.path, moved)
            checkpoint("migrate.noted")
            self._wal.fold_in()
            os.rename(self.path, left_file(self.path))
            checkpoint("migrate.renamed")
            for suffix in ("-wal", "-shm"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
            sync_folder(self.path.parent)
        nudge(self.path)

    def _locked(self) -> WritersLock:
        assert self._writers is not None, "opened to be read only"
        return self._writers

    def _have_begun(self, seq: int) -> None:
        self._wal.read_back_after(seq)

    def _written_apart(self) -> WrittenApart:
        return WrittenApart(self._place, self._newest, self._hash_at, mapped=self._writers is None)

    def _transaction(self, begin: str) -> Transaction:
        """Raises LogUnusable where the files are not the ones that were opened."""
        self._require_own_thread()
        self._wal.require_sound(self._log.current)
        return Transaction(self._connection, begin, self._log.forget)
