"""The dataset as it is read: runs as cohorts are computed with, and the steps and calls of each.

Nothing here waits for a writer, and a look sees all of a batch or nothing of it.
"""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import apsw
import msgspec
from msgspec.structs import replace

from paddock.insight.dataset.headers import FLEET
from paddock.insight.dataset.imports import Import, read_imports
from paddock.insight.dataset.progress import Progress, read_progress
from paddock.insight.dataset.rows import CALL_COLUMNS, STEP_COLUMNS, Value, call_of, decode_kept, step_of
from paddock.insight.dataset.schema import connect
from paddock.insight.dataset.trouble import Explained, damaged
from paddock.insight.paths import Symbols
from paddock.insight.selection import EVERYTHING, Selection
from paddock.insight.trace import EXTRACTOR_VERSION, KeptTrace, ModelCall, Result, Step, Trace

_NAMES = ("task", "kind", "agent", "engine", "model", "label")


class LabelCount(msgspec.Struct, frozen=True):
    """A batch of runs. `outdated` are those that an older extractor made, and `first` and `last` their times."""

    label: str
    runs: int
    steps: int
    failed: int
    outdated: int
    first: float | None
    last: float | None


class Source(msgspec.Struct, frozen=True):
    """An import, and how many of its runs there are: None where the dataset does not have it, because it was made
    again since, or because somebody was killed."""

    told: Import
    runs: int | None

    @property
    def is_missing(self) -> bool:
        """Wholly or in part."""
        return self.runs is None or not self.told.whole


