"""The shared log: one schema of a PostgreSQL database, written and read from any number of machines."""

import time
from _thread import get_ident
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, LiteralString

import psycopg

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import Record
from paddock.git.checkpoints import Checkpoint, no_checkpoint
from paddock.store.apart import WrittenApart
from paddock.store.codec import Row
from paddock.store.fold import Decisions, Results, append_group
from paddock.store.folded import FoldedLog, testimony
from paddock.store.identity import begin_log
from paddock.store.lock import WritersLock
from paddock.store.place import LogPlace
from paddock.store.postgres_link import Link
from paddock.store.postgres_listen import PostgresListener
from paddock.store.postgres_rows import PIECE, rows_from, select_rows
from paddock.store.postgres_schema import LAYOUT, Connection, Sql, Statements, create_tables
from paddock.store.postgres_trouble import Explained, damaged, is_away, missing
from paddock.store.protocol import Author, Decide, Listener, LogUnavailable, LogUnusable, Query
from paddock.store.snapshots import drop_snapshot
from paddock.store.unsettled import UnsettledCommits
from paddock.store.witness import WitnessFile, read_witness

if TYPE_CHECKING:
    from paddock.store.loss import LostRecords
    from paddock.store.verification import Verification

LOCK_TIMEOUT_SECONDS = 15.0
AWAY_SECONDS = 5.0
"""Everybody waits that long for a server that restarts. Whoever can wait longer does so without holding anything."""
TRIES = 4
_PADDOCK = Author("paddock")


