"""The tables of the dataset, and how a connection is set up.

All of it can be made again, so a commit does not wait for the disk: a machine that loses power may lose the newest
runs, which are then taken in again.
"""

from pathlib import Path

import apsw

from paddock.insight.dataset.trouble import DatasetAbsent, DatasetDamaged, DatasetUnusable, damaged

APPLICATION_ID = 0x50616474  # "Padt"
SCHEMA = 1
BUSY_SECONDS = 15.0
CACHE_KIB = 16 * 1024

TABLES = f"""
CREATE TABLE symbol(code INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE source(
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  batch TEXT NOT NULL UNIQUE,
  path TEXT NOT NULL,
  label TEXT NOT NULL,
  at REAL NOT NULL
) STRICT;
CREATE TABLE run(
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  label TEXT NOT NULL,
  run TEXT NOT NULL,
  task TEXT NOT NULL,
  kind TEXT NOT NULL,
  agent TEXT NOT NULL,
  engine TEXT NOT NULL,
  model TEXT NOT NULL,
  at REAL,
  outcome TEXT NOT NULL,
  steps INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  extractor INTEGER NOT NULL,
  source INTEGER,
  kept BLOB NOT NULL,
  tail BLOB,
  UNIQUE(label, run)
) STRICT;
CREATE INDEX run_by_name ON run(run);
CREATE INDEX run_by_task ON run(task) WHERE task<>'';
CREATE INDEX run_by_time ON run(at);
CREATE INDEX run_by_source ON run(source) WHERE source IS NOT NULL;
CREATE TABLE step(
  run INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  tool TEXT,
  activity INTEGER,
  target TEXT,
  status INTEGER,
  error TEXT,
  at REAL,
  seconds REAL,
  exit INTEGER,
  agent TEXT,
  turn INTEGER,
  PRIMARY KEY(run, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE call(
  run INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  id TEXT,
  model TEXT,
  input_uncached INTEGER,
  cache_write INTEGER,
  cache_read INTEGER,
  output INTEGER,
  cost_usd REAL,
  at REAL,
  seconds REAL,
  status INTEGER,
  retry_after REAL,
  PRIMARY KEY(run, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE change(
  id TEXT NOT NULL,
  version INTEGER NOT NULL,
  task TEXT NOT NULL,
  head TEXT NOT NULL,
  fate TEXT,
  PRIMARY KEY(id, version)
) STRICT, WITHOUT ROWID;
CREATE INDEX change_by_task ON change(task, head);
CREATE TABLE trial(seq INTEGER PRIMARY KEY, run TEXT NOT NULL UNIQUE, members TEXT NOT NULL) STRICT;
CREATE TABLE progress(name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
PRAGMA application_id={APPLICATION_ID};
PRAGMA user_version={SCHEMA};
"""
"""`run.at` is the end of a run, or its start where that is not known. `run.kept` is a KeptTrace in MessagePack, without
its tail, which is compressed in a column of its own. `step.activity` is a code of `symbol`; NULL is empty or unknown.
`source` is what runs were imported from. `progress` is how far the log was read,
and what has to be known to go on from there; `change` and `trial` are the merge queue's, as far as the fate of what
attempts delivered depends on them."""


def connect(path: Path, *, read_only: bool) -> apsw.Connection:
    """Raises apsw.Error, or DatasetUnusable where it is not one of ours or of another version."""
    if path.exists() and not path.is_file():
        raise DatasetUnusable(f"`{path}` is not a file", "move it away, and run this again")
    if read_only and not path.exists():
        raise DatasetAbsent(f"there is no dataset at `{path}`", "run `paddock traces rebuild`")
    connection = _open(path, read_only=read_only)
    try:
        connection.set_busy_timeout(round(BUSY_SECONDS * 1000))
        connection.execute(f"PRAGMA cache_size=-{CACHE_KIB}; PRAGMA temp_store=MEMORY;").fetchall()
        if not read_only:
            connection.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;").fetchall()
        else:
            require_version(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _open(path: Path, *, read_only: bool) -> apsw.Connection:
    if not read_only:
        return apsw.Connection(str(path))
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        # A read-only file system has no room for the shared-memory index of the write-ahead log.
        connection.close()
        escaped = str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        return apsw.Connection(f"file:{escaped}?immutable=1", flags=flags)
    except BaseException:
        connection.close()
        raise
    return connection


def is_empty(connection: apsw.Connection) -> bool:
    return not connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()


def require_version(connection: apsw.Connection, path: Path) -> None:
    """Raises DatasetDamaged where it has to be made again, and DatasetUnusable where a newer Paddock made it."""
    if is_empty(connection):
        raise DatasetAbsent(f"there is nothing in the dataset `{path}`", "run `paddock traces rebuild`")
    if _pragma(connection, "application_id") != APPLICATION_ID:
        raise damaged(path, "it is not a dataset of Paddock's")
    version = _pragma(connection, "user_version")
    if version > SCHEMA:
        raise DatasetUnusable(
            f"the dataset `{path}` has table layout {version}; this Paddock knows up to {SCHEMA}",
            "upgrade: `pip install --upgrade paddock`",
        )
    if version < SCHEMA:
        words = f"the dataset `{path}` has table layout {version}; this Paddock needs {SCHEMA}"
        raise DatasetDamaged(words, "run `paddock traces rebuild`")


def _pragma(connection: apsw.Connection, name: str) -> int:
    for (value,) in connection.execute(f"PRAGMA {name}"):
        return int(value)
    return 0
