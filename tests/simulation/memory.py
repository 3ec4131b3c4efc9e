"""A log in memory that passes the tests of every store. A process that is killed takes its handle along."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from paddock import __version__
from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import Draft, LogCreated, Record
from paddock.core.ids import AttemptId, printable
from paddock.core.snapshot import encode_board
from paddock.store.codec import GENESIS, Row, body_of, chain, decode_row, follows
from paddock.store.protocol import Author, Decide, LogUnusable, Query
from paddock.store.verification import Verification, verify_rows


@dataclass
class MemoryLog:
    """What all handles share. `board` is folded once for all of them."""

    rows: list[Row] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    board: Board = field(default_factory=Board)
    listeners: list["MemoryListener"] = field(default_factory=list)
    exists: bool = True

    @property
    def tip(self) -> bytes:
        return self.rows[-1][-1] if self.rows else GENESIS

    def take(self, row: Row, record: Record) -> None:
        self.board.apply(record)
        self.rows.append(row)
        self.records.append(record)

    def cut(self, length: int) -> None:
        """As if what follows had never been."""
        del self.rows[length:], self.records[length:]
        self.board = Board()
        for record in self.records:
            self.board.apply(record)

    def nudge(self) -> None:
        for listener in tuple(self.listeners):
            listener.heard()


class MemoryListener:
    def __init__(self, log: MemoryLog) -> None:
        self._log = log
        self._news = False
        self._tell: Callable[[], None] | None = None
        log.listeners.append(self)

    def heard(self) -> None:
        self._news = True
        if self._tell is not None:
            self._tell()

    def wait(self, timeout_seconds: float) -> bool:
        news, self._news = self._news, False
        return news

    def tell(self, heard: Callable[[], None]) -> None:
        loop = asyncio.get_running_loop()
        self._tell = lambda: None if loop.is_closed() else void(loop.call_soon_threadsafe(heard))

    def close(self) -> None:
        if self in self._log.listeners:
            self._log.listeners.remove(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def void(_value: object) -> None:
    return None


class MemoryStore:
    def __init__(self, log: MemoryLog, clock: Callable[[], float], *, read_only: bool = False) -> None:
        self._log = log
        self._clock = clock
        self._read_only = read_only
        self._closed = False

    @classmethod
    def create(cls, log: MemoryLog, clock: Callable[[], float]) -> "MemoryStore":
        store = cls(log, clock)
        store.append(lambda board: [] if board.seq else [Draft(LogCreated(__version__))], Author("paddock"))
        return store

    def append(self, decide: Decide, author: Author) -> list[Record]:
        (result,) = self.append_all([(decide, author)])
        if isinstance(result, PaddockError):
            raise result
        return result

    def append_all(self, decisions: Sequence[tuple[Decide, Author]]) -> list[list[Record] | PaddockError]:
        if self._read_only:
            raise LogUnusable("this log was opened for reading")
        before = len(self._open.rows)
        results = [self._decide(decide, author) for decide, author in decisions]
        if len(self._log.rows) > before:
            self._log.nudge()
        return results

    def _decide(self, decide: Decide, author: Author) -> list[Record] | PaddockError:
        log, first = self._log, len(self._log.rows)
        at = round(self._clock() * 1_000_000)
        try:
            for draft in list(decide(log.board)):
                event, task, attempt = draft.event, draft.task, draft.attempt
                unsigned = (len(log.rows) + 1, at, author.name, author.generation, event.kind, task, attempt)
                body = body_of(event)
                row: Row = (*unsigned, body, chain(log.tip, (*unsigned, body)))
                seconds, owner = at / 1_000_000, AttemptId(attempt) if attempt is not None else None
                log.take(row, Record(row[0], seconds, author.name, author.generation, task, owner, event, row[-1]))
        except PaddockError as refusal:
            if len(log.rows) > first:
                log.cut(first)
            return refusal
        except UnicodeEncodeError as error:
            return PaddockError(f"`{printable(error.object, 60)}` is not valid UTF-8")
        return log.records[first:]

    def board(self) -> Board:
        return self._open.board

    def known(self) -> Board:
        return self._open.board

    def records(self, query: Query) -> Iterator[Record]:
        for row, record in zip(self._open.rows[query.after :], self._log.records[query.after :], strict=True):
            if _matches(row, record, query):
                yield record

    def record(self, seq: int) -> Record:
        if not 1 <= seq <= len(self._open.records):
            raise LogUnusable(f"the log has no record {seq}", "run `paddock log verify`")
        return self._log.records[seq - 1]

    def head(self) -> int:
        return len(self._open.rows)

    def verify(self) -> Verification:
        return verify_rows(iter(self._open.rows))

    def rebuild(self) -> bool:
        before = encode_board(self._open.board)
        self._log.cut(len(self._log.rows))
        return encode_board(self._log.board) == before

    def rows(self, after: int = 0) -> Iterator[Row]:
        yield from tuple(self._open.rows[after:])

    def restore(self, rows: Iterable[Row]) -> int:
        first = len(self._open.rows)
        try:
            for row in rows:
                if row[0] != len(self._log.rows) + 1 or not follows(self._log.tip, row):
                    raise LogUnusable(f"record {row[0]} does not follow this log's record {len(self._log.rows)}")
                self._log.take(row, decode_row(row))
        except BaseException:
            self._log.cut(first)
            raise
        self._log.nudge()
        return len(self._log.rows) - first

    def listen(self) -> MemoryListener:
        return MemoryListener(self._open)

    def exists(self) -> bool:
        return self._log.exists

    def close(self) -> None:
        self._closed = True

    @property
    def _open(self) -> MemoryLog:
        if self._closed:
            raise LogUnusable("this handle was closed, or its process is gone")
        return self._log


def _matches(row: Row, record: Record, query: Query) -> bool:
    kind = query.kind
    right_kind = kind is None or (row[4].startswith(kind[:-1]) if kind.endswith("*") else row[4] == kind)
    right_task = query.task is None or row[5] == query.task
    in_time = query.since is None or record.at >= query.since
    return right_kind and right_task and in_time and (query.until is None or row[0] <= query.until)