class PostgresStore:
    """As `SqliteStore`. `moved`, if not empty, is where the log was moved, or what is being made of it: see `LogMoved`;
    with `even_moved` that is no reason to refuse."""

    def __init__(
        self,
        place: LogPlace,
        *,
        create: bool = False,
        announce: bool = True,
        labelled: bool = False,
        read_only: bool = False,
        clock: Callable[[], float] = time.time,
        lock_timeout_seconds: float | None = None,
        even_moved: bool = False,
        moved: str = "",
    ) -> None:
        self.place = place
        self._clock = clock
        lock_timeout = LOCK_TIMEOUT_SECONDS if lock_timeout_seconds is None else lock_timeout_seconds
        self._away_seconds = min(AWAY_SECONDS, lock_timeout)
        self._explained = Explained(place, lock_timeout)
        self._sql = Statements(place.schema)
        self._link = Link(place, read_only=read_only, lock_timeout_seconds=lock_timeout)
        self._writing: Connection | None = None
        self._unsettled = UnsettledCommits()
        self._log = FoldedLog(place, self._rows_from, self._newest, self._written_apart, partial(damaged, place))
        self._witness = WitnessFile(place.file)
        self._writers: WritersLock | None = None
        self._even_moved = even_moved
        self._thread = get_ident()
        try:
            with self._explained:
                if create:
                    self._create(moved)
                if not read_only:
                    place.state_dir.mkdir(parents=True, exist_ok=True)
                    self._writers = WritersLock(place.file, lock_timeout)
                self._table = self._open()
        except BaseException:
            self.close()
            raise
        if create and announce and self.head() == 0:
            self.append(begin_log(labelled=labelled), _PADDOCK)

    def _require_to_begin(self) -> None:
        """Two logs of one repository could never be joined."""
        from paddock.store.location import require_not_elsewhere

        require_not_elsewhere(self.place)

    def _create(self, moved: str) -> None:
        connection = self._link.get(self._away_seconds)
        try:
            connection.execute(self._sql.standing)
        except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName):
            if not moved:
                self._require_to_begin()
            create_tables(connection, self.place.schema, moved)

    def _open(self) -> int:
        """The table's own number: another one has another."""
        try:
            found = self._ask(self._sql.standing)
        except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName):
            from paddock.store.location import require_not_elsewhere
            from paddock.store.loss import log_gone

            if (witness := read_witness(self.place.file)) is None:
                require_not_elsewhere(self.place)
                raise missing(self.place) from None

            raise log_gone(self.place, witness) from None
        if not found:
            raise damaged(self.place, "its table `head` is empty")
        ((table, moved, layout, seq),) = found
        if layout > LAYOUT:
            raise LogUnusable(
                f"the log `{self.place}` has table layout {layout}; this Paddock knows up to {LAYOUT}",
                "upgrade: `pip install --upgrade paddock`",
            )
        self._refuse_moved(moved)
        if not seq and not self._even_moved:
            self._require_to_begin()
        return int(table)

    def _refuse_moved(self, moved: str) -> None:
        if moved and not self._even_moved:
            from paddock.store.moved import moved_away

            raise moved_away(self.place, moved)

    def listen(self) -> Listener:
        return PostgresListener(self._link.open, self._sql.channel)

    def exists(self) -> bool:
        """A server that is away has its log still."""
        try:
            with self._explained:
                found = self._ask(self._sql.standing)
        except LogUnavailable:
            return True
        except LogUnusable:
            return False
        return bool(found) and found[0][0] == self._table and (self._even_moved or not found[0][1])

    def close(self) -> None:
        if self._writers is not None:
            with suppress(LogUnusable, OSError):
                self._sync_witness()
        self._witness.close()
        self._link.drop()
        if self._writers is not None:
            self._writers.close()
            self._writers = None

    def _sync_witness(self) -> None:
        """One that was removed is put back, unless a person has accepted meanwhile that what it tells of is lost."""
        fold = self._log.current
        if self._witness.is_in_place():
            self._witness.sync()
        elif fold is not None and self._witness.has_noted:
            with self._explained, self._locked():
                if self._hash_at(fold.board.seq) == fold.tip:
                    self._witness.sync()

    def append(self, decide: Decide, author: Author) -> list[Record]:
        (result,) = self.append_all([(decide, author)])
        if isinstance(result, PaddockError):
            raise result
        return result

    def append_all(self, decisions: Decisions) -> Results:
        results = append_group(self._transact, decisions)
        self._unsettled.have_told()
        return results

    def _transact(self, decisions: Decisions) -> Results:
        """Where the connection breaks it begins again with another one, and first looks for what was sent by then."""
        self._require_own_thread()
        with self._explained, self._locked():
            for tries in range(1, TRIES + 1):
                try:
                    return self._try(decisions)
                except psycopg.Error as error:
                    if not is_away(error) or tries == TRIES:
                        raise
                except LogUnavailable as error:
                    if not self._unsettled.is_open:
                        raise
                    raise LogUnavailable(
                        f"{error.message}; whether the last records were written is not known",
                        "when the server is back, look with `paddock log -n 20` before you do it again",
                    ) from None
        raise AssertionError

    def _try(self, decisions: Decisions) -> Results:
        with self._head_locked() as (connection, seq, tip):
            fold = self._log.current
            if fold is None or (fold.board.seq, fold.tip) != (seq, tip):
                fold = self._log.catch_up()
            self._unsettled.look(self._hash_at)
            known, new = self._unsettled.split(decisions)
            results, rows = fold.write(new, self._clock)
            if rows:
                self._unsettled.have_sent(new, results, rows)
                self._insert(connection, rows, commit=True)
                self._unsettled.have_heard()
            else:
                connection.execute("ROLLBACK")
        if rows or known:
            self._witness.note(testimony(fold, rows))
            if self._log.is_snapshot_due(fold.board):
                self._log.snapshot()
        if not known:
            return results
        rest = iter(results)
        return [known[place] if place in known else next(rest) for place in range(len(decisions))]

    def _insert(self, connection: Connection, rows: Sequence[Row], *, commit: bool = False) -> None:
        last = rows[-1]
        columns = last if len(rows) == 1 else [list(column) for column in zip(*rows, strict=True)]
        statement = self._sql.insert_one if len(rows) == 1 else self._sql.insert
        values = (*columns, last[0], last[-1], self._sql.channel)
        if not commit:
            connection.execute(statement, values)
            return
        with connection.pipeline():
            connection.execute(statement, values)
            connection.execute("COMMIT")

    @contextmanager
    def _head_locked(self) -> Iterator[tuple[Connection, int, bytes]]:
        """A transaction that alone may write; what is not committed by its end is rolled back and forgotten."""
        connection, seq, tip = self._lock_head()
        self._writing = connection
        try:
            yield connection, seq, tip
        except BaseException:
            self._log.forget()
            self._roll_back(connection)
            raise
        finally:
            self._writing = None

    def _lock_head(self) -> tuple[Connection, int, bytes]:
        connection = self._link.get(self._away_seconds)
        try:
            cursor = connection.execute(self._sql.lock, prepare=False)
            cursor.nextset()
            row = cursor.fetchone()
            if row is None:
                raise damaged(self.place, "its table `head` is empty")
            self._refuse_moved(row[2])
        except BaseException:
            self._roll_back(connection)
            raise
        return connection, row[0], row[1]

    def _roll_back(self, connection: Connection) -> None:
        """A connection on which that fails is of no use any more."""
        try:
            connection.execute("ROLLBACK")
        except psycopg.Error:
            self._link.drop()

    def settle(self) -> bool:
        self._require_own_thread()
        if self._writers is not None:
            self._sync_witness()
        return True

    def board(self) -> Board:
        with self._explained:
            board = self._log.catch_up().board
        if self._writers is None and self._log.is_snapshot_due(board):
            self._spare_the_next()
        return board

    def _spare_the_next(self) -> None:
        """On a machine where nobody writes, readers keep the snapshot. Best effort."""
        with suppress(LogUnusable, OSError):
            self.place.state_dir.mkdir(parents=True, exist_ok=True)
            lock = WritersLock(self.place.file, 0.0)
            try:
                with lock:
                    self._log.snapshot()
            finally:
                lock.close()

    def known(self) -> Board:
        self._require_own_thread()
        return self._log.current.board if self._log.current is not None else self.board()

    def head(self) -> int:
        with self._explained:
            return self._newest()

    def record(self, seq: int) -> Record:
        with self._explained:
            rows = self._ask(self._sql.record, (seq,))
        if not rows:
            raise LogUnusable(f"the log has no record {seq}", "run `paddock log verify`")
        return self._log.decode(rows[0])

    def records(self, query: Query) -> Iterator[Record]:
        with self._explained:
            for row in select_rows(self._ask, self._sql, query):
                yield self._log.decode(row)

    def rows(self, after: int = 0) -> Iterator[Row]:
        with self._explained:
            yield from select_rows(self._ask, self._sql, Query(after=after))

    def verify(self) -> "Verification":
        from paddock.store.verification import verify_kept

        return verify_kept(self.place.file, self.rows())

    def loss(self) -> "LostRecords | None":
        with self._explained:
            return self._written_apart().loss()

    def accept_loss(self, author: Author, reason: str = "") -> "LostRecords | None":
        from paddock.core.intent.loss import accept_loss

        with self._explained, self._locked():
            with self._head_locked() as (connection, _, _):
                if (loss := self._written_apart().loss()) is None:
                    connection.execute("ROLLBACK")
                    return None
                self._log.forget()
                drop_snapshot(self.place.file)
                fold = self._log.catch_up(repair=True)
                accept = partial(accept_loss, last=loss.last, given=loss.given, reason=reason)
                _, rows = fold.write([(accept, author)], self._clock)
                self._insert(connection, rows, commit=True)
            self._witness.replace(testimony(fold, rows))
            self._log.snapshot()
        return loss

    def rebuild(self) -> bool:
        with self._explained, self._locked():
            with self._head_locked() as (connection, _, _):
                self._written_apart().require_all()
                same = self._log.fold_again()
                connection.execute("ROLLBACK")
            self._log.snapshot()
        return same

    def restore(self, rows: Iterable[Row]) -> int:
        with self._explained, self._locked():
            with self._head_locked() as (connection, _, _):
                evidence = self._written_apart()
                fold = self._log.catch_up(repair=True)
                first, last = fold.board.seq, None
                for piece in _pieces(rows):
                    for row in piece:
                        fold.require_next(row)
                        fold.follow(self._log.decode(row))
                    self._insert(connection, piece)
                    last = piece[-1]
                lost = evidence.missing_from(fold)
                connection.execute("COMMIT")
            if lost is not None:
                self._log.forget()
            elif last is not None:
                self._witness.note(testimony(fold, [last]))
            self._log.snapshot()
        return fold.board.seq - first

    def moved(self) -> str:
        """What `set_moved` has set."""
        with self._explained:
            return str(self._ask(self._sql.standing)[0][1])

    def set_moved(self, moved: str, head: int) -> None:
        """See `LogMoved`; an empty word opens it to everybody. Raises LogUnusable unless it ends with `head`."""
        with self._explained, self._locked(), self._head_locked() as (connection, seq, _):
            if seq != head:
                raise LogUnusable(f"somebody else writes to `{self.place}`", "run this again")
            connection.execute(self._sql.set_moved, (moved,))
            connection.execute("COMMIT")

    def move_away(self, moved: str, take_rest: Callable[[Board], None], checkpoint: Checkpoint = no_checkpoint) -> None:
        """As `SqliteStore.move_away`; it has happened with the commit."""
        with self._explained, self._locked(), self._head_locked() as (connection, _, _):
            take_rest(self._log.catch_up().board)
            connection.execute(self._sql.set_moved, (moved,))
            checkpoint("migrate.noted")
            connection.execute("COMMIT")

    def bytes(self) -> int:
        """What the records and their indexes take on the server's disk."""
        with self._explained:
            return int(self._ask(self._sql.size)[0][0])

    def ask_server(self, question: LiteralString, values: Sequence[object] = ()) -> tuple[Any, ...]:
        """One row about the server, not about the log; `question` is a constant of ours."""
        with self._explained:
            return self._ask(question.encode(), values)[0]

    def _ask(self, statement: Sql, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Outside of a transaction, asked again where the connection breaks; nothing stays open in between."""
        self._require_own_thread()
        if self._writing is not None:
            return self._writing.execute(statement, values, binary=True).fetchall()
        for tries in range(1, TRIES + 1):
            connection = self._link.get(self._away_seconds)
            try:
                return connection.execute(statement, values, binary=True).fetchall()
            except psycopg.Error as error:
                if not is_away(error) or tries == TRIES:
                    raise
                self._link.drop()
        raise AssertionError

    def _require_own_thread(self) -> None:
        if get_ident() != self._thread:
            raise RuntimeError(f"the log `{self.place}` was opened by another thread: read what you need there")

    def _newest(self) -> int:
        return int(self._ask(self._sql.head)[0][0])

    def _hash_at(self, seq: int) -> object:
        rows = self._ask(self._sql.hash_at, (seq,))
        return rows[0][0] if rows else None

    def _rows_from(self, seq: int) -> Iterator[Row]:
        return rows_from(self._ask, self._sql, seq)

    def _written_apart(self) -> WrittenApart:
        return WrittenApart(self.place, self._newest, self._hash_at, mapped=self._writers is None)

    def _locked(self) -> WritersLock:
        assert self._writers is not None, "opened to be read only"
        return self._writers


def _pieces(rows: Iterable[Row]) -> Iterator[list[Row]]:
    piece: list[Row] = []
    for row in rows:
        piece.append(row)
        if len(piece) == PIECE:
            yield piece
            piece = []
    if piece:
        yield piece
