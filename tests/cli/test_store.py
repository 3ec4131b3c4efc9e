"""`paddock store`: a log in a database and back, seen from the command line."""

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
import pytest

from paddock.store.place import LogPlace
from paddock.store.postgres import PostgresStore
from tests.cli.conftest import Cli, git
from tests.store.drafts import ANA, add
from tests.store.postgres_server import PostgresServer
from tests.store.postgres_session import new_server, server_of_session
from tests.warm import PATIENCE_SECONDS, RunningCommand

FILL, LEAVE, OPEN = "migrate.filling", "migrate.left", "migrate.opened"
TO_DATABASE = (FILL, "migrate.piece", "migrate.verified", "migrate.complete", "migrate.noted", "migrate.renamed",
               LEAVE, OPEN)  # fmt: skip
TO_FILE = (FILL, "migrate.piece", "migrate.verified", "migrate.complete", "migrate.noted", LEAVE, "migrate.folded",
           "migrate.placing", OPEN)  # fmt: skip


@dataclass(frozen=True)
class Database:
    """A schema of its own, which is not there yet."""

    url: str
    schema: str

    @property
    def toml(self) -> str:
        return f'\n[store]\nurl = "{self.url}"\nschema = "{self.schema}"\n'

    @property
    def words(self) -> tuple[str, ...]:
        return "--to", self.url, "--schema", self.schema

    def open(self, folder: Path, *, create: bool = False) -> PostgresStore:
        """As another machine does."""
        place = LogPlace(folder / "paddock" / "shared", self.url, self.schema)
        return PostgresStore(place, create=create)


@pytest.fixture
def database() -> Iterator[Database]:
    made = Database(server_of_session().url(), f"log_{os.urandom(5).hex()}")
    yield made
    with server_of_session().connect() as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {made.schema} CASCADE".encode())


@pytest.fixture
def busy(cli: Cli) -> Cli:
    """With a log of some records in its file."""
    for title in ("Rewrite the lexer", "Use it", "Document it"):
        cli.good("add", title)
    return cli


def configure(cli: Cli, text: str) -> None:
    path = cli.top / "paddock.toml"
    path.write_text(path.read_text().partition("\n[store]")[0] + text)


def history(cli: Cli) -> list[dict[str, object]]:
    return cli.good("log", "--json").lines


def start(cli: Cli, *words: str, **env: str) -> RunningCommand:
    return RunningCommand(list(words), cli.top, {**os.environ, **env}, apart=True)


def test_a_log_moves_into_a_database_and_back_record_for_record(busy: Cli, database: Database) -> None:
    before = history(busy)
    said = busy.good("store", "migrate", *database.words).out
    assert said.startswith(f"moved 4 records to postgresql://owner@127.0.0.1:{server_of_session().port}/postgres ")
    assert f'    url = "{database.url}"\n    schema = "{database.schema}"' in said
    refused = busy("status")
    assert refused.code == 1
    assert "was moved to postgresql://owner@" in refused.err
    configure(busy, database.toml)
    assert history(busy) == before
    assert busy.good("log", "verify").out == "4 records, all hashes match\n"
    busy.good("add", "Ship it")
    assert "the log is at" not in busy.good("doctor").out
    said = busy.good("store", "migrate", "--to", "file").out
    assert "now take `url` out of [store] in paddock.toml" in said
    refused = busy("add", "Too late")
    assert f"was moved to {os.uname().nodename}:{busy.log}" in refused.err
    configure(busy, "")
    assert [record["hash"] for record in history(busy)][:4] == [record["hash"] for record in before]
    assert len(history(busy)) == 5
    assert busy.good("log", "verify").out == "5 records, all hashes match\n"
    assert busy.good("add", "Celebrate").out == "added t5  Celebrate\n"


def test_it_can_be_moved_again_and_again(busy: Cli, database: Database) -> None:
    for number in range(3):
        busy.good("store", "migrate", *database.words, "--edit")
        busy.good("add", f"there {number}")
        busy.good("store", "migrate", "--to", "file", "--edit")
        busy.good("add", f"here {number}")
    assert len(history(busy)) == 10
    assert busy.good("log", "verify").code == 0


