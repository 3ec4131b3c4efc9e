"""The SQLite log as files: made whole, found damaged, locked, out of reach."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import apsw
import pytest

from paddock.core import events as ev
from paddock.core.errors import PaddockError
from paddock.store import snapshots
from paddock.store.fold import Fold
from paddock.store.lock import WritersLock
from paddock.store.protocol import LogUnusable, Query
from paddock.store.snapshots import snapshot_path
from paddock.store.sqlite import SqliteStore
from paddock.store.witness import witness_path
from tests.core.ledger import Ledger
from tests.store.drafts import ANA, add, write


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.db"
    store = SqliteStore(path, create=True)
    store.append(add(count=50), ANA)
    store.rebuild()
    store.close()
    return path


HOLD_FOR_A_WHILE = """
import sys, time, apsw
connection = apsw.Connection(sys.argv[1])
connection.execute("PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE").fetchall()
print("held", flush=True)
sys.stdin.readline()
time.sleep(0.3)
connection.close()
"""


def checkpoint(log: Path) -> None:
    """Everything into the main file, as the automatic checkpoint does sooner or later."""
    connection = apsw.Connection(str(log))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()


def use(log: Path) -> None:
    """Everything a command might do with a log."""
    for read_only in (True, False):
        store = SqliteStore(log, read_only=read_only, lock_timeout_seconds=0.5)
        try:
            store.board()
            list(store.records(Query()))
            store.verify()
            if not read_only:
                store.append(add(), ANA)
        finally:
            store.close()


def test_a_log_that_cannot_be_made_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "rename", fail)
    with pytest.raises(LogUnusable, match=r"the disk of `.*` is full: nothing was written"):
        SqliteStore(tmp_path / "log.db", create=True)
    assert [path.name for path in tmp_path.iterdir()] == ["log.lock"]


def test_making_a_log_that_is_there_leaves_it_alone(log: Path) -> None:
    store = SqliteStore(log, create=True)
    assert store.head() == 51
    store.close()


def test_many_threads_making_the_same_log_make_it_once(tmp_path: Path) -> None:
    barrier = threading.Barrier(6)
    heads: list[int] = []

    def make() -> None:
        barrier.wait()
        store = SqliteStore(tmp_path / "log.db", create=True)
        store.append(add(), ANA)
        heads.append(store.head())
        store.close()

    threads = [threading.Thread(target=make) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store = SqliteStore(tmp_path / "log.db")
    assert len(heads) == 6
    assert [type(record.event) for record in store.records(Query())] == [ev.LogCreated, *[ev.TaskAdded] * 6]
    store.close()


def test_the_write_ahead_log_of_a_lost_database_is_not_played_into_a_new_one(log: Path) -> None:
    assert Path(f"{log}-wal").stat().st_size > 0
    log.unlink()
    witness_path(log).unlink()
    store = SqliteStore(log, create=True)
    assert (store.head(), len(store.board().tasks)) == (1, 0)
    store.append(add(), ANA)
    assert store.verify().bad is None
    store.close()
    assert Path(f"{log}-wal.orphan").exists()


def test_an_absent_log_is_said_to_be_absent(tmp_path: Path) -> None:
    for read_only in (True, False):
        with pytest.raises(LogUnusable, match="there is no log") as refused:
            SqliteStore(tmp_path / "log.db", read_only=read_only)
        assert "paddock init" in str(refused.value.hint)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("length", [0, 1, 50, 100, 512, 4095, 4096, 5000, 8192, 12288, 20000])
def test_a_truncated_database_is_an_explained_failure(log: Path, length: int) -> None:
    checkpoint(log)
    size = log.stat().st_size
    os.truncate(log, min(length, size - 1))
    with pytest.raises(PaddockError) as refused:
        use(log)
    assert "damaged" in refused.value.message or "unusable" in refused.value.message
    assert refused.value.hint


def test_flipped_bytes_anywhere_are_harmless_or_an_explained_failure(log: Path) -> None:
    checkpoint(log)
    good = log.read_bytes()
    snapshot, witness = snapshot_path(log).read_bytes(), witness_path(log).read_bytes()
    fine, refusals = 0, []
    for offset in [*range(0, 110, 3), *range(110, len(good), 397)]:
        content = bytearray(good)
        content[offset] ^= 0x5A
        for leftover in log.parent.iterdir():
            leftover.unlink()
        log.write_bytes(content)
        snapshot_path(log).write_bytes(snapshot)
        witness_path(log).write_bytes(witness)
        try:
            use(log)
            fine += 1
        except PaddockError as error:
            refusals.append(error)
    assert fine > 5
    assert len(refusals) > 5
    assert [error for error in refusals if not error.hint] == []


@pytest.mark.parametrize("what", ["LAYOUT", "__version__"])
def test_a_snapshot_of_another_layout_or_version_is_folded_again(
    log: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a snapshot may mean something else by the same bytes: here it does."""
    lie = Ledger()
    for _ in range(51):
        lie.add()
    store = SqliteStore(log, read_only=True)
    tip = list(store.rows())[-1][-1]
    with monkeypatch.context() as older:
        older.setattr(snapshots, what, 0)
        snapshots.write_snapshot(log, Fold(lie.board, tip))
    assert len(store.board().tasks) == 50
    store.close()


