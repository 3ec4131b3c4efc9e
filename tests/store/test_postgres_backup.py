"""Backups of the server: what a restored one lacks is noticed, named, and comes back from the mirror."""

import shutil
from pathlib import Path

import pytest

from paddock.git.repo import Repo, discover
from paddock.store.mirror import fetch_commit, restore_mirror, write_mirror
from paddock.store.place import LogPlace
from paddock.store.postgres import PostgresStore
from paddock.store.protocol import LogGone, LogLost, LogMissing
from tests.cli.conftest import git
from tests.store.drafts import ANA, add
from tests.store.postgres_server import PostgresServer
from tests.store.postgres_session import new_server, server_of_session
from tests.store.postgres_yard import new_log


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    top = tmp_path / "app"
    git(tmp_path, "init", "--quiet", str(top))
    return discover(top)


def dump(server: PostgresServer, place: LogPlace) -> str:
    """As docs/how-to/postgresql.md says."""
    file = str(server.data.parent / f"{place.schema}.dump")
    server.run("pg_dump", "--format=custom", f"--schema={place.schema}", f"--file={file}", server.url())
    return file


def put_back(server: PostgresServer, file: str) -> None:
    server.run("pg_restore", "--clean", "--if-exists", "--single-transaction", f"--dbname={server.url()}", file)


def append(place: LogPlace, count: int) -> None:
    store = PostgresStore(place)
    for _ in range(count):
        store.append(add(), ANA)
    store.close()


def test_a_dump_brings_back_what_it_has_and_the_mirror_the_rest(tmp_path: Path, repo: Repo) -> None:
    server = server_of_session()
    place = new_log(tmp_path, server.url())
    append(place, 3)
    file = dump(server, place)
    append(place, 2)
    store = PostgresStore(place)
    write_mirror(store, repo)
    store.close()
    put_back(server, file)
    store = PostgresStore(place)
    with pytest.raises(LogLost, match="has lost records 5 to 6, which it had") as told:
        store.append(add(), ANA)
    assert "`paddock log fetch`" in (told.value.hint or "")
    found = store.verify()
    assert found.bad is not None
    assert found.bad.problem == "it and all up to 6 are missing"
    assert restore_mirror(store, repo, fetch_commit(repo, None)) == 2
    assert store.append(add(), ANA)[0].seq == 7
    assert store.verify().bad is None
    store.close()


def test_without_a_mirror_a_person_goes_on_without_what_the_dump_lacks_and_no_id_is_given_again(
    tmp_path: Path,
) -> None:
    server = server_of_session()
    place = new_log(tmp_path, server.url())
    append(place, 2)
    file = dump(server, place)
    append(place, 3)
    put_back(server, file)
    store = PostgresStore(place)
    with pytest.raises(LogLost, match="has lost records 4 to 6"):
        store.board()
    loss = store.accept_loss(ANA, "the disk died")
    assert loss is not None
    assert (loss.first, loss.last) == (4, 6)
    (record,) = store.append(add(), ANA)
    assert record.task == "t6", "t3 to t5 were given"
    store.close()


def test_a_dump_of_yesterday_in_a_log_that_somebody_wrote_on_is_another_history(tmp_path: Path) -> None:
    server = server_of_session()
    place = new_log(tmp_path, server.url())
    append(place, 2)
    file = dump(server, place)
    append(place, 2)
    put_back(server, file)
    append(LogPlace(tmp_path / "b" / "paddock" / "shared", place.url, place.schema), 2)
    store = PostgresStore(place)
    with pytest.raises(LogLost, match="has another record 5 than the one that was acknowledged"):
        store.board()
    store.close()


def test_a_schema_that_was_dropped_is_gone_for_whoever_wrote_to_it_and_missing_for_others(tmp_path: Path) -> None:
    server = server_of_session()
    place = new_log(tmp_path, server.url())
    with server.connect() as connection:
        connection.execute(f"DROP SCHEMA {place.schema} CASCADE".encode())
    with pytest.raises(LogGone, match="is gone: it had 1 records"):
        PostgresStore(place)
    with pytest.raises(LogMissing):
        PostgresStore(LogPlace(tmp_path / "b" / "paddock" / "shared", place.url, place.schema))


def test_a_base_backup_is_a_server_that_lacks_what_came_after_it(tmp_path: Path, repo: Repo) -> None:
    server = server_of_session()
    place = new_log(tmp_path, server.url())
    append(place, 2)
    backup = new_server(copy_of=server)
    try:
        backup.stop()
        append(place, 4)
        store = PostgresStore(place)
        write_mirror(store, repo)
        store.close()
        (backup.data / "standby.signal").unlink()
        backup.start()
        restored = LogPlace(place.file, backup.url(), place.schema)
        store = PostgresStore(restored)
        with pytest.raises(LogLost, match="has lost records"):
            store.append(add(), ANA)
        assert restore_mirror(store, repo, fetch_commit(repo, None)) > 0
        assert store.append(add(), ANA)[0].seq == 8
        assert store.verify().bad is None
        store.close()
    finally:
        backup.close()
        shutil.rmtree(backup.data.parent, ignore_errors=True)
