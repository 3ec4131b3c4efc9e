"""The newest record that changes what is counted of a fleet: leases are renewed all the time, and change nothing."""

import threading

from paddock.store.protocol import Query, Store

_COUNTED = (
    "alert.",
    "attempt.ended",
    "attempt.started",
    "cause.",
    "queue.change_",
    "queue.run_",
    "queue.train_landed",
    "review.",
    "task.",
    "turn.ended",
)


class LastChange:
    """Shared by threads. Each look reads what is new in the log."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._log = ""
        self._head = 0
        self._newest = 0

    def find(self, store: Store) -> int:
        """Its number; that of any later one where nobody has looked before."""
        with self._lock:
            board = store.board()
            log, head = board.identity, board.seq
            if log != self._log or not 0 < self._head <= head:
                self._log, self._head, self._newest = log, head, head
            for record in store.records(Query(after=self._head, until=head)):
                if record.event.kind.startswith(_COUNTED):
                    self._newest = record.seq
            self._head = head
            return self._newest
