"""Passes on what was appended since the last round: to observers, and to the gate if it concerns limits."""

from collections.abc import Callable
from dataclasses import dataclass

from paddock.core.board import DAEMON_LEASE, Board
from paddock.core.events import LimitsReset, Record, TaskRetried
from paddock.core.leases.lease import LeaseRenewed
from paddock.fleet.dispatch.gate import Gate
from paddock.fleet.ledger import Ledger
from paddock.store.protocol import Query


@dataclass
class News:
    """`observe` hears of every record once, in order, from the first one after this daemon took the lead."""

    ledger: Ledger
    gate: Gate
    observe: Callable[[Record], None] = lambda _record: None

    def __post_init__(self) -> None:
        self._seen = self._looked = self.ledger.board.seq
        for kind in (LimitsReset.kind, TaskRetried.kind):
            for record in self.ledger.store.records(Query(kind=kind, since=self.gate.known_at)):
                self._reset_limits(self.ledger.board, record)

    def has_come(self, board: Board) -> bool:
        """Whether anything was recorded since `tell`, other than renewals of the daemon's own lease."""
        if board.seq == self._looked:
            return False
        records = self.ledger.store.records(Query(after=self._looked, until=board.seq))
        is_news = any(not isinstance(new.event, LeaseRenewed) or new.event.name != DAEMON_LEASE for new in records)
        if not is_news:
            self._looked = board.seq
        return is_news

    def tell(self, board: Board) -> None:
        if board.seq > self._seen:
            for record in self.ledger.store.records(Query(after=self._seen, until=board.seq)):
                self._reset_limits(board, record)
                self.observe(record)
            self._seen = self._looked = board.seq

    def _reset_limits(self, board: Board, record: Record) -> None:
        """Trying a task again, or resetting its engine, means that what kept the engine from running is fixed."""
        match record.event:
            case LimitsReset(name=name):
                self.gate.reset(name)
            case TaskRetried() if record.task is not None and (last := board.tasks[record.task].last) is not None:
                self.gate.reset(last.engine)
