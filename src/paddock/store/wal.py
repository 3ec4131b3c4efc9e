"""The write-ahead log of a log that is open: SQLite keeps what was written last there, and nowhere else.

Nothing stays longer than a second in it alone, it does not grow without end, and one that is cut short is noticed
before anything is written behind the hole.
"""

import time
from pathlib import Path

import apsw

from paddock.core.errors import PaddockError
from paddock.store.files import OpenFiles
from paddock.store.fold import Fold
from paddock.store.schema import checkpoint_wal, shrink_wal

# The automatic checkpoint starts the write-ahead log over at 4 MB, unless readers overlap all the time.
WAL_LIMIT_BYTES = 16 * 1024 * 1024
RETRY_BYTES = 1024 * 1024
"""A try to shrink it costs a writer a fifth of a second at most, and this is some thousand records."""
MOST_READ_BACK = 10_000
SETTLE_SECONDS = 1.0
"""Nothing stays longer in the write-ahead log alone, unless a reader needs it there."""


class WriteAheadLog:
    """`settled` is the newest record that is known to be in the database itself."""

    def __init__(self, path: Path, connection: apsw.Connection, *, read_only: bool, busy_seconds: float) -> None:
        self._path = path
        self._connection = connection
        self._busy_seconds = busy_seconds
        self._files = OpenFiles(path, read_only=read_only)
        self._shrink_at = WAL_LIMIT_BYTES
        self._settle_at = time.monotonic() + SETTLE_SECONDS
        self._read_to = -1
        self.settled = -1

    def close(self) -> None:
        self._files.close()

    def is_in_place(self) -> bool:
        """Whether the log's name still stands for the file that was opened."""
        return self._files.log_is_same()

    def require_sound(self, fold: Fold | None) -> None:
        """Raises LogUnusable if a file of the log was removed, replaced or cut short; `fold` is what was in it."""
        self._files.require_same()
        if self._files.wal_shrank():
            self._require_whole(fold)

    def have_committed(self, fold: Fold) -> None:
        """Outside of a transaction, and under the writers' lock."""
        self._files.remember_wal()
        if self._files.wal_bytes > self._shrink_at:
            self._shrink()
        if time.monotonic() >= self._settle_at:
            self.checkpoint(fold)

    def checkpoint(self, fold: Fold | None) -> None:
        """What a reader needs in the write-ahead log stays there."""
        self._settle_at = time.monotonic() + SETTLE_SECONDS
        if checkpoint_wal(self._connection) and fold is not None:
            self.settled = fold.board.seq

    def fold_in(self) -> None:
        """All of it, so that the database is the whole log. Raises LogUnusable while a reader is in the way."""
        from paddock.store.protocol import LogUnusable

        if not shrink_wal(self._connection, busy_seconds=self._busy_seconds):
            raise LogUnusable(f"a reader holds the log `{self._path}`", "run this again in a moment")
        self._files.remember_wal()

    def read_back(self, fold: Fold) -> None:
        """By another connection: this one has what it wrote in memory, whatever has become of it on disk.

        Raises LogUnusable."""
        from paddock.store.verification import require_on_disk

        require_on_disk(self._path, max(self._read_to, fold.board.seq - MOST_READ_BACK), fold)
        self._read_to = fold.board.seq

    def read_back_after(self, seq: int) -> None:
        """A fold that begins again at `seq` has read the records after it only now."""
        self._read_to = min(self._read_to, seq)

    def _require_whole(self, fold: Fold | None) -> None:
        from paddock.store.loss import cut_short

        try:
            if fold is not None:
                self.read_back(fold)
        except PaddockError as error:
            raise cut_short(self._path) from error
        # SQLite would go on behind a hole, unless it begins the file again.
        if not shrink_wal(self._connection, busy_seconds=self._busy_seconds):
            raise cut_short(self._path)
        self._files.remember_wal()

    def _shrink(self) -> None:
        """Tried again when it has grown by some more: a reader that stays must not hold up every writer."""
        done = shrink_wal(self._connection, busy_seconds=self._busy_seconds)
        self._files.remember_wal()
        self._shrink_at = WAL_LIMIT_BYTES if done else self._files.wal_bytes + RETRY_BYTES
