"""Files of the log that are cut short, damaged or removed: whatever was acknowledged is there or named as lost."""

import asyncio
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from paddock.core import events as ev
from paddock.core.errors import PaddockError
from paddock.store import group
from paddock.store.group import GroupWriter
from paddock.store.protocol import LogFull, LogGone, LogLost, LogUnusable
from paddock.store.sqlite import SqliteStore
from paddock.store.witness import witness_path
from tests.store.drafts import ANA, add, write

TOP = Path(__file__).parent.parent.parent


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "paddock" / "log.db"


@pytest.fixture
def store(log: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(log, create=True)
    store.append(add(count=5), ANA)
    yield store
    store.close()


WRITER = """
import os, sys
from pathlib import Path
from paddock.store.sqlite import SqliteStore
from tests.store.drafts import ANA, add
store = SqliteStore(Path(sys.argv[1]))
for _ in range(int(sys.argv[2])):
    seq = store.append(add(), ANA)[-1].seq
print(seq, flush=True)
os._exit(0)  # as if killed: it is not closed, so its write-ahead log stays
"""


def write_and_die(log: Path, records: int) -> int:
    ended = subprocess.run(
        (sys.executable, "-c", WRITER, str(log), str(records)), cwd=TOP, capture_output=True, text=True, check=True
    )
    return int(ended.stdout)


def remove_wal(log: Path, _: random.Random) -> None:
    Path(f"{log}-wal").unlink()


def cut_wal(log: Path, chance: random.Random) -> None:
    wal = Path(f"{log}-wal")
    os.truncate(wal, chance.randrange(wal.stat().st_size))


def flip_wal(log: Path, chance: random.Random) -> None:
    wal = Path(f"{log}-wal")
    content = bytearray(wal.read_bytes())
    for _ in range(8):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    wal.write_bytes(content)


@pytest.mark.parametrize("damage", [remove_wal, cut_wal, flip_wal])
def test_no_damage_to_the_write_ahead_log_loses_records_silently_or_gives_an_id_twice(
    log: Path, damage: Callable[[Path, random.Random], None]
) -> None:
    """The writer was killed at once, so all it wrote lies there."""
    chance = random.Random(60)
    SqliteStore(log, create=True).close()
    named, tasks = 0, 0
    for records in (1, 5, 20, 60):
        acknowledged = write_and_die(log, records)
        tasks += records
        damage(log, chance)
        Path(f"{log}-shm").unlink(missing_ok=True)
        refusal = refusal_of(log)
        if refusal is not None and "without its write-ahead log" in str(refusal.hint):
            move_away(refusal, log)
        store = SqliteStore(log)
        if refusal is not None:
            assert isinstance(refusal, LogLost) or "damaged" in refusal.message
            lost = store.accept_loss(ANA)
            assert lost is None or lost.last == acknowledged
            named += lost is not None
        assert store.head() >= acknowledged or refusal is not None
        tasks += 1
        assert store.append(add(), ANA)[0].task == f"t{tasks}"
        assert store.verify().bad is None
        store.close()
    assert named >= 2


def refusal_of(log: Path) -> LogUnusable | None:
    try:
        with closing(SqliteStore(log, read_only=True)) as store:
            store.board()
    except LogUnusable as refusal:
        return refusal
    return None


def move_away(refusal: LogUnusable, log: Path) -> None:
    """As the hint says."""
    subprocess.run(("/bin/sh", "-c", str(refusal.hint).split("`")[1]), check=True, cwd=log.parent)


def test_a_settled_log_whose_write_ahead_log_is_cut_is_whole_without(log: Path, store: SqliteStore) -> None:
    for _ in range(30):
        store.append(add(), ANA)
    store.close()
    size = Path(f"{log}-wal").stat().st_size
    Path(f"{log}-shm").unlink()
    os.truncate(f"{log}-wal", size // 2)
    refusal = refusal_of(log)
    assert refusal is not None
    assert "the database has all 36 records without its write-ahead log" in str(refusal.hint)
    move_away(refusal, log)
    assert refusal_of(log) is None


def test_a_write_ahead_log_that_is_cut_under_a_writer_is_named_and_nothing_is_written(
    log: Path, store: SqliteStore
) -> None:
    store.append(add(count=50), ANA)
    os.truncate(f"{log}-wal", 4096)
    for refused in (lambda: store.append(add(), ANA), store.settle):
        with pytest.raises(LogUnusable, match="was cut short while the log was open: nothing was written"):
            refused()
    store.close()
    with pytest.raises(LogLost, match="has lost records"):
        SqliteStore(log, read_only=True).board()


def test_a_write_ahead_log_that_others_have_folded_in_is_no_damage(log: Path, store: SqliteStore) -> None:
    store.append(add(count=50), ANA)
    other = SqliteStore(log)
    assert other._db.wal_checkpoint(mode=3)[0] == 0
    assert Path(f"{log}-wal").stat().st_size == 0
    assert store.append(add(), ANA)[0].task == "t56"
    assert store.settle()
    other.close()


def test_what_was_written_is_read_back_before_it_is_put_to_rest(log: Path, store: SqliteStore) -> None:
    """Flipped under the writer, whose own memory still has it right."""
    assert store.settle()
    store.append(add("needle in the brief"), ANA)
    wal = Path(f"{log}-wal")
    content = wal.read_bytes()
    assert b"needle" in content
    with wal.open("r+b") as file:
        for offset in range(len(content)):
            if content.startswith(b"needle", offset):
                file.seek(offset)
                file.write(b"poodle")
    with pytest.raises(LogUnusable, match="cannot be read back as they were written"):
        store.settle()
    with pytest.raises(LogUnusable, match="does not match its hash"):
        SqliteStore(log, read_only=True).board()


def test_a_log_that_is_settled_has_nothing_in_its_write_ahead_log_alone(log: Path, store: SqliteStore) -> None:
    store.append(add(count=20), ANA)
    assert store.settle()
    copy = log.parent.parent / "copy" / "log.db"
    copy.parent.mkdir()
    shutil.copy(log, copy)
    assert len(SqliteStore(copy, read_only=True).board().tasks) == 25


def test_a_writer_that_closes_does_not_bring_back_a_loss_that_was_accepted(log: Path, store: SqliteStore) -> None:
    other = SqliteStore(log)
    other._db.execute("DELETE FROM events WHERE seq > 3").fetchall()
    assert other.accept_loss(ANA) is not None
    store.close()
    assert other.loss() is None
    assert other.append(add(), ANA)
    other.close()
    assert SqliteStore(log, read_only=True).verify().bad is None


def test_whoever_writes_on_settles_by_itself_once_a_second(
    log: Path, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paddock.store.wal.SETTLE_SECONDS", 0.0)
    for _ in range(3):
        store._wal._settle_at = 0.0
        store.append(add(), ANA)
    copy = log.parent.parent / "copy" / "log.db"
    copy.parent.mkdir()
    shutil.copy(log, copy)
    assert len(SqliteStore(copy, read_only=True).board().tasks) == 8


def test_a_reader_that_stays_holds_back_only_what_it_needs_and_is_tried_again(log: Path, store: SqliteStore) -> None:
    reader = SqliteStore(log, read_only=True)
    with reader._transaction("BEGIN"):
        reader.head()
        store.append(add(), ANA)
        assert not store.settle()
        store.append(add(), ANA)
        assert not store.settle()
    assert store.settle()
    reader.close()


def test_a_deleted_log_is_gone_for_readers_and_writers_and_only_a_mirror_brings_it_back(
    log: Path, store: SqliteStore
) -> None:
    rows = list(store.rows())
    store.close()
    shutil.rmtree(log.parent)
    for read_only, create in ((True, False), (False, False), (False, True)):
        with pytest.raises(LogGone, match="is gone: it had 6 records, the newest written at") as gone:
            SqliteStore(log, read_only=read_only, create=create)
        assert "paddock init --new-log" in str(gone.value.hint)
    revived = SqliteStore(log, create=True, announce=False)
    with pytest.raises(LogLost, match="has lost records 1 to 6"):
        revived.append(add(), ANA)
    assert revived.restore(rows) == 6
    assert revived.append(add(), ANA)[0].task == "t6"
    revived.close()


def test_another_log_cannot_take_the_place_of_one_that_is_gone(log: Path, store: SqliteStore) -> None:
    other = SqliteStore(log.parent.parent / "other" / "log.db", create=True)
    other.append(add("other"), ANA)
    store.close()
    shutil.rmtree(log.parent)
    revived = SqliteStore(log, create=True, announce=False)
    with pytest.raises(LogUnusable, match=r"are not those that the log .* had up to record 6 .this one is"):
        revived.restore(other.rows())
    assert revived.head() == 0
    revived.close()
    other.close()


def test_an_accepted_loss_that_was_interrupted_is_accepted_again(log: Path, store: SqliteStore) -> None:
    store.close()
    before = witness_path(log).read_bytes()
    SqliteStore(log)._db.execute("DELETE FROM events WHERE seq > 3").fetchall()
    half = SqliteStore(log)
    assert half.accept_loss(ANA) is not None
    half.close()
    witness_path(log).write_bytes(before)  # as if killed before it was replaced
    again = SqliteStore(log)
    with pytest.raises(LogLost):
        again.append(add(), ANA)
    assert again.accept_loss(ANA) is not None
    assert again.append(add(), ANA)[0].task == "t6"
    assert len(again.board().tasks) == 6
    again.close()


def limit_pages(store: SqliteStore, more: int) -> None:
    """SQLite itself then says that the disk is full."""
    pages = store._db.execute("PRAGMA page_count").fetchall()[0][0]
    assert isinstance(pages, int)
    store._db.execute(f"PRAGMA max_page_count={pages + more}").fetchall()


def test_a_full_disk_refuses_a_writer_and_changes_nothing(store: SqliteStore) -> None:
    limit_pages(store, 1)
    with pytest.raises(LogFull, match="is full: nothing was written"):
        store.append(write(ev.Draft(ev.Swept("x" * 100_000))), ANA)
    limit_pages(store, 1000)
    assert store.append(add(), ANA)[0].seq == 7
    assert store.verify().bad is None


def test_writers_of_an_event_loop_wait_for_room_and_lose_nothing(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group, "FIRST_PAUSE_SECONDS", 0.001)
    told: list[str] = []

    async def run() -> list[int]:
        full = asyncio.Event()

        def tell(problem: str) -> None:
            told.append(problem)
            full.set()

        writer = GroupWriter(store, tell)
        limit_pages(store, 1)
        big = asyncio.create_task(writer.append(write(ev.Draft(ev.Swept("x" * 100_000))), ANA))
        await full.wait()
        small = asyncio.create_task(writer.append(add(), ANA))
        given_up = asyncio.create_task(writer.append(add(), ANA))
        await asyncio.sleep(0)
        given_up.cancel()
        limit_pages(store, 1000)
        return [(await waiting)[0].seq for waiting in (big, small)]

    assert asyncio.run(run()) == [7, 8]
    assert len(told) == 2
    assert "is full: nothing was written" in told[0]
    assert told[1] == ""
    assert store.head() == 8, "who no longer waits writes nothing"


def test_whoever_ends_does_not_wait_for_room(store: SqliteStore) -> None:
    async def run() -> None:
        full = asyncio.Event()
        writer = GroupWriter(store, lambda _problem: full.set())
        limit_pages(store, 1)
        big = asyncio.create_task(writer.append(write(ev.Draft(ev.Swept("x" * 100_000))), ANA))
        await full.wait()
        writer.stop_waiting()
        with pytest.raises(LogFull):
            await big
        with pytest.raises(LogFull):
            await writer.append(write(ev.Draft(ev.Swept("x" * 100_000))), ANA)

    asyncio.run(run())


def test_a_group_writes_nothing_more_after_what_it_wrote_could_not_be_read_back(
    log: Path, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group, "SETTLE_SECONDS", 0.001)

    async def run() -> None:
        writer = GroupWriter(store)
        await writer.append(add(count=50), ANA)
        os.truncate(f"{log}-wal", 4096)
        for _ in range(1000):
            await asyncio.sleep(0.002)
            if writer._unreadable is not None:
                break
        with pytest.raises(PaddockError, match="was cut short"):
            await writer.append(add(), ANA)

    asyncio.run(run())
