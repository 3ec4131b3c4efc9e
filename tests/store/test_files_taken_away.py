"""Files of the log that are removed, replaced or pinned while it is in use, and a process that forks."""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.core import events as ev
from paddock.store.protocol import LogLost, LogUnusable, Query
from paddock.store.sqlite import SqliteStore
from paddock.store.wal import WAL_LIMIT_BYTES
from paddock.store.witness import witness_path
from tests.store.drafts import ANA, add, write

TOP = Path(__file__).parent.parent.parent
FILES = ("log.db", "log.db-wal", "log.db-shm")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log.db"


@pytest.fixture
def store(log: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(log, create=True)
    store.append(add(count=5), ANA)
    yield store
    store.close()


@pytest.mark.parametrize("taken", [*((name,) for name in FILES), FILES[1:], FILES])
def test_nothing_is_acknowledged_into_files_that_were_removed(
    log: Path, store: SqliteStore, taken: tuple[str, ...]
) -> None:
    aside = log.parent / "aside"
    aside.mkdir()
    for name in taken:
        (log.parent / name).rename(aside / name)
    with pytest.raises(LogUnusable, match=r"was removed or replaced while the log was open: nothing was") as refused:
        store.append(add(), ANA)
    assert "fuser" in str(refused.value.hint)
    for name in taken:
        (aside / name).rename(log.parent / name)
    assert [record.seq for record in store.append(add(), ANA)] == [7], "put back, it goes on"
    assert store.verify().bad is None


@pytest.mark.parametrize("name", ["log.db", "log.board", "log.witness"])
def test_nobody_waits_at_a_pipe_in_the_place_of_a_file(log: Path, name: str) -> None:
    writer = SqliteStore(log, create=True)
    writer.append(add(count=5), ANA)
    writer.close()
    place = {"log.witness": witness_path(log)}.get(name, log.parent / name)
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    if name == "log.db":
        with pytest.raises(LogUnusable, match="is not a file, so the log is gone"):
            SqliteStore(log, read_only=True)
    else:
        reader = SqliteStore(log, read_only=True)
        assert reader.board().seq == 6
        reader.close()


def test_a_writer_notices_that_its_log_was_replaced_by_a_new_one(log: Path, store: SqliteStore) -> None:
    log.unlink()
    witness_path(log).unlink()
    other = SqliteStore(log, create=True)
    other.append(add("other", count=2), ANA)
    for refused in (lambda: store.append(add(), ANA), store.rebuild, lambda: store.restore([]), store.board):
        with pytest.raises(LogUnusable, match=r"log\.db` was removed or replaced"):
            refused()
    assert other.head() == 3
    assert other.verify().bad is None
    other.close()


def test_a_writer_whose_index_was_removed_does_not_overwrite_what_others_wrote(log: Path, store: SqliteStore) -> None:
    """Two indexes of one write-ahead log know nothing of each other's records."""
    Path(f"{log}-shm").unlink()
    other = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; from pathlib import Path; from paddock.store.sqlite import SqliteStore\n"
            "from tests.store.drafts import ANA, add\n"
            "SqliteStore(Path(sys.argv[1])).append(add(count=3), ANA)",
            str(log),
        ],
        cwd=TOP,
        check=False,
    )
    assert other.returncode == 0
    with pytest.raises(LogUnusable, match=r"log\.db-shm` was removed or replaced"):
        store.append(add(), ANA)
    store.close()
    later = SqliteStore(log, read_only=True)
    assert (later.head(), later.verify().bad) == (9, None)
    later.close()


@pytest.mark.usefixtures("store")
def test_a_reader_notices_that_its_log_was_replaced(log: Path) -> None:
    reader = SqliteStore(log, read_only=True)
    assert len(reader.board().tasks) == 5
    log.rename(log.with_name("elsewhere.db"))
    with pytest.raises(LogUnusable, match="was removed or replaced"):
        reader.board()
    reader.close()