def test_edit_changes_the_store_section_and_nothing_else(busy: Cli, database: Database) -> None:
    path = busy.top / "paddock.toml"
    path.write_text(path.read_text() + "\n[limits2]\n".replace("limits2", "review"))
    text = path.read_text()
    found = busy.good("store", "migrate", *database.words, "--edit", "--json").json()
    assert (found["records"], found["copied"], found["edited"]) == (4, 4, True)
    assert path.read_text() == text + database.toml
    assert busy.good("store", "migrate", "--to", "file", "--edit").out.splitlines()[-1].startswith("paddock.toml says")
    assert path.read_text() == text


def test_paddock_toml_may_be_edited_first(busy: Cli, database: Database) -> None:
    configure(busy, database.toml)
    refused = busy("init", "--yes")
    assert f"and one in the file `{busy.log}`" in refused.err
    assert "hint: move it there: `paddock store migrate`" in refused.err
    assert "all hashes match" in busy.good("store", "migrate").out
    assert len(history(busy)) == 4
    again = busy.good("store", "migrate").out
    assert again.startswith("the log has left its old place and is at postgresql://owner@")


def test_a_log_in_the_file_is_not_left_behind_by_a_new_one_in_the_database(busy: Cli, database: Database) -> None:
    busy.good("log", "push")
    configure(busy, database.toml)
    printed = busy.good("store", "schema").out
    for ready in (False, True):
        if ready:
            with server_of_session().connect() as connection:
                connection.execute(printed.partition("CREATE ROLE")[0].encode())
        for words in (("init", "--yes"), ("log", "fetch"), ("status",), ("add", "x")):
            refused = busy(*words)
            assert refused.code == 1
            assert "hint: move it there: `paddock store migrate`" in refused.err
    busy.good("store", "migrate")
    assert len(history(busy)) == 4


def test_a_schema_that_was_dropped_comes_back_from_the_mirror(busy: Cli, database: Database) -> None:
    busy.good("store", "migrate", *database.words, "--edit")
    busy.good("log", "push")
    before = history(busy)
    with server_of_session().connect() as connection:
        connection.execute(f"DROP SCHEMA {database.schema} CASCADE".encode())
    for words in (("status",), ("init", "--yes")):
        assert "is gone: it had 4 records" in busy(*words).err
    assert busy.good("log", "fetch").out.startswith("4 new records from ")
    assert history(busy) == before
    busy.good("add", "Go on")


def test_nothing_says_where_to_move_a_log_that_is_in_its_file(busy: Cli) -> None:
    assert busy.shown("store", "migrate") == (
        "--- stderr\nerror: the log is in the file `TOP/.git/paddock/log.db`, and nothing says where to move it\n\n"
        "hint: name the database: `paddock store migrate --to postgresql://USER@HOST/DATABASE`\n[exit 1]\n"
    )
    assert "is in the file" in busy("store", "migrate", "--to", "file").err


def test_a_place_that_holds_another_log_is_refused(busy: Cli, database: Database, tmp_path: Path) -> None:
    other = database.open(tmp_path / "other", create=True)
    other.append(add(), ANA)
    refused = busy("store", "migrate", *database.words)
    assert refused.code == 1
    assert "holds another log, with 2 records\n\nhint: name another schema: `--schema NAME`" in refused.err
    assert other.append(add(), ANA)[0].seq == 3
    other.close()
    assert len(history(busy)) == 4, "it is where it was"


def test_a_file_with_a_log_in_it_is_not_overwritten(busy: Cli, database: Database) -> None:
    busy.good("store", "migrate", *database.words, "--edit")
    busy.log.write_bytes((busy.log.parent / "log.db.moved").read_bytes())
    refused = busy("store", "migrate", "--to", "file")
    assert f"there is a log in the file `{busy.log}` already" in refused.err


def test_a_log_is_not_moved_while_a_daemon_works_with_it(busy: Cli, database: Database) -> None:
    daemon = start(busy, "run")
    try:
        assert await_daemon(busy)
        refused = busy("store", "migrate", *database.words)
        assert "a daemon works with this log (pid " in refused.err
        assert "hint: end it with `paddock down`" in refused.err
    finally:
        daemon.send(signal.SIGTERM)
        daemon.wait()
    busy.good("store", "migrate", *database.words)


