"""A log in memory, for tests that need no disk: the same promises, held by the same tests as SQLite's.

Many stores may share one log, as processes share a file. `clock` gives seconds since the epoch.
"""

import asyncio
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from operator import itemgetter
from pathlib import Path
from threading import get_ident

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import Record
from paddock.core.intent.loss import accept_loss
from paddock.core.snapshot import encode_board
from paddock.store.codec import Row, decode_row, follows
from paddock.store.fold import Decisions, Fold, Results, append_group
from paddock.store.identity import begin_log
from paddock.store.loss import LostRecords, find_loss, log_lost, require_own
from paddock.store.place import LogPlace
from paddock.store.protocol import Author, Decide, Listener, LogUnusable, Query
from paddock.store.snapshots import pack, snapshot_distance, unpack
from paddock.store.verification import Verification, verify_rows
from paddock.store.witness import Witness

PLACE = LogPlace(Path("memory"))


class MemoryLog:
    """What all its stores see. `snapshot` is kept as the file beside a log on disk is."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.snapshot = b""
        self.snapshot_seq = 0
        self.witness: Witness | None = None
        self.listeners: list[MemoryListener] = []
        self.is_there = True

    def nudge(self) -> None:
        for listener in self.listeners:
            listener.nudge()


class MemoryListener(Listener):
    def __init__(self, log: MemoryLog) -> None:
        self._log = log
        self._nudged = False
        self._tell: Callable[[], object] | None = None
        log.listeners.append(self)

    def nudge(self) -> None:
        self._nudged = True
        if self._tell is not None:
            self._tell()

    def wait(self, timeout_seconds: float) -> bool:
        """Never blocks: nobody else can write meanwhile."""
        nudged, self._nudged = self._nudged, False
        return nudged

    def tell(self, heard: Callable[[], None]) -> None:
        loop = asyncio.get_running_loop()
        self._tell = lambda: loop.call_soon(heard)

    def close(self) -> None:
        self._log.listeners.remove(self)


class MemoryStore:
    def __init__(self, log: MemoryLog, clock: Callable[[], float] = time.time, *, announce: bool = True) -> None:
        self._log = log
        self._clock = clock
        self._fold: Fold | None = None
        self._thread = get_ident()
        if announce and not log.rows:
            self.append(begin_log(), Author("paddock"))

    def append(self, decide: Decide, author: Author) -> list[Record]:
        (result,) = self.append_all([(decide, author)])
        if isinstance(result, PaddockError):
            raise result
        return result

    def append_all(self, decisions: Decisions) -> Results:
        return append_group(self._transact, decisions)

    def _transact(self, decisions: Decisions) -> Results:
        fold = self._catch_up()
        try:
            results, rows = fold.write(decisions, self._clock)
        except BaseException:
            self._fold = None
            raise
        if rows:
            self._log.rows += rows
            self._log.witness = self._testimony(fold)
            if fold.board.seq - self._log.snapshot_seq > snapshot_distance(len(fold.board.tasks)):
                self._snapshot(fold)
            self._log.nudge()
        return results

    def board(self) -> Board:
        return self._catch_up().board

    def known(self) -> Board:
        self._require_own_thread()
        return self._fold.board if self._fold is not None else self.board()

    def records(self, query: Query) -> Iterator[Record]:
        for row in self.rows(query.after):
            if _matches(query, row):
                yield decode_row(row)

    def record(self, seq: int) -> Record:
        row = next(self.rows(seq - 1), None)
        if row is None or row[0] != seq:
            raise LogUnusable(f"the log has no record {seq}", "run `paddock log verify`")
        return decode_row(row)

    def head(self) -> int:
        self._require_own_thread()
        return self._log.rows[-1][0] if self._log.rows else 0

    def verify(self) -> Verification:
        unseen = () if self._log.witness is not None else ("the log has no witness",)
        found = verify_rows(self.rows(), at_least=self._log.snapshot_seq, witness=self._log.witness)
        return Verification(found.records, found.bad, unseen)

    def loss(self) -> LostRecords | None:
        return find_loss(self._log.witness, unpack(self._log.snapshot), self.head(), self._hash_at)

    def accept_loss(self, author: Author, reason: str = "") -> LostRecords | None:
        if (loss := self.loss()) is None:
            return None
        self._log.snapshot, self._log.snapshot_seq, self._log.witness, self._fold = b"", 0, None, None
        self.append(lambda board: accept_loss(board, loss.last, loss.given, reason), author)
        return loss

    def settle(self) -> bool:
        self._require_own_thread()
        return True

    def rebuild(self) -> bool:
        if (loss := self.loss()) is not None:
            raise log_lost(PLACE, loss)
        try:
            before = encode_board(self.board())
        except PaddockError:
            before = b""
        self._log.snapshot, self._log.snapshot_seq, self._fold = b"", 0, None
        fold = self._catch_up()
        self._snapshot(fold)
        return encode_board(fold.board) == before

    def rows(self, after: int = 0) -> Iterator[Row]:
        self._require_own_thread()
        yield from self._log.rows[bisect_right(self._log.rows, after, key=itemgetter(0)) :]

    def restore(self, rows: Iterable[Row]) -> int:
        if self._fold is None:
            self._fold = self._start(repair=True)
        fold = self._catch_up()
        first, taken = fold.board.seq, []
        try:
            for row in rows:
                fold.require_next(row)
                fold.follow(decode_row(row))
                taken.append(row)
            witness = self._log.witness
            rows = (*self._log.rows, *taken)
            found = next((row[-1] for row in rows if witness is not None and row[0] == witness.seq), None)
            lost = require_own(PLACE, witness, fold, found)
        except BaseException:
            self._fold = None
            raise
        self._log.rows += taken
        if lost is not None:
            self._fold = None
        elif taken:
            self._log.witness = self._testimony(fold)
        self._log.nudge()
        return fold.board.seq - first

    def listen(self) -> MemoryListener:
        return MemoryListener(self._log)

    def exists(self) -> bool:
        return self._log.is_there

    def close(self) -> None:
        pass

    def _catch_up(self) -> Fold:
        fold = self._fold = self._fold if self._fold is not None else self._start()
        if fold.board.seq and self._hash_at(fold.board.seq) != fold.tip:
            self._fold = None
            raise log_lost(PLACE, LostRecords(self.head(), fold.board.seq))
        for row in self.rows(fold.board.seq):
            if not follows(fold.tip, row):
                self._fold = None
                raise LogUnusable(f"record {row[0]} does not match its hash")
            fold.follow(decode_row(row))
        return fold

    def _start(self, *, repair: bool = False) -> Fold:
        kept = unpack(self._log.snapshot)
        loss = None if repair else self.loss()
        if loss is not None:
            raise log_lost(PLACE, loss)
        return kept if kept is not None and self._hash_at(kept.board.seq) == kept.tip else Fold()

    def _hash_at(self, seq: int) -> bytes | None:
        row = next(self.rows(seq - 1), None)
        return row[-1] if row is not None and row[0] == seq else None

    def _testimony(self, fold: Fold) -> Witness:
        board = fold.board
        return Witness(board.identity, board.seq, fold.tip, round(board.at * 1_000_000), board.given)

    def _snapshot(self, fold: Fold) -> None:
        self._log.snapshot, self._log.snapshot_seq = pack(fold), fold.board.seq

    def _require_own_thread(self) -> None:
        if get_ident() != self._thread:
            raise RuntimeError("the log in memory was opened by another thread")


def _matches(query: Query, row: Row) -> bool:
    seq, at, kind, task = row[0], row[1], row[4], row[5]
    return (
        (query.until is None or seq <= query.until)
        and (query.task is None or task == query.task)
        and (query.kind is None or fnmatchcase(kind, query.kind))
        and (query.since is None or at >= round(query.since * 1_000_000))
    )
