"""A log in memory, for tests that need no disk: the same promises, held by the same tests as SQLite's.

Many stores may share one log, as processes share a file. `clock` gives seconds since the epoch.
"""

import asyncio
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from operator import itemgetter
from threading import get_ident

from paddock import __version__
from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import Draft, LogCreated, Record
from paddock.core.snapshot import encode_board
from paddock.store.codec import Row, decode_row
from paddock.store.fold import Decisions, Fold, Results, append_group
from paddock.store.protocol import Author, Decide, Listener, LogUnusable, Query
from paddock.store.snapshots import pack, snapshot_distance, unpack
from paddock.store.verification import Verification, verify_rows


class MemoryLog:
    """What all its stores see. `snapshot` is kept as the file beside a log on disk is."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.snapshot = b""
        self.snapshot_seq = 0
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
            self.append(lambda _board: [Draft(LogCreated(__version__))], Author("paddock"))

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
        return verify_rows(self.rows(), at_least=self._log.snapshot_seq)

    def rebuild(self) -> bool:
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
        fold = self._catch_up()
        first, taken = fold.board.seq, []
        try:
            for row in rows:
                fold.require_next(row)
                fold.follow(decode_row(row))
                taken.append(row)
        except BaseException:
            self._fold = None
            raise
        self._log.rows += taken
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
        for row in self.rows(fold.board.seq):
            fold.follow(decode_row(row))
        return fold

    def _start(self) -> Fold:
        kept = unpack(self._log.snapshot)
        if kept is None:
            return Fold()
        row = next(self.rows(kept.board.seq - 1), None)
        if row is None:
            raise LogUnusable(f"the log has lost record {kept.board.seq}, which it had")
        return kept if row[-1] == kept.tip else Fold()

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
