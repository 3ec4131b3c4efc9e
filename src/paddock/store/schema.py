"""The tables of the SQLite log, and how a connection is set up."""

import os
from collections.abc import Sequence
from pathlib import Path

import apsw

from paddock.store.codec import Row
from paddock.store.protocol import LogUnusable
from paddock.store.rows import COLUMNS
from paddock.store.snapshots import drop_snapshot
from paddock.store.trouble import damaged

APPLICATION_ID = 0x5061646B  # "Padk"
SCHEMA = 1
INSERT = f"INSERT INTO events({COLUMNS}) VALUES(?,?,?,?,?,?,?,?,?)"
_SHRINK_MILLISECONDS = 200

_TABLES = f"""
CREATE TABLE events(
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  generation INTEGER NOT NULL,
  kind TEXT NOT NULL,
  task TEXT,
  attempt TEXT,
  body BLOB NOT NULL,
  hash BLOB NOT NULL
) STRICT;
CREATE INDEX events_by_task ON events(task, seq) WHERE task IS NOT NULL;
PRAGMA application_id={APPLICATION_ID};
PRAGMA user_version={SCHEMA};
"""


def connect(path: Path, *, read_only: bool, busy_seconds: float) -> apsw.Connection:
    """A connection with Paddock's durability settings. Raises apsw.Error or LogUnusable.

    Everything waits up to `busy_seconds`, the first look too: whoever opens a log that nobody has open
    holds it locked for a moment, to rebuild the index of its write-ahead log.
    """
    connection = _open(path, read_only=read_only, busy_seconds=busy_seconds)
    try:
        _check_identity(connection, path)
        if not read_only:
            connection.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;").fetchall()
            # The store decides when: whoever closes must not write into files that are not those it opened.
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    except BaseException:
        connection.close()
        raise
    return connection


def checkpoint_wal(connection: apsw.Connection) -> bool:
    """Copies the write-ahead log into the database; False if a reader still needs some of it, or the disk is full.

    Waits for nobody and holds nobody up. Call it outside a transaction.
    """
    try:
        frames, done = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
    except (apsw.BusyError, apsw.LockedError, apsw.FullError, apsw.IOError):  # what was to be recorded is recorded
        return False
    return frames == done


def shrink_wal(connection: apsw.Connection, busy_seconds: float) -> bool:
    """Folds the write-ahead log into the database and empties it; False if a reader stood in the way.

    Call it outside a transaction. Waits only for those who read now, and not for long: who comes later does not matter.
    """
    connection.set_busy_timeout(_SHRINK_MILLISECONDS)
    try:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.Error:  # what was to be recorded is recorded
        return False
    finally:
        connection.set_busy_timeout(round(busy_seconds * 1000))
    return True


def create_log(path: Path, rows: Sequence[Row] = ()) -> None:
    """Creates a log of `rows` at `path`, completely or not at all. Hold the writers' lock; there must be none."""
    _set_aside(path)
    draft = path.with_name(f".{path.name}.new")
    _remove(draft)
    try:
        connection = apsw.Connection(str(draft))
        try:
            connection.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;").fetchall()
            connection.execute(f"BEGIN; {_TABLES}")
            connection.executemany(INSERT, rows)
            connection.execute("COMMIT")
        finally:
            connection.close()
        os.rename(draft, path)
    finally:
        _remove(draft)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _remove(draft: Path) -> None:
    for suffix in ("", "-journal", "-wal", "-shm"):
        draft.with_name(draft.name + suffix).unlink(missing_ok=True)


def _set_aside(path: Path) -> None:
    """SQLite would play the write-ahead log of a database that is gone into the new one."""
    left_over = path.with_name(f"{path.name}-wal")
    if left_over.exists():
        left_over.rename(path.with_name(f"{path.name}-wal.orphan"))
    path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
    drop_snapshot(path)


def _open(path: Path, *, read_only: bool, busy_seconds: float) -> apsw.Connection:
    if path.exists() and not path.is_file():  # SQLite would wait at a pipe for somebody to write to it
        raise LogUnusable(
            f"`{path}` is not a file, so the log is gone", "move it away, then `paddock status` says more"
        )
    access = apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE
    connection = apsw.Connection(str(path), flags=access)
    connection.set_busy_timeout(round(busy_seconds * 1000))
    if not read_only:
        return connection
    try:
        connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        # A read-only file system has no room for the shared-memory index. Without a write-ahead
        # log there is nothing in it to miss, and the file can be read as it stands.
        connection.close()
        wal = Path(f"{path}-wal")
        if wal.exists() and wal.stat().st_size:
            raise
        escaped = str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        uri = f"file:{escaped}?immutable=1"
        return apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    except BaseException:
        connection.close()
        raise
    return connection


def _pragma(connection: apsw.Connection, name: str) -> int:
    for (value,) in connection.execute(f"PRAGMA {name}"):
        return int(value)
    return 0


def _check_identity(connection: apsw.Connection, path: Path) -> None:
    if _pragma(connection, "application_id") != APPLICATION_ID:
        raise damaged(path, "it is empty or not a Paddock log")
    version = _pragma(connection, "user_version")
    if version > SCHEMA:
        raise LogUnusable(
            f"the log `{path}` has table layout {version}; this Paddock knows up to {SCHEMA}",
            "upgrade: `pip install --upgrade paddock`",
        )
