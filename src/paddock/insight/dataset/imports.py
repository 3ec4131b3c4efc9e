"""What was imported: a list beside the dataset, which outlives it.

The dataset can be made again, and this is what imported runs are made again from. The list is on disk before what it
tells of is committed: whoever is killed in between leaves an import that the dataset lacks, which `paddock traces
rebuild` reads.
"""

import os
from collections.abc import Collection
from pathlib import Path

import apsw
import msgspec
from msgspec.structs import replace

from paddock.core.ids import printable
from paddock.insight.dataset.trouble import DatasetUnusable, Explained

_Batch = str


class Import(msgspec.Struct, frozen=True):
    """`batch` is what it is known by. `labels` are those of its runs, and `forgotten` those of them that somebody
    removed: whoever reads it again leaves them out. It is not `whole` while it goes on, and stays so if it is killed:
    until then the labels of an earlier import of the same are kept as well."""

    batch: _Batch
    path: str
    label: str
    at: float
    labels: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()
    whole: bool = False

    @property
    def is_forgotten(self) -> bool:
        return set(self.labels) <= set(self.forgotten)


def imports_path(dataset: Path) -> Path:
    return dataset.with_suffix(".imports.json")


def read_imports(dataset: Path) -> list[Import]:
    """The latest last. Raises DatasetUnusable where the list cannot be read, and OSError."""
    path = imports_path(dataset)
    try:
        return msgspec.json.decode(path.read_bytes(), type=list[Import])
    except FileNotFoundError:
        return []
    except msgspec.MsgspecError as error:
        words = f"the list of imports `{printable(str(path))}` cannot be read: {printable(str(error), 200)}"
        raise DatasetUnusable(words, "move it away, and import again what is missing") from None


class ImportBook:
    """The list and the dataset's own table of imports, inside of a writer's transactions: between those, others
    write. Raises DatasetUnusable where the list cannot be read, OSError and apsw.Error."""

    def __init__(self, connection: apsw.Connection, dataset: Path) -> None:
        self._db = connection
        self._dataset = dataset
        self._begun: dict[int, tuple[_Batch, set[str]]] = {}
        self._list: dict[_Batch, Import] | None = None
        self._is_new = False

    def begin(self, one: Import) -> int:
        """The key of what its runs are imported from. All that an earlier import of the same has left goes."""
        for (earlier,) in self._db.execute("SELECT key FROM source WHERE batch=?", (one.batch,)).fetchall():
            for table in ("step", "call"):
                self._db.execute(f"DELETE FROM {table} WHERE run IN (SELECT key FROM run WHERE source=?)", (earlier,))
            self._db.execute("DELETE FROM run WHERE source=?", (earlier,))
            self._db.execute("DELETE FROM source WHERE key=?", (earlier,))
        told = (one.batch, one.path, one.label, one.at)
        self._db.execute("INSERT INTO source(batch, path, label, at) VALUES(?,?,?,?)", told)
        key = self._db.last_insert_rowid()
        self._begun[key] = one.batch, set()
        before = self._open().pop(one.batch, one)
        self._put(replace(one, labels=tuple(each for each in before.labels if each not in one.forgotten)))
        return key

    def note(self, key: int, label: str) -> None:
        """One of its runs has this label."""
        batch, seen = self._begun[key]
        if label in seen:
            return
        seen.add(label)
        one = self._open().get(batch)
        if one is not None and label not in one.labels:
            self._put(replace(one, labels=tuple(sorted({*one.labels, label}))))

    def end(self, key: int) -> None:
        """All of it was read."""
        batch, seen = self._begun[key]
        with Explained(self._dataset):
            one = self._open().get(batch)
            if one is not None:
                self._put(replace(one, labels=tuple(sorted(seen)), whole=True))

    def forget(self, label: str) -> bool:
        """Whether any import had runs of it."""
        concerned = [one for one in self._open().values() if label in one.labels and label not in one.forgotten]
        for one in concerned:
            one = replace(one, forgotten=(*one.forgotten, label))
            self._put(one)
            if one.is_forgotten:
                del self._open()[one.batch]
                self._db.execute("DELETE FROM source WHERE batch=?", (one.batch,))
        return bool(concerned)

    def save(self) -> None:
        """What has changed is on disk when this returns. Before the commit."""
        if self._is_new:
            _write(imports_path(self._dataset), [*self._open().values()])
        self.drop()

    def drop(self) -> None:
        """What is not saved, with what was read: others may change it."""
        self._list, self._is_new = None, False

    def adopt(self) -> None:
        """A dataset that has imports, but no list of them: it was made before there was one."""
        columns = "batch, path, label, at, (SELECT json_group_array(DISTINCT label) FROM run WHERE source=source.key)"
        for batch, path, label, at, labels in [*self._db.execute(f"SELECT {columns} FROM source ORDER BY key")]:
            found = msgspec.json.decode(labels, type=list[str]) or filter(None, [label])
            self._put(Import(batch, path, label, at, tuple(sorted(found)), whole=True))
        self.save()

    def _open(self) -> dict[_Batch, Import]:
        if self._list is None:
            self._list = {one.batch: one for one in read_imports(self._dataset)}
        return self._list

    def _put(self, one: Import) -> None:
        self._open()[one.batch] = one
        self._is_new = True


def _write(path: Path, imports: Collection[Import]) -> None:
    draft = path.with_suffix(".new")
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(msgspec.json.format(msgspec.json.encode(imports)))
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