class Dataset:
    """Open for reading; close it, or use it in a `with`. Raises DatasetUnusable wherever it cannot be read. `behind`
    is why it was not brought up to date, and `lack` what of the imports is missing; empty if nothing is, or nobody has
    looked."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.behind = ""
        self.lack = ""
        self.symbols = Symbols()
        self._explained = Explained(path)
        with self._explained:
            self._db = connect(path, read_only=True)
            self._load_symbols()

    @classmethod
    def open(cls, path: Path) -> Self:
        """Raises DatasetAbsent where there is none, and DatasetDamaged where it has to be made again."""
        return cls(path)

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def runs(
        self, where: Selection = EVERYTHING, *, failed: bool | None = None, limit: int | None = None
    ) -> list[KeptTrace]:
        """In the order in which they were taken in. With `limit` only the latest; `failed` False is all that did not
        fail, also where nobody knows."""
        test, values = _condition(where, failed)
        if limit is not None:
            test = f"key IN (SELECT key FROM run WHERE {test} ORDER BY at DESC, key DESC LIMIT ?)"
            values = (*values, limit)
        with self._look():
            rows = self._db.execute(f"SELECT kept, tail FROM run WHERE {test} ORDER BY key", values)
            return [self._decode(blob, tail) for blob, tail in rows]

    def keys(self, where: Selection = EVERYTHING, *, failed: bool | None = None) -> list[int]:
        """Of the same runs, for who takes them one after the other."""
        test, values = _condition(where, failed)
        with self._look():
            return [int(key) for (key,) in self._db.execute(f"SELECT key FROM run WHERE {test} ORDER BY key", values)]

    def fleet_ends(self) -> list[tuple[float, str]]:
        """When attempts of the fleet ended, and their names, in that order."""
        with self._look():
            live = read_progress(self._db).live
            rows = self._db.execute("SELECT at, run FROM run WHERE label=? AND at NOTNULL ORDER BY at, run", (FLEET,))
            return [(at, run) for at, run in rows if run not in live]

    def labels(self) -> list[LabelCount]:
        columns = "label, count(*), sum(steps), sum(outcome=?), sum(extractor<?), min(at), max(at)"
        with self._look():
            values = (Result.FAILURE.value, EXTRACTOR_VERSION)
            rows = self._db.execute(f"SELECT {columns} FROM run GROUP BY label ORDER BY label", values)
            return [LabelCount(*row) for row in rows]

    def sources(self) -> list[Source]:
        """What was imported, the latest last."""
        told = "SELECT key FROM run WHERE source=source.key UNION SELECT run FROM telling WHERE source=source.key"
        sql = f"SELECT batch, (SELECT count(*) FROM ({told})) FROM source"
        with self._look():
            runs = {str(batch): int(count) for batch, count in self._db.execute(sql)}
            return [Source(one, runs.get(one.batch)) for one in read_imports(self.path)]

    def progress(self) -> Progress:
        """How far the fleet's log has been taken in."""
        with self._look():
            return read_progress(self._db)

    def check(self) -> None:
        """Reads all of it. Raises DatasetDamaged."""
        with self._look():
            for (told,) in self._db.execute("PRAGMA integrity_check(1)"):
                if told != "ok":
                    raise damaged(self.path, str(told))
        for label in self.labels():
            self.runs(Selection(label=label.label))

    def find(self, run: str, label: str | None = None) -> KeptTrace | None:
        """The run of that name; without a label the one that was taken in last, if several batches have it."""
        test, values = ("run=?", (run,)) if label is None else ("run=? AND label=?", (run, label))
        with self._look():
            for blob, tail in self._db.execute(
                f"SELECT kept, tail FROM run WHERE {test} ORDER BY key DESC LIMIT 1", values
            ):
                return self._decode(blob, tail)
        return None

    def batches_of(self, run: str) -> list[str]:
        """The labels under which there is a run of that name."""
        with self._look():
            rows = self._db.execute("SELECT label FROM run WHERE run=? ORDER BY label", (run,))
            return [str(label) for (label,) in rows]

    def names_like(self, start: str, label: str, limit: int = 20) -> list[str]:
        """Of runs whose name begins so."""
        sql = "SELECT run FROM run WHERE label=? AND substr(run, 1, ?)=? ORDER BY key LIMIT ?"
        with self._look():
            return [str(run) for (run,) in self._db.execute(sql, (label, len(start), start, limit))]

    def run(self, key: int) -> KeptTrace | None:
        with self._look():
            for blob, tail in self._db.execute("SELECT kept, tail FROM run WHERE key=?", (key,)):
                return self._decode(blob, tail)
        return None

    def steps(self, key: int) -> tuple[Step, ...]:
        with self._look():
            rows = self._db.execute(f"SELECT {STEP_COLUMNS} FROM step WHERE run=? ORDER BY seq", (key,))
            return tuple(step_of(row, self.symbols) for row in rows)

    def calls(self, key: int) -> tuple[ModelCall, ...]:
        with self._look():
            rows = self._db.execute(f"SELECT {CALL_COLUMNS} FROM call WHERE run=? ORDER BY seq", (key,))
            return tuple(call_of(row) for row in rows)

    def whole(self, key: int) -> Trace:
        """With its steps and calls. Raises LookupError where there is no such run."""
        kept = self.run(key)
        if kept is None:
            raise LookupError(f"the dataset has no run {key}")
        return replace(kept.trace, steps=self.steps(key), calls=self.calls(key))

    @contextmanager
    def _look(self) -> Iterator[None]:
        """One transaction, so that every code that is read is known."""
        with self._explained:
            if self._db.in_transaction:
                yield
                return
            self._db.execute("BEGIN")
            try:
                self._load_symbols()
                yield
            finally:
                self._db.execute("COMMIT")

    def _load_symbols(self) -> None:
        load_symbols(self._db, self.symbols)

    def _decode(self, blob: bytes, tail: bytes | None) -> KeptTrace:
        try:
            return decode_kept(blob, tail)
        except (msgspec.DecodeError, msgspec.ValidationError, zlib.error) as error:
            raise damaged(self.path, str(error)) from None


def load_symbols(connection: apsw.Connection, symbols: Symbols) -> None:
    """Those that are new: codes never change, and are given without a gap."""
    for (text,) in connection.execute("SELECT text FROM symbol WHERE code>=? ORDER BY code", (len(symbols),)):
        symbols.code(text)


def _condition(where: Selection, failed: bool | None) -> tuple[str, tuple[Value, ...]]:
    tests, values = ["1"], list[Value]()
    for name in _NAMES:
        if (wanted := getattr(where, name)) is not None:
            tests.append(f"{name}=?")
            values.append(wanted)
    if where.since is not None:
        tests.append("at>=?")
        values.append(where.since)
    if where.until is not None:
        tests.append("at<?")
        values.append(where.until)
    if failed is not None:
        tests.append("outcome=?" if failed else "outcome<>?")
        values.append(Result.FAILURE.value)
    return " AND ".join(tests), tuple(values)