def test_an_older_copy_put_in_place_is_refused_until_a_person_has_decided(log: Path, store: SqliteStore) -> None:
    older = log.parent / "older"
    older.mkdir()
    for name in FILES[:2]:
        shutil.copy(log.parent / name, older / name)
    store.append(add(count=500), ANA)
    before = list(store.rows())
    store.close()
    for name in FILES:
        (log.parent / name).unlink()
    for name in FILES[:2]:
        shutil.copy(older / name, log.parent / name)
    for read_only in (True, False):
        copy = SqliteStore(log, read_only=read_only)
        with pytest.raises(LogLost, match="has lost records 7 to 506, which it had; the newest was") as refused:
            copy.board()
        assert len(list(copy.records(Query()))) == 6, "what is left can be looked at"
        copy.close()
    assert "paddock log fetch" in str(refused.value.hint)
    assert "paddock log accept-loss" in str(refused.value.hint)
    writer = SqliteStore(log)
    with pytest.raises(LogLost, match="has lost records 7 to 506"):
        writer.append(add(), ANA)
    assert writer.restore(before[6:]) == 500, "the mirror brings them back"
    assert writer.append(add(), ANA)
    assert list(writer.rows())[:-1] == before
    writer.close()


@pytest.mark.usefixtures("store")
def test_a_forked_process_is_refused_and_does_not_take_its_parents_lock_away(log: Path) -> None:
    program = (
        "import os, sys; from pathlib import Path; from paddock.store.sqlite import SqliteStore\n"
        "from tests.store.drafts import ANA, add\n"
        "store = SqliteStore(Path(sys.argv[1]))\n"
        "if os.fork() == 0:\n"
        "    try:\n"
        "        store.append(add(), ANA)\n"
        "    except Exception as error:\n"
        "        print(type(error).__name__, error, flush=True)\n"
        "    os._exit(0)\n"
        "os.wait()\n"
        "print(len(store.append(add(), ANA)))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, str(log)], cwd=TOP, capture_output=True, text=True, check=False
    )
    assert ended.stdout.startswith("LogUnusable the log"), ended
    assert ended.stdout.endswith("not by this one\n1\n")


def test_readers_that_overlap_all_the_time_do_not_keep_the_write_ahead_log_growing(
    log: Path, store: SqliteStore
) -> None:
    """Each reads for a moment, but never are there none: SQLite by itself would never start the file over."""
    stop = threading.Event()
    turn = [threading.Semaphore(1), threading.Semaphore(0)]

    def read(mine: int) -> None:
        reader = SqliteStore(log, read_only=True)
        while not stop.is_set():
            turn[mine].acquire()
            with reader._transaction("BEGIN"):
                reader.head()
                turn[1 - mine].release()
                turn[mine].acquire(timeout=0.02)
            turn[mine].release()
        turn[1 - mine].release()
        reader.close()

    threads = [threading.Thread(target=read, args=(mine,)) for mine in (0, 1)]
    for thread in threads:
        thread.start()
    largest = 0
    for _ in range(80):
        store.append(write(*(ev.Draft(ev.Swept("x" * 4000)) for _ in range(100))), ANA)
        largest = max(largest, Path(f"{log}-wal").stat().st_size)
    stop.set()
    for thread in threads:
        thread.join()
    assert largest < WAL_LIMIT_BYTES + 4 * 1024 * 1024


def test_records_taken_slowly_hold_nothing(log: Path, store: SqliteStore) -> None:
    store.append(add(count=600), ANA)
    reader = SqliteStore(log, read_only=True)
    slow = reader.records(Query())
    assert next(slow).seq == 1
    other = SqliteStore(log)
    other.append(add(), ANA)
    assert other._db.wal_checkpoint(mode=3)[0] == 0, "no reader stands in the way"
    assert [record.seq for record in slow] == list(range(2, 608))
    reader.close()
    other.close()