def test_a_log_of_a_newer_layout_says_to_upgrade(log: Path) -> None:
    connection = apsw.Connection(str(log))
    connection.execute("PRAGMA user_version=2").fetchall()
    connection.close()
    with pytest.raises(LogUnusable, match="has table layout 2; this Paddock knows up to 1") as refused:
        SqliteStore(log, read_only=True)
    assert "upgrade" in str(refused.value.hint)


def test_some_other_database_is_not_taken_for_a_log(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE cats(name)").fetchall()
    connection.close()
    with pytest.raises(LogUnusable, match="not a Paddock log"):
        SqliteStore(path)
    path.write_bytes(b"not a database at all" * 400)
    with pytest.raises(LogUnusable, match="damaged"):
        SqliteStore(path, create=True)


def test_a_record_that_cannot_be_read_is_named(log: Path) -> None:
    connection = apsw.Connection(str(log))
    connection.execute("UPDATE events SET body = CAST('{' AS BLOB) WHERE seq = 7").fetchall()
    connection.close()
    snapshot_path(log).unlink()
    store = SqliteStore(log, read_only=True)
    with pytest.raises(LogUnusable, match=r"is damaged: record 7 \(task.added\) cannot be read") as refused:
        store.board()
    assert refused.value.message.count("damaged") == 1
    store.close()


def test_a_writer_gives_up_when_another_holds_the_log_for_long(log: Path) -> None:
    store = SqliteStore(log, lock_timeout_seconds=0.2)
    other = WritersLock(log, 1.0)
    with other:
        with pytest.raises(LogUnusable, match=r"another writer has held the log for more than 0\.2 s") as refused:
            store.append(add(), ANA)
        assert "fuser" in str(refused.value.hint)
        assert len(store.board().tasks) == 50, "readers do not wait for writers"
    assert store.append(add(), ANA)
    other.close()
    store.close()


def test_a_foreign_program_that_locks_the_database_is_an_explained_failure(log: Path) -> None:
    other = apsw.Connection(str(log))
    other.execute("BEGIN EXCLUSIVE").fetchall()
    store = SqliteStore(log, lock_timeout_seconds=0.1)
    with pytest.raises(LogUnusable, match="locked by another program"):
        store.append(add(), ANA)
    other.execute("ROLLBACK").fetchall()
    assert store.append(add(), ANA)
    other.close()
    store.close()


@pytest.mark.parametrize("read_only", [True, False])
def test_opening_waits_while_another_has_the_database_for_itself(log: Path, read_only: bool) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD_FOR_A_WHILE, str(log)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdin
        assert holder.stdout
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(LogUnusable, match="locked by another program"):
            SqliteStore(log, read_only=read_only, lock_timeout_seconds=0.01)
        holder.stdin.write("let go soon\n")
        holder.stdin.close()
        store = SqliteStore(log, read_only=read_only)
        assert len(store.board().tasks) == 50
        store.close()


def test_a_folder_whose_name_is_no_utf8_is_an_explained_failure(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    with pytest.raises(LogUnusable, match="cannot be opened") as refused:
        SqliteStore(folder / "log.db", create=True)
    assert "UTF-8" in str(refused.value.hint)
    assert refused.value.message.isprintable()


def test_odd_characters_in_the_path_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "Größe 50% #1 ?x=1&y 'q' \"d\"" / "log.db"
    store = SqliteStore(path, create=True)
    store.append(add(), ANA)
    store.close()
    store = SqliteStore(path, read_only=True)
    assert len(store.board().tasks) == 1
    store.close()


def test_reading_changes_no_file(log: Path) -> None:
    def state() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in log.parent.iterdir() if path.suffix != ".db-shm"}

    before = state()
    store = SqliteStore(log, read_only=True)
    store.board()
    list(store.records(Query()))
    store.verify()
    store.close()
    assert state() == before


def test_the_write_ahead_log_stays_bounded(tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    for _ in range(12):
        store = SqliteStore(log, create=True)
        store.append(write(*(ev.Draft(ev.Swept("x" * 4000)) for _ in range(100))), ANA)
        store.close()
    assert Path(f"{log}-wal").stat().st_size < 6 * 1024 * 1024
