"""What a log can do. SQLite is the embedded implementation; every other passes the same tests.

Writing is always the same step: lock, catch up, decide, evolve, append. `decide` sees the board as
it will be when its events are appended, so no decision is ever taken on stale state, and what
cannot fold is never written.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, Self

import msgspec

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import Draft, Record
from paddock.store.codec import Row

if TYPE_CHECKING:
    from paddock.core.intent.workers import Worker
    from paddock.store.loss import LostRecords
    from paddock.store.verification import Verification

Decide = Callable[[Board], Sequence[Draft]]


class Author(msgspec.Struct, frozen=True):
    """Who writes: a person (`ana@host`), the daemon, an agent. People have generation 0.

    What a `worker` may not ask for is refused where it would be recorded.
    """

    name: str
    generation: int = 0
    worker: "Worker | None" = None


class Query(msgspec.Struct, frozen=True):
    """Which records to read. `kind` may end in `*`; `task` includes its attempts."""

    after: int = 0
    until: int | None = None
    task: str | None = None
    kind: str | None = None
    since: float | None = None


Ask = Callable[[Query], Iterable[Record]]
"""Reads records of the log: `Store.records`, for those that need nothing else of a store."""


class LogUnusable(PaddockError):
    """The log is damaged, locked, full, out of reach or of a newer version."""


class LogLost(LogUnusable):
    """Records that were acknowledged are not there any more."""


class LogGone(LogUnusable):
    """There was a log, and all of it is gone."""


class LogUnavailable(LogUnusable):
    """Not now: nothing is lost, and it may work later. Whoever can wait tries again."""


class LogFull(LogUnavailable):
    """There is no room to write: nothing was written, and there may be room later."""


class LogMissing(LogUnusable):
    """There is no log, and nothing says that there was one."""


class LogMoved(LogUnusable):
    """The log was moved to another place; this is what was left behind."""


class Listener(Protocol):
    """Wakes up after every commit. A wake-up carries nothing: the woken reader reads the log.

    A wake-up that is lost costs time, never an event; so wait with a bound. Close it, or use it in a `with`.
    """

    def wait(self, timeout_seconds: float) -> bool:
        """Blocks. False when the time passed and nothing was committed."""

    def tell(self, heard: Callable[[], None]) -> None:
        """Does not block: from now on the running event loop calls `heard`."""

    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Store(Protocol):
    """For the thread that opened it; any other is refused, because a board belongs to one thread.

    What was acknowledged is witnessed where the loss of the log does not take it along. A log that has lost some of it
    raises LogLost wherever it is read to be acted on or written, until the records are restored or a person has
    accepted the loss. Its records can still be looked at.
    """

    def append(self, decide: Decide, author: Author) -> list[Record]:
        """One transaction. Returns once the records are durable; raises what `decide` raises."""

    def append_all(self, decisions: Sequence[tuple[Decide, Author]]) -> list[list[Record] | PaddockError]:
        """Several decisions in one transaction, each seeing the ones before it; a refused one leaves no trace.

        A decision may be asked twice: when one of the group fails halfway, each is written on its own.
        """

    def board(self) -> Board:
        """The board at the newest record. Every later call on this store may change it."""

    def known(self) -> Board:
        """The board as this store last read or wrote it, without another look at the log."""

    def records(self, query: Query) -> Iterator[Record]: ...

    def record(self, seq: int) -> Record:
        """Raises LogUnusable if there is no such record."""

    def head(self) -> int:
        """The newest sequence number: cheap enough to ask on every wake-up."""

    def verify(self) -> "Verification":
        """Walks the whole hash chain."""

    def rebuild(self) -> bool:
        """Drops snapshots and folds again. True if the newest snapshot had said the same."""

    def rows(self, after: int = 0) -> Iterator[Row]:
        """Records byte for byte as they are stored, for mirrors and verification."""

    def restore(self, rows: Iterable[Row]) -> int:
        """Appends rows of another copy of this log that follow its head; the chain must hold. All or none.

        Records that were lost must be the ones that come back.
        """

    def loss(self) -> "LostRecords | None":
        """What was acknowledged and is not there any more; None if the log has all that is known to have been."""

    def accept_loss(self, author: Author, reason: str = "") -> "LostRecords | None":
        """Continues without what is lost, on record; every number that was given is skipped. None if nothing is."""

    def settle(self) -> bool:
        """Puts what was recorded to rest, so that no single file that is lost takes more than a second along.

        For those who stay: call it a second after they wrote. False if a reader is in the way: try again. Raises
        LogUnusable where what was acknowledged cannot be read back.
        """

    def listen(self) -> Listener:
        """Works even if nothing can wake it: each wait then ends early, for another look."""

    def exists(self) -> bool:
        """Whether the log that was opened is still there: it may be deleted together with its repository, and another
        one may be in its place."""

    def close(self) -> None: ...
