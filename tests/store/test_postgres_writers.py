"""Many writers of one shared log, and servers that end under them: what was acknowledged is there, once."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from paddock.store.place import LogPlace
from paddock.store.postgres import PostgresStore
from paddock.store.protocol import LogUnavailable, LogUnusable, Query
from paddock.store.witness import read_witness
from tests.store.drafts import ANA, add
from tests.store.postgres_server import PostgresServer
from tests.store.postgres_session import new_server, server_of_session
from tests.store.postgres_yard import Acknowledged, Writer, assert_kept, new_log

LONG = pytest.param(12, marks=pytest.mark.slow)


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    made = new_server()
    yield made
    made.close()


@pytest.mark.parametrize("commands", [25, pytest.param(600, marks=pytest.mark.slow)])
def test_whoever_follows_the_numbers_misses_no_record_of_several_writers(tmp_path: Path, commands: int) -> None:
    place = new_log(tmp_path, server_of_session().url())
    writers = [Writer("add", place, tmp_path / f"host-{number}", str(commands)) for number in range(4)]
    wanted, seen = 1 + len(writers) * commands, list[int]()
    reader = PostgresStore(place, read_only=True)
    with reader.listen() as listener:
        while len(seen) < wanted:
            seen += [record.seq for record in reader.records(Query(after=seen[-1] if seen else 0))]
            if len(seen) < wanted:
                assert listener.wait(60.0) or any(writer.process.poll() is None for writer in writers)
    assert seen == list(range(1, wanted + 1)), "a number became visible before the one before it"
    for writer in writers:
        writer.finish()
    reader.close()


@pytest.mark.parametrize("rounds", [1, LONG])
def test_a_server_that_ends_crashes_or_dies_under_its_writers_loses_nothing_and_writes_nothing_twice(
    tmp_path: Path, server: PostgresServer, rounds: int
) -> None:
    place = new_log(tmp_path, server.url())
    writers = [Writer("acknowledge", place, tmp_path / f"host-{number}") for number in range(3)]
    for number in range(rounds * 3):
        for writer in writers:
            writer.hear(3)
        if number % 3 == 2:
            server.kill()
            server.start()
        else:
            server.restart(signal.SIGINT if number % 3 == 0 else signal.SIGQUIT)
    for writer in writers:
        writer.hear(3)
    acknowledged: Acknowledged = {}
    for writer in writers:
        acknowledged |= writer.end()
    assert_kept(place, acknowledged)
    assert len(acknowledged) >= 3 * 3 * (rounds * 3 + 1)
    for number in range(3):
        witness = read_witness(tmp_path / f"host-{number}" / "paddock" / "shared")
        assert witness is not None
        assert witness.seq <= max(seq for seq, _ in acknowledged.values()) + len(writers), "it never knows too much"
    store = PostgresStore(place)
    store.append(add(), ANA)
    store.close()


@pytest.mark.parametrize("rounds", [1, pytest.param(5, marks=pytest.mark.slow)])
def test_a_failover_to_a_synchronous_standby_loses_nothing_that_was_acknowledged(tmp_path: Path, rounds: int) -> None:
    servers = [new_server()]
    try:
        first = servers[0]
        place = new_log(tmp_path, first.url())
        for number in range(rounds):
            primary = servers[-1]
            standby = new_server(copy_of=primary)
            servers.append(standby)
            with primary.connect() as connection:
                connection.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
                connection.execute("SELECT pg_reload_conf()")
            url = f"postgresql://owner@127.0.0.1:{primary.port},127.0.0.1:{standby.port}/postgres"
            both = LogPlace(place.file, url, place.schema)
            writers = [Writer("acknowledge", both, tmp_path / f"host-{number}-{one}") for one in range(2)]
            for writer in writers:
                writer.hear(5)
            with pytest.raises(LogUnavailable, match=r"standby|read-only|session is read-only|cannot be reached"):
                PostgresStore(LogPlace(place.file, standby.url(), place.schema))
            primary.kill()
            standby.promote()
            with standby.connect() as connection:
                connection.execute("ALTER SYSTEM SET synchronous_standby_names = ''")
                connection.execute("SELECT pg_reload_conf()")
            for writer in writers:
                writer.hear(5)
            acknowledged = writers[0].end() | writers[1].end()
            assert len(acknowledged) >= 20
            assert_kept(both, acknowledged)
    finally:
        for one in servers:
            one.close()


def test_a_commit_of_another_process_wakes_whoever_listens_and_so_does_one_after_a_restart(
    tmp_path: Path, server: PostgresServer
) -> None:
    place = new_log(tmp_path, server.url())
    reader = PostgresStore(place, read_only=True)
    with reader.listen() as listener:
        while listener.wait(0.0):
            pass
        Writer("add", place, tmp_path / "host", "1").finish()
        assert listener.wait(30.0)
        assert reader.head() == 2
        server.restart()
        assert listener.wait(30.0), "what was committed meanwhile was not told, so it looks"
        while listener.wait(0.0):
            pass
        Writer("add", place, tmp_path / "host-2", "1").finish()
        assert listener.wait(30.0)
        assert reader.head() == 3
    reader.close()


def test_a_writer_waits_for_a_server_that_is_just_starting(tmp_path: Path, server: PostgresServer) -> None:
    place = new_log(tmp_path, server.url())
    with ThreadPoolExecutor(1) as elsewhere:
        store = elsewhere.submit(PostgresStore, place).result()
        server.stop()
        appended = elsewhere.submit(lambda: store.append(add(), ANA)[0].seq)
        server.start()  # here, because a server ends with the thread that started it
        assert appended.result() == 2
        elsewhere.submit(store.close).result()


def test_a_writer_is_told_within_seconds_that_the_server_is_away(tmp_path: Path, server: PostgresServer) -> None:
    place = new_log(tmp_path, server.url())
    store = PostgresStore(place, lock_timeout_seconds=0.5)
    server.stop()
    try:
        with pytest.raises(LogUnavailable, match="cannot be reached") as told:
            store.append(add(), ANA)
        assert "not known" not in told.value.message, "nothing was sent, so nothing is open"
        assert store.exists(), "it is away, not gone"
    finally:
        server.start()
    assert store.append(add(), ANA)[0].seq == 2
    store.close()


@pytest.mark.slow
def test_a_writer_that_is_stopped_inside_a_transaction_holds_up_the_others_for_some_seconds_only(
    tmp_path: Path,
) -> None:
    place = new_log(tmp_path, server_of_session().url())
    frozen = Writer("freeze", place, tmp_path / "host")
    frozen.hear(1)
    impatient = PostgresStore(LogPlace(tmp_path / "b" / "paddock" / "shared", place.url, place.schema),
                              lock_timeout_seconds=0.5)  # fmt: skip
    with pytest.raises(LogUnusable, match="another writer has held the log") as told:
        impatient.append(add(), ANA)
    assert "`paddock store show` names who is connected" in (told.value.hint or "")
    impatient.close()
    store = PostgresStore(LogPlace(tmp_path / "c" / "paddock" / "shared", place.url, place.schema))
    assert store.append(add("in time"), ANA)[0].seq == 2
    os.kill(frozen.process.pid, signal.SIGCONT)
    frozen.finish()
    titles = [task.title for task in store.board().tasks.values()]
    assert titles == ["in time", "too late"], "its transaction was gone, so it decided again"
    store.close()