def await_daemon(cli: Cli) -> bool:
    from paddock.fleet.service.background import find_daemon
    from paddock.store.location import open_store

    store = open_store(cli.log, read_only=True)
    with store.listen() as listener:
        while find_daemon(store.board()) is None:
            assert listener.wait(60.0)
    store.close()
    return True


def test_what_is_recorded_during_the_copy_is_moved_too_but_not_from_under_a_daemon(
    busy: Cli, database: Database
) -> None:
    moving = start(busy, "store", "migrate", *database.words, PADDOCK_TEST_STOP_AT="migrate.verified")
    await_stopped(moving.pid)
    busy.good("add", "In the meantime")
    refused = busy("store", "migrate", *database.words)
    assert "the log is being moved by another `paddock store migrate`" in refused.err
    daemon = start(busy, "run")
    await_daemon(busy)
    moving.send(signal.SIGCONT)
    assert moving.wait() == 1
    assert "a daemon works with this log" in moving.complaints
    daemon.send(signal.SIGTERM)
    daemon.wait()
    assert (
        "being moved"
        in busy("--set", f"store.url={database.url}", "--set", f"store.schema={database.schema}", "status").err
    )
    before = history(busy)
    busy.good("store", "migrate", *database.words, "--edit")
    assert history(busy) == before
    assert "In the meantime" in busy.good("status").out


def await_stopped(pid: int) -> None:
    process, give_up_at = psutil.Process(pid), time.monotonic() + PATIENCE_SECONDS
    while process.status() != psutil.STATUS_STOPPED:
        assert time.monotonic() < give_up_at
        time.sleep(0.01)


def test_a_mirror_does_not_bring_a_moved_log_back_to_life(busy: Cli, database: Database) -> None:
    busy.good("log", "push")
    busy.good("store", "migrate", *database.words)
    for words in (("log", "fetch"), ("init", "--yes"), ("add", "x")):
        assert "was moved to postgresql://owner@" in busy(*words).err
    assert not busy.log.exists()


def test_an_address_without_the_log_says_where_the_log_was_moved(busy: Cli, database: Database) -> None:
    busy.good("store", "migrate", *database.words)
    configure(busy, replace(database, schema="elsewhere").toml)
    for words in (("init", "--yes"), ("status",)):
        refused = busy(*words)
        assert refused.code == 1
    assert (
        f"that of this repository was moved to postgresql://owner@127.0.0.1:{server_of_session().port}" in refused.err
    )


def test_every_clone_works_with_the_shared_log(busy: Cli, database: Database, tmp_path: Path) -> None:
    busy.good("store", "migrate", *database.words, "--edit")
    git(busy.top, "add", "paddock.toml")
    git(busy.top, "commit", "-qm", "Share the log")
    git(tmp_path, "clone", "-q", str(busy.top), str(tmp_path / "clone"))
    clone = Cli(tmp_path / "clone", busy.capture, busy.monkeypatch)
    assert "3 tasks: 3 ready" in clone.good("status").out
    said = clone.good("init", "--yes").out
    assert said.startswith("uses the log at postgresql://owner@127.0.0.1:")
    assert said.endswith(": 4 records\n")
    assert clone.good("add", "From afar").out == "added t4  From afar\n"
    assert "From afar" in busy.good("status").out
    assert busy.good("cancel", "t4").code == 0
    assert clone.good("show", "t4", "--json").json()["phase"] == "cancelled"
    for words in (("log", "verify"), ("doctor",), ("config", "check"), ("log", "rebuild"), ("store", "show")):
        clone.good(*words)
    assert "up to record 6" in clone.good("log", "push").out
    assert "0 new records" in clone.good("log", "fetch").out
    assert clone.good("log", "accept-loss").out.startswith("nothing is lost")


def test_init_creates_a_log_where_paddock_toml_says(fresh: Cli, database: Database) -> None:
    (fresh.top / "paddock.toml").write_text(database.toml)
    assert fresh("status").err.startswith("error: there is no log at `postgresql://owner@")
    said = fresh.good("init", "--yes").out
    assert "created the log in postgresql://owner@" in said
    assert "already set up in" in fresh.good("init", "--yes").out
    assert not fresh.log.exists()
    assert fresh.good("add", "One").out == "added t1  One\n"


