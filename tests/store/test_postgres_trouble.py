"""What a person is told when a shared log cannot be used: what, why, what to run, and never a password."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from paddock.core.errors import Misuse
from paddock.store.location import has_log, open_store
from paddock.store.place import LogPlace
from paddock.store.postgres import PostgresStore
from paddock.store.postgres_schema import schema_as_text
from paddock.store.protocol import LogFull, LogMissing, LogMoved, LogUnavailable, LogUnusable, Query
from tests.store.drafts import ANA, add
from tests.store.postgres_server import DATABASE, PostgresServer
from tests.store.postgres_session import new_server, server_of_session
from tests.store.postgres_yard import TOP, new_log, new_place

PASSWORD = "pAss%40w0rd"
"""As it stands in an address; what is meant is `pAss@w0rd`."""


@pytest.fixture(scope="module")
def guarded() -> Iterator[PostgresServer]:
    """It wants a password from `locked`."""
    server = new_server()
    rules = server.data / "pg_hba.conf"
    rules.write_text(f"host all locked 127.0.0.1/32 scram-sha-256\n{rules.read_text()}")
    with server.connect() as connection:
        connection.execute("CREATE ROLE locked LOGIN PASSWORD 'pAss@w0rd'")
        connection.execute("GRANT CREATE ON DATABASE postgres TO locked")
        connection.execute("SELECT pg_reload_conf()")
    yield server
    server.close()


def refused(folder: Path, url: str) -> LogUnusable:
    with pytest.raises(LogUnusable) as told:
        PostgresStore(new_place(folder, url), create=True, lock_timeout_seconds=0.2)
    words = f"{told.value.message} {told.value.hint} {told.value.__cause__} {told.value.args}"
    assert "pAss" not in words
    return told.value


def test_a_wrong_password_is_named_and_not_repeated(guarded: PostgresServer, tmp_path: Path) -> None:
    error = refused(tmp_path, guarded.url(user="locked", password="pAssed"))
    assert 'password authentication failed for user "locked"' in error.message
    assert not isinstance(error, LogUnavailable), "waiting does not help"
    assert error.hint == "give the password with PGPASSWORD, in ~/.pgpass, or as `${NAME}` in [store] url"


def test_no_password_at_all_is_named(guarded: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PGPASSWORD", raising=False)
    assert "no password supplied" in refused(tmp_path, guarded.url(user="locked")).message


@pytest.mark.parametrize("way", ["url", "variable", "PGPASSWORD", "pgpass"])
def test_a_password_may_come_from_any_of_four_places(
    guarded: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    url = guarded.url(user="locked")
    if way == "url":
        url = guarded.url(user="locked", password=PASSWORD)
    elif way == "variable":
        monkeypatch.setenv("LOG_SECRET", PASSWORD)
        url = guarded.url(user="locked", password="${LOG_SECRET}")
    elif way == "PGPASSWORD":
        monkeypatch.setenv("PGPASSWORD", "pAss@w0rd")
    else:
        kept = tmp_path / "pgpass"
        kept.write_text(f"127.0.0.1:{guarded.port}:*:locked:pAss@w0rd\n")
        kept.chmod(0o600)
        monkeypatch.setenv("PGPASSFILE", str(kept))
    store = PostgresStore(new_place(tmp_path, url), create=True)
    assert store.append(add(), ANA)
    assert "pAss" not in str(store.place)
    store.close()


def test_a_variable_that_is_not_set_is_misuse(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match=r"`\$\{NOWHERE\}`, and there is no such variable"):
        PostgresStore(new_place(tmp_path, "postgresql://ana:${NOWHERE}@127.0.0.1/x"), create=True)


def test_a_database_role_host_or_port_that_is_not_there_is_named(tmp_path: Path) -> None:
    server = server_of_session()
    assert 'database "nowhere" does not exist' in refused(tmp_path, server.url(database="nowhere")).message
    assert 'role "nobody" does not exist' in refused(tmp_path, server.url(user="nobody")).message
    closed = refused(tmp_path, server.url(port=1))
    assert isinstance(closed, LogUnavailable)
    assert "Connection refused" in closed.message
    unknown = refused(tmp_path, "postgresql://ana@no-such-host.invalid/x")
    assert isinstance(unknown, LogUnavailable)
    assert "no-such-host.invalid" in unknown.message


@pytest.mark.parametrize("login", ["ana:1@pAss", "ana:1/pAss", "ana:1?pAss", "ana:%zzpAss", "ana:1@2/pAss"])
def test_an_address_that_cannot_be_read_is_not_repeated(tmp_path: Path, login: str) -> None:
    error = refused(tmp_path, f"postgresql://{login}@host/db")
    assert "cannot be read as an address" in error.message


def test_a_schema_without_a_log_says_how_to_create_it(tmp_path: Path) -> None:
    place = new_place(tmp_path, server_of_session().url())
    assert not has_log(place)
    with pytest.raises(LogMissing, match="there is no log at") as told:
        PostgresStore(place)
    assert told.value.hint == (
        "run `paddock init` to create it; `paddock store schema` prints the SQL for whoever owns the database"
    )


def change_head(place: LogPlace, words: str) -> None:
    with server_of_session().connect() as connection:
        connection.execute(f"UPDATE {place.schema}.head SET {words}".encode())


def test_a_log_of_a_newer_layout_is_left_alone(tmp_path: Path) -> None:
    place = new_log(tmp_path, server_of_session().url())
    change_head(place, "layout = 99")
    with pytest.raises(LogUnusable, match="has table layout 99; this Paddock knows up to 1"):
        PostgresStore(place)


def test_a_log_that_was_moved_says_where_to_readers_and_to_writers_that_have_it_open(tmp_path: Path) -> None:
    place = new_log(tmp_path, server_of_session().url())
    writer = PostgresStore(place)
    change_head(place, "moved = 'ana:/home/ana/app/.git/paddock/log.db'")
    with pytest.raises(LogMoved, match="was moved to ana:/home/ana/app"):
        writer.append(add(), ANA)
    assert not writer.exists(), "whoever has it open looks for it elsewhere"
    with pytest.raises(LogMoved) as told:
        PostgresStore(place, read_only=True)
    assert "set [store] url in paddock.toml to where it is now" in (told.value.hint or "")
    writer.close()


def test_a_full_disk_of_the_server_writes_nothing_and_is_over_when_there_is_room(tmp_path: Path) -> None:
    place = new_log(tmp_path, server_of_session().url())
    store = PostgresStore(place)
    with server_of_session().connect() as connection:
        connection.execute(
            f"""CREATE FUNCTION {place.schema}.full() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$;
            CREATE TRIGGER disk BEFORE INSERT ON {place.schema}.events
            EXECUTE FUNCTION {place.schema}.full()""".encode()
        )
    with pytest.raises(LogFull, match="is full: nothing was written"):
        store.append(add(), ANA)
    with server_of_session().connect() as connection:
        connection.execute(f"DROP TRIGGER disk ON {place.schema}.events".encode())
    assert store.append(add(), ANA)[0].seq == 2
    store.close()


def test_without_psycopg_the_extra_to_install_is_named(tmp_path: Path) -> None:
    place = new_place(tmp_path, "postgresql://ana@host/db")
    program = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from pathlib import Path\n"
        "from paddock.store.location import open_store\n"
        "from paddock.store.place import LogPlace\n"
        f"open_store(LogPlace(Path({str(place.file)!r}), {place.url!r}, 'paddock'))\n"
    )
    ended = subprocess.run(
        (sys.executable, "-c", program), cwd=TOP, capture_output=True, text=True, timeout=60, check=False
    )
    assert "the package `psycopg` is not installed" in ended.stderr


@pytest.fixture
def clerk(tmp_path: Path) -> Iterator[tuple[LogPlace, str]]:
    """A log whose tables and role were made by the SQL that `paddock store schema` prints."""
    server, role = server_of_session(), f"clerk_{os.urandom(4).hex()}"
    place = new_place(tmp_path, server.url(user=role))
    with server.connect() as connection:
        connection.execute(schema_as_text(place.schema, DATABASE, role).encode())
    yield place, role
    with server.connect() as connection:
        connection.execute(f"DROP SCHEMA {place.schema} CASCADE; DROP OWNED BY {role}; DROP ROLE {role}".encode())


def test_the_role_of_the_printed_schema_can_do_all_that_paddock_does(clerk: tuple[LogPlace, str]) -> None:
    place, _ = clerk
    store = open_store(place, create=True)
    with store.listen() as listener:
        store.append(add(count=3), ANA)
        assert listener.wait(10.0)
    assert store.rebuild()
    assert store.verify().bad is None
    assert store.loss() is None
    assert store.settle()
    store.close()
    reader = open_store(place, read_only=True)
    assert reader.board().seq == 4
    reader.close()


@pytest.mark.parametrize(
    "attack",
    [
        "DELETE FROM {}.events",
        "UPDATE {}.events SET actor = 'eve'",
        "TRUNCATE {}.events",
        "DROP TABLE {}.events",
        "ALTER TABLE {}.events DROP COLUMN hash",
        "DELETE FROM {}.head",
        "INSERT INTO {}.head SELECT false, 1, 0, '', ''",
        "CREATE TABLE {}.more()",
        "DROP SCHEMA {} CASCADE",
    ],
)
def test_the_role_of_the_printed_schema_can_neither_change_nor_remove_a_record(
    clerk: tuple[LogPlace, str], attack: str
) -> None:
    place, role = clerk
    open_store(place, create=True).close()
    with psycopg.connect(server_of_session().url(user=role), autocommit=True) as connection:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(attack.format(place.schema).encode())


def test_a_role_that_may_only_look_reads_everything_and_is_told_what_it_lacks(
    clerk: tuple[LogPlace, str], tmp_path: Path
) -> None:
    place, role = clerk
    open_store(place, create=True).close()
    with server_of_session().connect() as connection:
        connection.execute(f"REVOKE INSERT ON {place.schema}.events FROM {role}".encode())
        connection.execute(f"REVOKE UPDATE ON {place.schema}.head FROM {role}".encode())
    elsewhere = LogPlace(tmp_path / "b" / "paddock" / "shared", place.url, place.schema)
    reader = open_store(elsewhere, read_only=True)
    assert len(list(reader.records(Query()))) == reader.board().seq == 1
    assert reader.verify().bad is None
    reader.close()
    writer = open_store(elsewhere)
    with pytest.raises(LogUnusable, match="the role may not do that") as told:
        writer.append(add(), ANA)
    assert told.value.hint == "`paddock store schema` prints the grants that it needs"
    writer.close()
