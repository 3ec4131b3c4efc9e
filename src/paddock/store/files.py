"""The files a store has open, and the process that opened them.

SQLite goes on writing to files that were removed or replaced under it: everybody else never sees what it
acknowledges, or sees it overwritten, for two indexes of one write-ahead log know nothing of each other. So a
writer makes sure that the names still stand for the files it opened.
"""

import os
import time
from pathlib import Path

from paddock.store.protocol import LogUnusable
from paddock.store.trouble import quote

# A folder's time of change is that of a clock which ticks every few milliseconds.
TICK_NANOSECONDS = 50_000_000

_Identity = tuple[int, int]


class OpenFiles:
    """`wal_bytes` is the size of the write-ahead log when it was last looked at."""

    def __init__(self, log: Path, *, read_only: bool) -> None:
        self._log = log
        self._folder = str(log.parent)
        # A reader may have come before the write-ahead log did.
        self._names = (str(log),) if read_only else (str(log), f"{log}-shm", f"{log}-wal")
        self._process = os.getpid()
        self.wal_bytes = 0
        self._wal_at_least = 0
        self._unchanged: tuple[int, int] | None = None
        self._opened = self._identities()

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
        name = next(name for name, now, then in zip(self._names, found, self._opened, strict=True) if now != then)
        raise LogUnusable(
            f"`{name}` was removed or replaced while the log was open: nothing was written",
            f"put the file back, or end whatever uses the log (`fuser -v {quote(self._log)}*`) and run it again",
        )

    def wal_shrank(self) -> bool:
        """Whether the write-ahead log is shorter than it was: another process has folded it in, or it was cut short.

        Never look into the index for which: to close a file of its own takes SQLite's locks on it away.
        """
        return os.stat(self._names[-1]).st_size < self._wal_at_least

    def remember_wal(self) -> None:
        """After a commit, or when it may well be shorter."""
        self._wal_at_least = os.stat(self._names[-1]).st_size

    def require_own(self) -> None:
        """Raises LogUnusable in a forked process: it shares the writers' lock with its parent, so it would not wait."""
        if os.getpid() != self._process:
            raise LogUnusable(
                f"the log `{self._log}` was opened by process {self._process}, not by this one",
                "open it again after a fork",
            )

    def _identities(self) -> tuple[_Identity | None, ...]:
        found: list[_Identity | None] = []
        for name in self._names:
            try:
                stat = os.stat(name)
            except FileNotFoundError:
                found.append(None)
            else:
                found.append((stat.st_dev, stat.st_ino))
                self.wal_bytes = stat.st_size  # the write-ahead log comes last
        return tuple(found)
