"""A log that moves to another place: into a database, out of it, or from one to another.

It is copied while people go on writing, verified, and completed under the lock of its writers. Only then is the old
place marked as moved, and only after that is the new one opened: there is never a moment at which both take records.
Killed anywhere, it is done again; what is there by then is used.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Protocol

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.git.checkpoints import Checkpoint, no_checkpoint
from paddock.store.codec import GENESIS, Row, follows
from paddock.store.destination import Destination, FileDestination, PostgresDestination
from paddock.store.location import postgres_store
from paddock.store.moved import left_file, name_of, read_note
from paddock.store.place import LogPlace
from paddock.store.protocol import LogMoved, LogUnusable, Store

PIECE = 5_000
"""Records that are copied at once. Whoever is killed has to begin with this many again."""


@dataclass(frozen=True, slots=True)
class Migrated:
    """`records` are all that the log has; `copied` are those of them that were not in the new place before."""

    records: int
    copied: int
    kept: Path | None
    """The file that the log was in, if it was in one."""
    before: bool = False
    """It had left the old place before."""


@dataclass(frozen=True, slots=True)
class Course:
    """`require_idle` raises PaddockError while a daemon works with the log of this board; `told` hears how many records
    there are of how many."""

    require_idle: Callable[[Board], None]
    told: Callable[[int, int], None] = lambda _have, _of: None
    checkpoint: Checkpoint = no_checkpoint


class _Source(Store, Protocol):
    def move_away(
        self, moved: str, take_rest: Callable[[Board], None], checkpoint: Checkpoint = no_checkpoint
    ) -> None: ...


def migrate(source: LogPlace, to: LogPlace, course: Course) -> Migrated:
    """Raises PaddockError, with the log where it was, or on its way: then it has to be done again."""
    if source == to:
        raise PaddockError(f"the log is at `{to}` already", "see it with `paddock store show`")
    with _alone(source.state_dir):
        target = PostgresDestination(to) if to.is_shared else FileDestination(to)
        if not has_left(source, to):
            return _move(source, target, course)
        records = target.finish(course.checkpoint)
        return Migrated(records, 0, _kept(source), before=True)


def has_left(source: LogPlace, to: LogPlace) -> bool:
    """Whether the log is in `to` now, or only has to be opened there. Raises LogUnusable."""
    if not source.is_shared:
        return not source.file.exists() and read_note(source.file) == name_of(to)
    with closing(postgres_store()(source, read_only=True, even_moved=True)) as store:
        return store.moved() == name_of(to)


def _move(source: LogPlace, target: Destination, course: Course) -> Migrated:
    with closing(_open_source(source)) as store:
        course.require_idle(store.board())
        with target.filling(store) as copy:
            course.checkpoint("migrate.filling")
            had = copy.head()
            _copy(store, copy, course)
            head, tip = _verify(copy, target.place)
            course.checkpoint("migrate.verified")

            def take_rest(board: Board) -> None:
                course.require_idle(board)
                _copy(store, copy, course)
                _require_same(copy, head, tip, next(store.rows(board.seq - 1)))
                course.checkpoint("migrate.complete")

            store.move_away(name_of(target.place), take_rest, course.checkpoint)
        course.checkpoint("migrate.left")
    records = target.finish(course.checkpoint)
    return Migrated(records, records - had, _kept(source))


def _kept(source: LogPlace) -> Path | None:
    return None if source.is_shared else left_file(source.file)


def _open_source(source: LogPlace) -> _Source:
    """Raises LogUnusable; LogMoved where it is at yet another place."""
    if source.is_shared:
        return postgres_store()(source)
    from paddock.store.sqlite import SqliteStore

    return SqliteStore(source.file)


def _copy(source: Store, copy: Store, course: Course) -> None:
    while (have := copy.head()) < (newest := source.head()):
        rows = source.rows(have)
        try:
            copy.restore(islice(rows, PIECE))
        finally:
            rows.close()  # type: ignore[attr-defined]
        course.checkpoint("migrate.piece")
        course.told(min(have + PIECE, newest), newest)


def _verify(copy: Store, place: LogPlace) -> tuple[int, bytes]:
    """Reads all that was copied back. The number and the hash of the last record."""
    found = copy.verify()
    if found.bad is not None:
        raise LogUnusable(
            f"record {found.bad.seq} in `{place}` is bad: {found.bad.problem}",
            "the log is where it was; drop what was copied, then run this again",
        )
    return found.records, _last(copy)[-1]


def _last(store: Store) -> Row:
    return next(store.rows(store.head() - 1))


def _require_same(copy: Store, head: int, tip: bytes, last: Row) -> None:
    """The records after `head` as they were copied, up to `last` of the log itself."""
    seq, previous = head, tip or GENESIS
    for row in copy.rows(head):
        if row[0] != seq + 1 or not follows(previous, row):
            raise LogUnusable(f"record {seq + 1} was not copied as it is", "the log is where it was; run this again")
        seq, previous = row[0], row[-1]
    if (seq, previous) != (last[0], last[-1]):
        raise LogUnusable(
            f"the copy ends with record {seq}, the log with record {last[0]}", "the log is where it was; run this again"
        )


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Only one of this machine moves a log of this repository. Raises LogMoved while another one does."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / "migration.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LogMoved("the log is being moved by another `paddock store migrate`", "wait until it ends") from None
        yield
    finally:
        os.close(descriptor)
