"""What was written down of a log apart from it, held against what it has now: its witness and its snapshot.

Both are written after the commit: what they tell of was there, and somebody may have acted on it.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from paddock.store.fold import Fold
from paddock.store.place import LogPlace
from paddock.store.snapshots import load_snapshot
from paddock.store.witness import read_witness

if TYPE_CHECKING:
    from paddock.store.loss import LostRecords


class WrittenApart:
    """Gather it before the transaction's first look at the log, so that what it tells of is visible there.

    `head` and `hash_at` look into the log as it is now: at its newest number, and for the hash of a record, None where
    it has none. `mapped`: see `load_snapshot`.
    """

    __slots__ = ("_hash_at", "_head", "_kept", "_place", "_witness")

    def __init__(
        self, place: LogPlace, head: Callable[[], int], hash_at: Callable[[int], object], *, mapped: bool
    ) -> None:
        self._place = place
        self._head = head
        self._hash_at = hash_at
        self._witness = read_witness(place.file)
        self._kept = load_snapshot(place.file, mapped=mapped)

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
        raise log_lost(self._place, loss)

    def loss(self) -> "LostRecords | None":
        from paddock.store.loss import find_loss

        return find_loss(self._witness, self._kept, self._head(), self._hash_at)

    def missing_from(self, fold: Fold) -> "LostRecords | None":
        """What is still lost after those of `fold` were restored. Raises LogUnusable for records of another log."""
        from paddock.store.loss import require_own

        witness = self._witness
        return require_own(self._place, witness, fold, self._hash_at(witness.seq) if witness is not None else None)