def test_a_schema_that_was_made_ready_gets_its_first_record_from_init(fresh: Cli, database: Database) -> None:
    (fresh.top / "paddock.toml").write_text(database.toml)
    printed = fresh.good("store", "schema", "--role", 'reader of "books"').out
    assert 'CREATE ROLE "reader of ""books""" LOGIN;' in printed
    with server_of_session().connect() as connection:
        connection.execute(printed.partition("CREATE ROLE")[0].encode())
    assert "hint: run `paddock init`" in fresh("add", "One").err
    assert "created the log in" in fresh.good("init", "--yes").out
    assert fresh.good("add", "One").out == "added t1  One\n"


def test_show_says_where_the_log_is_and_whether_it_is_safe_there(busy: Cli, database: Database) -> None:
    shown = busy.shown("store", "show").splitlines()
    assert shown[0] == "log        TOP/.git/paddock/log.db"
    assert shown[2] == "durable    yes: every record is on disk before it is acknowledged"
    busy.good("store", "migrate", *database.words)
    moved = busy("store", "show")
    assert moved.code == 1
    assert "state      moved to postgresql://owner@" in moved.out
    configure(busy, database.toml)
    found = busy.good("store", "show", "--json").json()
    assert (found["kind"], found["state"], found["records"], found["durable"]) == ("postgresql", "open", 4, True)
    assert found["server"]["role"] == "owner"
    assert found["warnings"] == [
        "`owner` is a superuser: `paddock store schema` prints the SQL for a role that may only add"
    ]
    said = busy.good("store", "show").out
    assert "durable    yes: fsync on, full_page_writes on, synchronous_commit on\n" in said
    configure(busy, replace(database, url=server_of_session().url(port=1)).toml)
    away = busy("store", "show")
    assert away.code == 1
    assert "cannot be reached" in away.err


def test_show_names_who_holds_the_log_and_who_waits(busy: Cli, database: Database) -> None:
    busy.good("store", "migrate", *database.words, "--edit")
    with server_of_session().connect() as connection:
        connection.execute("BEGIN")
        connection.execute(f"SELECT FROM {database.schema}.head FOR UPDATE".encode())
        waiting = start(busy, "add", "Patiently")
        give_up_at = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < give_up_at:
            sessions = busy.good("store", "show", "--json").json()["server"]["sessions"]
            if waiters := [one for one in sessions if one["waits_for"]]:
                break
        assert waiters[0]["program"] == f"paddock {waiting.pid}@{os.uname().nodename}"
        holder = next(one for one in sessions if one["pid"] == waiters[0]["waits_for"][0])
        assert (holder["writes"], holder["pid"]) == (True, connection.info.backend_pid)
        assert f"waits for {holder['pid']}" in busy.good("store", "show").out
        connection.execute("ROLLBACK")
    assert waiting.wait() == 0


def test_show_warns_of_a_server_that_may_lose_records(busy: Cli) -> None:
    careless = new_server("fsync = off\nfull_page_writes = off\nsynchronous_commit = off")
    try:
        busy.good("store", "migrate", "--to", careless.url(), "--edit")
        found = busy.good("store", "show", "--json").json()
        assert found["durable"] is False
        assert found["server"]["synchronous_commit"] == "on", "what a session can see to, it does"
        assert [warning.partition(":")[0] for warning in found["warnings"]][:2] == [
            "fsync is off",
            "full_page_writes is off",
        ]
        assert "durable    NO: fsync OFF, full_page_writes OFF" in busy.good("store", "show").out
    finally:
        careless.close()


SECRET = "Kn0wnToN0body"


@pytest.fixture
def guarded() -> Iterator[PostgresServer]:
    server = new_server()
    rules = server.data / "pg_hba.conf"
    rules.write_text(f"host all locked 127.0.0.1/32 scram-sha-256\n{rules.read_text()}")
    with server.connect() as connection:
        connection.execute(f"CREATE ROLE locked SUPERUSER LOGIN PASSWORD '{SECRET}'".encode())
        connection.execute("SELECT pg_reload_conf()")
    yield server
    server.close()


