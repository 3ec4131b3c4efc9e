"""The files a writer has open.

SQLite goes on writing to files that were removed or replaced under it: everybody else never sees what it
acknowledges, or sees it overwritten, for two indexes of one write-ahead log know nothing of each other. So a
writer makes sure that the names still stand for the files it opened.
"""

import os
import time
from pathlib import Path

from paddock.store.place import LogPlace
from paddock.store.protocol import LogUnusable
from paddock.store.trouble import quote

# A folder's time of change is that of a clock which ticks every few milliseconds.
TICK_NANOSECONDS = 50_000_000

_Identity = tuple[int, int]


class OpenFiles:
    """`wal_bytes` is the size of the write-ahead log when it was last looked at.

    The write-ahead log is held open: SQLite has no locks on it which closing it would take away, as it would those on
    the other two. Never look into the index for what happened to it.
    """

    def __init__(self, log: Path, *, read_only: bool) -> None:
        self._log = log
        self._folder = str(log.parent)
        # A reader may have come before the write-ahead log did.
        self._names = (str(log),) if read_only else (str(log), f"{log}-shm", f"{log}-wal")
        self.wal_bytes = 0
        self._unchanged: tuple[int, int] | None = None
        self._opened = self._identities()
        self._wal = -1 if read_only else os.open(self._names[-1], os.O_RDONLY | os.O_CLOEXEC)

    def log_is_same(self) -> bool:
        return self._identities()[0] == self._opened[0]

    def require_same(self) -> None:
        """Raises LogUnusable if one was removed or replaced. The inode of an open file is given to no other.

        While nothing in their folder comes, goes or changes its name they need not be looked at again.
        """
        stat = os.stat(self._folder)
        folder = (stat.st_ino, stat.st_mtime_ns)
        if folder == self._unchanged:
            return
        found = self._identities()
        if found == self._opened:
            self._unchanged = folder if time.time_ns() - stat.st_mtime_ns > TICK_NANOSECONDS else None
            return
        if found[0] is None:
            from paddock.store.moved import refuse_moved

            refuse_moved(LogPlace(self._log))
        name = next(name for name, now, then in zip(self._names, found, self._opened, strict=True) if now != then)
        raise LogUnusable(
            f"`{name}` was removed or replaced while the log was open: nothing was written",
            f"put the file back, or end whatever uses the log (`fuser -v {quote(self._log)}*`) and run it again",
        )

    def wal_shrank(self) -> bool:
        """Whether the write-ahead log is shorter than it was: another process has folded it in, or it was cut short."""
        return self._wal >= 0 and os.fstat(self._wal).st_size < self.wal_bytes

    def remember_wal(self) -> None:
        """After a commit, or when it may well be shorter."""
        self.wal_bytes = os.fstat(self._wal).st_size

    def close(self) -> None:
        if self._wal >= 0:
            os.close(self._wal)
            self._wal = -1

    def _identities(self) -> tuple[_Identity | None, ...]:
        found: list[_Identity | None] = []
        for name in self._names:
            try:
                stat = os.stat(name)
            except FileNotFoundError:
                found.append(None)
            else:
                found.append((stat.st_dev, stat.st_ino))
        return tuple(found)
