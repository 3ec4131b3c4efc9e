"""Where a log is moved to: made ready to be filled by one, and opened to everybody at the end.

Until then it says that it is being filled, so nobody takes it for a log.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from typing import Protocol

from paddock.core.errors import PaddockError
from paddock.git.checkpoints import Checkpoint
from paddock.store.location import postgres_store
from paddock.store.moved import FILLING, note_of, read_note, write_note
from paddock.store.place import LogPlace
from paddock.store.protocol import Query, Store
from paddock.store.snapshots import drop_snapshot, snapshot_path
from paddock.store.witness import read_witness, sync_folder, witness_path


class Destination(Protocol):
    """Both raise PaddockError where another log is."""

    place: LogPlace

    def filling(self, source: Store) -> AbstractContextManager[Store]:
        """What is to be filled with the records of `source`. It may have the first of them already."""

    def finish(self, checkpoint: Checkpoint) -> int:
        """After the old place was marked: opens it to everybody, if that was not done yet. How many records it has."""


class PostgresDestination:
    def __init__(self, place: LogPlace) -> None:
        self.place = place

    @contextmanager
    def filling(self, source: Store) -> Iterator[Store]:
        _set_strange_witness_aside(self.place, source)
        opened = postgres_store()
        with closing(opened(self.place, create=True, announce=False, even_moved=True, moved=FILLING)) as copy:
            head, moved = copy.head(), copy.moved()
            if head and not moved:
                raise _occupied(self.place, source, copy)
            _require_beginning(self.place, source, copy)
            if moved != FILLING:
                copy.set_moved(FILLING, head)
            yield copy

    def finish(self, checkpoint: Checkpoint) -> int:
        with closing(postgres_store()(self.place, even_moved=True)) as copy:
            head = copy.head()
            if copy.moved() == FILLING:
                copy.set_moved("", head)
            elif copy.moved():
                raise PaddockError(f"the log `{self.place}` was moved on to {copy.moved()}", "run `paddock store show`")
        checkpoint("migrate.opened")
        return head


class FileDestination:
    """It is filled in a folder of its own, and renamed into place."""

    def __init__(self, place: LogPlace) -> None:
        self.place = place
        self._draft = place.state_dir / FILLING / place.file.name

    @contextmanager
    def filling(self, source: Store) -> Iterator[Store]:
        from paddock.store.sqlite import SqliteStore

        if self.place.file.exists():
            raise PaddockError(
                f"there is a log in the file `{self.place.file}` already",
                "if it is an old copy, move it away; then run this again",
            )
        _set_strange_witness_aside(self.place, source)
        write_note(self.place.file, FILLING)
        with closing(SqliteStore(self._draft, create=True, announce=False)) as copy:
            if is_beginning := not _differs(source, copy):
                yield copy
        if not is_beginning:
            self._clear()
            with self.filling(source) as copy:
                yield copy

    def finish(self, checkpoint: Checkpoint) -> int:
        from paddock.store.sqlite import SqliteStore

        if not self.place.file.exists():
            self._take_place(checkpoint)
        checkpoint("migrate.opened")
        if read_note(self.place.file) == FILLING:
            note_of(self.place.file).unlink()
        self._clear()
        with closing(SqliteStore(self.place.file)) as store:
            return store.board().seq

    def _take_place(self, checkpoint: Checkpoint) -> None:
        """What is kept beside the log comes first: it is true of the log that was here before, too."""
        from paddock.store.sqlite import SqliteStore

        drop_snapshot(self.place.file)
        with closing(SqliteStore(self._draft)) as copy:
            copy.board()
            copy.fold_in()
        checkpoint("migrate.folded")
        with suppress(FileNotFoundError):
            os.replace(witness_path(self._draft), witness_path(self.place.file))
        with suppress(FileNotFoundError):
            os.replace(snapshot_path(self._draft), snapshot_path(self.place.file))
        sync_folder(self.place.state_dir.parent)
        checkpoint("migrate.placing")
        os.rename(self._draft, self.place.file)
        sync_folder(self.place.state_dir)

    def _clear(self) -> None:
        witness_path(self._draft).unlink(missing_ok=True)
        shutil.rmtree(self._draft.parent, ignore_errors=True)


def _differs(source: Store, copy: Store) -> bool:
    """Whether what the copy has is not the beginning of the log."""
    if not (head := copy.head()):
        return False
    row = next(source.rows(head - 1), None)
    return row is None or row[-1] != next(copy.rows(head - 1))[-1]


def _require_beginning(place: LogPlace, source: Store, copy: Store) -> None:
    if _differs(source, copy):
        raise _occupied(place, source, copy)


def _occupied(place: LogPlace, source: Store, copy: Store) -> PaddockError:
    ours, theirs = _first_hash(source), _first_hash(copy)
    if ours == theirs:
        return PaddockError(
            f"`{place}` has this very log, with {copy.head():,} records; this one has {source.head():,}",
            "one of them is an old copy: compare `paddock log -n 3` with `paddock --set store.url=URL log -n 3`",
        )
    return PaddockError(
        f"`{place}` holds another log, with {copy.head():,} records", "name another schema: `--schema NAME`"
    )


def _first_hash(store: Store) -> bytes | None:
    for record in store.records(Query(until=1)):
        return record.hash
    return None


def _set_strange_witness_aside(place: LogPlace, source: Store) -> None:
    """What this machine remembers of another log that was there, under that log's own name."""
    witness = read_witness(place.file)
    if witness is None or witness.identity == source.board().identity:
        return
    found = witness_path(place.file)
    found.rename(found.with_name(f"{found.name}.{witness.identity or 'unknown'}"))
    drop_snapshot(place.file)