def test_no_password_is_ever_shown_or_written(busy: Cli, guarded: PostgresServer) -> None:
    literal = guarded.url(user="locked", password=SECRET)
    refused = busy("store", "migrate", "--to", literal, "--edit")
    assert (refused.code, SECRET in refused.err) == (2, False)
    said = [busy("store", "migrate", "--to", literal + "x"), busy.good("store", "migrate", "--to", literal)]
    assert "keep it in ~/.pgpass" in said[-1].out
    said.append(busy("status"))
    configure(busy, f'\n[store]\nurl = "{literal}"\n')
    commands = ("init", "status", "status --json", "store show", "store show --json", "store schema", "doctor",
                "doctor --json", "config show", "config show --json", "config show store.url", "config check",
                "log verify", "log push", "log --json", "add One", "store migrate", "up", "store show", "down",
                "store migrate --to file", "status", "store show")  # fmt: skip
    for command in commands:
        said.append(busy(*command.split()))
        if command == "up":
            assert not any(SECRET in word for process in psutil.process_iter() for word in _argv(process))
    configure(busy, f'\n[store]\nurl = "{guarded.url(user="locked", password="wr0ng" + SECRET)}"\n')
    said += [busy(*words) for words in (("status",), ("add", "x"), ("store", "show"), ("doctor",), ("run",))]
    assert sum(one.code == 0 for one in said) > 15
    assert not [one for one in said if SECRET in one.out + one.err]
    written = [path for path in busy.top.rglob("*") if path.is_file() and path.name != "paddock.toml"]
    assert len(written) > 30
    assert not [path for path in written if SECRET.encode() in path.read_bytes()]


def _argv(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def assert_moved_at_last(cli: Cli, point: str, words: tuple[str, ...], titles: set[str]) -> None:
    killed = start(cli, "store", "migrate", *words, PADDOCK_TEST_CRASH_AT=point)
    assert killed.wait() == -signal.SIGKILL, killed.complaints
    attempted = cli("add", f"after {point}")
    if attempted.code == 0:
        titles.add(f"after {point}")
    else:
        assert "moved" in attempted.err, "both places refuse, or one takes it"
    cli.good("store", "migrate", *words, "--edit")
    shown = cli.good("status", "--json").json()
    assert {task["title"] for task in shown["tasks"]} == titles
    assert cli.good("log", "verify").out == f"{shown['seq']} records, all hashes match\n"


SHORT = (("migrate.piece", "migrate.noted"), ("migrate.renamed", "migrate.placing"), (LEAVE, LEAVE))
LONG = [pytest.param(there, back, marks=pytest.mark.slow) for there in TO_DATABASE for back in TO_FILE]


@pytest.mark.parametrize(("there", "back"), [*SHORT, *LONG])
def test_whoever_is_killed_while_moving_a_log_moves_all_of_it_at_the_next_try(
    busy: Cli, database: Database, there: str, back: str
) -> None:
    titles = {"Rewrite the lexer", "Use it", "Document it"}
    assert_moved_at_last(busy, there, database.words, titles)
    assert_moved_at_last(busy, back, ("--to", "file"), titles)
    configure(busy, "")
    busy.good("add", "In the end")
    left = {path.name for path in busy.log.parent.iterdir()}
    assert not left & {"filling", "log.moved"}
    assert {path.name for path in busy.log.parent.parent.glob("*.witness")} >= {"paddock-log.witness"}


def test_the_sweep_stops_at_every_point_there_is(busy: Cli, database: Database, tmp_path: Path) -> None:
    for words, points in ((database.words, TO_DATABASE), (("--to", "file"), TO_FILE)):
        trace = tmp_path / f"trace-{len(points)}"
        moved = start(busy, "store", "migrate", *words, "--edit", PADDOCK_TEST_TRACE=str(trace))
        assert moved.wait() == 0, moved.complaints
        passed = dict.fromkeys(line.split()[0] for line in trace.read_text().splitlines())
        assert [point for point in passed if point.startswith("migrate.")] == list(points)
