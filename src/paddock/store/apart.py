"""What was written down of a log apart from it, held against what it has now: its witness and its snapshot.

Both are written after the commit: what they tell of was there, and somebody may have acted on it.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from paddock.store.fold import Fold
from paddock.store.snapshots import load_snapshot
from paddock.store.witness import read_witness

if TYPE_CHECKING:
    import apsw

    from paddock.store.loss import LostRecords


def head_of(connection: "apsw.Connection") -> int:
    rows = connection.execute("SELECT coalesce(max(seq), 0) FROM events").fetchall()
    return int(rows[0][0])  # type: ignore[arg-type]


class WrittenApart:
    """Gather it before the transaction's first look at the log, so that what it tells of is visible there.

    `mapped`: see `load_snapshot`.
    """

    __slots__ = ("_connection", "_kept", "_path", "_witness")

    def __init__(self, path: Path, connection: "apsw.Connection", *, mapped: bool) -> None:
        self._path = path
        self._connection = connection
        self._witness = read_witness(path)
        self._kept = load_snapshot(path, mapped=mapped)

    def fold(self) -> Fold:
        """As far as the snapshot saves folding."""
        kept = self._kept
        return kept if kept is not None and self._hash_at(kept.board.seq) == kept.tip else Fold()

    def require_all(self) -> None:
        """Raises LogLost."""
        witness, kept = self._witness, self._kept
        whole = witness is None or self._hash_at(witness.seq) == witness.tip
        if whole and (kept is None or self._hash_at(kept.board.seq) is not None):
            return
        from paddock.store.loss import log_lost

        loss = self.loss()
        assert loss is not None
        raise log_lost(self._path, loss)

    def loss(self) -> "LostRecords | None":
        from paddock.store.loss import find_loss

        return find_loss(self._witness, self._kept, head_of(self._connection), self._hash_at)

    def missing_from(self, fold: Fold) -> "LostRecords | None":
        """What is still lost after those of `fold` were restored. Raises LogUnusable for records of another log."""
        from paddock.store.loss import require_own

        witness = self._witness
        return require_own(self._path, witness, fold, self._hash_at(witness.seq) if witness is not None else None)

    def _hash_at(self, seq: int) -> object:
        for (digest,) in self._connection.execute("SELECT hash FROM events WHERE seq=?", (seq,)):
            return digest
        return None
