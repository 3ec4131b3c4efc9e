"""The dataset as it is written: batches of traces, each all of it or nothing."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import apsw
import msgspec
from msgspec.structs import replace

from paddock.insight.dataset.dataset import load_symbols
from paddock.insight.dataset.fates import ChangeFates
from paddock.insight.dataset.growing import GrowingTrace
from paddock.insight.dataset.imports import Import, ImportBook, imports_path
from paddock.insight.dataset.inserts import insert_calls, insert_steps, put_run, time_of
from paddock.insight.dataset.lock import WAIT_SECONDS, DatasetLock
from paddock.insight.dataset.namesakes import Namesakes
from paddock.insight.dataset.progress import Progress, read_progress, write_progress
from paddock.insight.dataset.rows import CALL_COLUMNS, STEP_COLUMNS, call_of, decode_kept, encode_kept, step_of
from paddock.insight.dataset.schema import TABLES, connect, is_empty, require_version
from paddock.insight.dataset.tellings import TELLINGS, Joined, Tellings
from paddock.insight.dataset.trouble import Explained, damaged
from paddock.insight.merging import merged
from paddock.insight.paths import CLOSING_STEPS, Symbols, keep
from paddock.insight.trace import KeptTrace, ModelCall, Result, Step, Trace

_RETELL = "UPDATE run SET task=?, kind=?, agent=?, engine=?, model=?, at=?, outcome=?, kept=?, tail=? WHERE key=?"


@dataclass(frozen=True, slots=True)
class KeptRow:
    """A run as it was kept, by which extractor, and from what import, as `begin_source` has it."""

    kept: KeptTrace
    extractor: int
    source: int | None


class DatasetWriter:
    """Makes the dataset where there is none. A batch begins with the first `add` and ends with `commit`; others wait.

    Close it, or use it in a `with`, which commits unless something was raised."""

    def __init__(self, path: Path, *, wait_seconds: float = WAIT_SECONDS) -> None:
        self.path = path
        self.symbols = Symbols()
        self._explained = Explained(path)
        self._saved = 0
        with self._explained:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = DatasetLock(path, wait_seconds)
            try:
                self._db = self._open()
            except BaseException:
                self._lock.close()
                raise
            status = path.stat()
        self._file = status.st_dev, status.st_ino
        self.fates = ChangeFates(self._db, self._explained)
        self.namesakes = Namesakes(self._db, self._explained)
        self._tellings = Tellings(self._db)

    @classmethod
    def open(cls, path: Path, *, wait_seconds: float = WAIT_SECONDS) -> Self:
        """Raises DatasetDamaged where what is there has to be made again."""
        return cls(path, wait_seconds=wait_seconds)

    def _open(self) -> apsw.Connection:
        self._lock.take()
        try:
            connection = connect(self.path, read_only=False)
            try:
                if is_empty(connection):
                    connection.execute(f"BEGIN IMMEDIATE; {TABLES} COMMIT")
                require_version(connection, self.path)
                connection.execute(TELLINGS)
                self.imports = ImportBook(connection, self.path)
                if not imports_path(self.path).exists():
                    self.imports.adopt()
            except BaseException:
                connection.close()
                raise
            return connection
        finally:
            self._lock.release()

    def add(self, trace: Trace, source: int | None = None) -> int:
        """Takes the place of a run of that name in that batch. Returns its key. `source` is where it is imported from,
        as `begin_source` has it."""
        with self._explained:
            self._begin()
            key = self._put(trace, source)
            if source is not None:
                self.imports.note(source, trace.label)
        return key

    def join(self, known: KeptRow, told: Trace, source: int) -> Joined:
        """Adds to a run what `source` tells of it as well."""
        with self._explained:
            self._begin()
            before = self.whole(known.kept.key)
            now = merged(before, told)
            if now != before or known.source != source:
                self._tellings.note(known.kept.key, before, known.source, told, source)
                self.add(now, source)
            return Joined(before, now)

    def begin_source(self, batch: str, path: str, label: str, at: float, forgotten: Sequence[str] = ()) -> int:
        """The key of what runs are imported from; all that an earlier import of the same `batch` has left goes. Runs
        that are labelled as one of `forgotten` stay away."""
        with self._explained:
            self._begin()
            self._tellings.withdraw(batch, self._put)
            return self.imports.begin(Import(batch, path, label, at, forgotten=tuple(forgotten)))

    def remove(self, label: str) -> int | None:
        """Forgets a batch, and that anything was imported as it. How many runs it had, None where nobody knows it."""
        with self._explained:
            self._begin()
            keys = [key for (key,) in self._db.execute("SELECT key FROM run WHERE label=?", (label,))]
            self.forget(keys)
            return len(keys) if self.imports.forget(label) or keys else None

    def forget(self, keys: Sequence[int]) -> None:
        with self._explained:
            self._begin()
            for table, column in (("step", "run"), ("call", "run"), ("run", "key")):
                self._db.executemany(f"DELETE FROM {table} WHERE {column}=?", [(key,) for key in keys])

    def whole(self, key: int) -> Trace:
        """A run with its steps and calls, as it is in this batch. Raises LookupError where there is no such run."""
        with self._explained:
            for blob, tail in self._db.execute("SELECT kept, tail FROM run WHERE key=?", (key,)):
                steps = self._db.execute(f"SELECT {STEP_COLUMNS} FROM step WHERE run=? ORDER BY seq", (key,))
                calls = self._db.execute(f"SELECT {CALL_COLUMNS} FROM call WHERE run=? ORDER BY seq", (key,))
                return replace(
                    decode_kept(blob, tail).trace,
                    steps=tuple(step_of(row, self.symbols) for row in steps),
                    calls=tuple(call_of(row) for row in calls),
                )
        raise LookupError(f"the dataset has no run {key}")

    def begin(self, label: str, run: str) -> int:
        """The key of a run that is to `grow`. Nothing of an earlier one of that name is left."""
        with self._explained:
            self._begin()
            return self._clear(label, run)

    def grow(self, growing: GrowingTrace, trace: Trace, steps: Sequence[Step], calls: Sequence[ModelCall]) -> None:
        """The run as it is by now: these steps and calls are new."""
        with self._explained:
            self._begin()
            insert_steps(self._db, growing.key, steps, growing.step_count, self.symbols)
            insert_calls(self._db, growing.key, calls, growing.call_count)
            growing.extend(steps, calls, self.symbols)
            put_run(self._db, growing.kept(trace), growing.call_count)

    def retell(self, kept: KeptTrace) -> None:
        """The same run with other words about it: its steps stay, and so does who has extracted them."""
        with self._explained:
            self._begin()
            kept = replace(kept, closing=self._closing(kept))
            blob, tail = encode_kept(kept)
            trace = kept.trace
            names = (trace.task, trace.kind, trace.agent, trace.engine, trace.model)
            values = (*names, time_of(trace), trace.outcome.value, blob, tail, kept.key)
            self._db.execute(_RETELL, values)

    def progress(self) -> Progress:
        with self._explained:
            return read_progress(self._db)

    def note_progress(self, progress: Progress) -> None:
        with self._explained:
            self._begin()
            write_progress(self._db, progress)

    def is_in_place(self) -> bool:
        """Whether what is written is still found: somebody may have laid the file aside."""
        try:
            found = self.path.stat()
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == self._file

    def enter(self) -> None:
        """Begins the batch, if it has not begun: what is read from now on is what it changes."""
        with self._explained:
            self._begin()

    def kept(self, label: str, run: str) -> KeptRow | None:
        with self._explained:
            sql = "SELECT kept, tail, extractor, source FROM run WHERE label=? AND run=?"
            for blob, tail, extractor, source in self._db.execute(sql, (label, run)):
                try:
                    return KeptRow(decode_kept(blob, tail), extractor, source)
                except (msgspec.DecodeError, zlib.error) as error:
                    raise damaged(self.path, str(error)) from None
        return None

    def names(self, label: str) -> list[str]:
        """Of the runs of a batch."""
        with self._explained:
            return [name for (name,) in self._db.execute("SELECT run FROM run WHERE label=? ORDER BY key", (label,))]

    def forget_runs(self, label: str, runs: Sequence[str]) -> None:
        with self._explained:
            self._begin()
            self.forget([self._key_of(label, run)[0] for run in runs])

    def mark_outdated(self, label: str, runs: Sequence[str]) -> None:
        """They are to be made again from what they were made of."""
        with self._explained:
            self._begin()
            sql = "UPDATE run SET extractor=0 WHERE label=? AND run=?"
            self._db.executemany(sql, [(label, run) for run in runs])

    def commit(self) -> None:
        with self._explained:
            if not self._db.in_transaction:
                return
            try:
                self._save_symbols()
                self.imports.save()
                self._db.execute("COMMIT")
            except BaseException:
                self.roll_back()
                raise
            self._lock.release()

    def roll_back(self) -> None:
        """Forgets what was added since the last commit."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")
            self.imports.drop()
            self.symbols = Symbols()
            self._saved = 0
            self._lock.release()

    def close(self) -> None:
        self.roll_back()
        self._db.close()
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                self.commit()
        finally:
            self.close()

    def _begin(self) -> None:
        if self._db.in_transaction:
            return
        self._lock.take()
        try:
            self._db.execute("BEGIN IMMEDIATE")
            load_symbols(self._db, self.symbols)
            self._saved = len(self.symbols)
            ((self._last_key,),) = self._db.execute("SELECT ifnull(max(seq), 0) FROM sqlite_sequence WHERE name='run'")
        except BaseException:
            self._lock.release()
            raise

    def _put(self, trace: Trace, source: int | None) -> int:
        key = self._clear(trace.label, trace.run)
        insert_steps(self._db, key, trace.steps, 0, self.symbols)
        insert_calls(self._db, key, trace.calls, 0)
        put_run(self._db, keep(trace, key, self.symbols), len(trace.calls), source)
        return key

    def _clear(self, label: str, run: str) -> int:
        key, is_new = self._key_of(label, run)
        if not is_new:
            self._db.execute("DELETE FROM step WHERE run=?", (key,))
            self._db.execute("DELETE FROM call WHERE run=?", (key,))
        return key

    def _key_of(self, label: str, run: str) -> tuple[int, bool]:
        for (key,) in self._db.execute("SELECT key FROM run WHERE label=? AND run=?", (label, run)):
            return int(key), False
        self._last_key += 1
        return self._last_key, True

    def _closing(self, kept: KeptTrace) -> tuple[Step, ...]:
        if kept.trace.outcome is Result.SUCCESS:
            return ()
        sql = f"SELECT {STEP_COLUMNS} FROM step WHERE run=? ORDER BY seq DESC LIMIT ?"
        rows = self._db.execute(sql, (kept.key, CLOSING_STEPS)).fetchall()
        return tuple(step_of(row, self.symbols) for row in reversed(rows))

    def _save_symbols(self) -> None:
        new = [(code, self.symbols.text(code)) for code in range(self._saved, len(self.symbols))]
        self._db.executemany("INSERT INTO symbol(code, text) VALUES(?,?)", new)
        self._saved = len(self.symbols)
