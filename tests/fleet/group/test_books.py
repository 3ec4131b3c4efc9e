"""What both books of a group promise: the file of one machine, and the database of several."""

import itertools
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from paddock.core.admission.clocks import Clocks
from paddock.core.group.entry import AccountUse, Entry
from paddock.core.group.notes import AccountNote
from paddock.core.money.budget import Cost
from paddock.fleet.group.postgres import PostgresGroup
from paddock.fleet.group.protocol import GroupBook, GroupChange, GroupState, GroupUnreachable
from paddock.fleet.group.sqlite import SqliteGroup
from tests.store.postgres_server import PostgresServer
from tests.store.postgres_session import server_of_session

_numbers = itertools.count(1)
API = Entry(
    "log-api", "api", "/src/api", "h", "h", 3, 10.0, 20.0, "2027-01-15", {"claude": AccountUse(2, 1, Cost(1.0))}
)
NOTE = AccountNote(Clocks(auth="no such key"), at=10.0, by="api")
KINDS = ("sqlite", "postgres")


@pytest.fixture(params=KINDS)
def open_book(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], GroupBook]:
    """open_book(name): one of the groups that are kept in the same place."""
    if request.param == "sqlite":
        return lambda name: SqliteGroup(tmp_path / "groups" / f"{name}.db")
    number = next(_numbers)
    return lambda name: PostgresGroup(server_of_session().url(), f"{name}-{os.getpid()}-{number}")


@pytest.fixture
def book(open_book: Callable[[str], GroupBook]) -> GroupBook:
    return open_book("team")


def test_what_is_written_is_there_for_whoever_looks_next(book: GroupBook) -> None:
    assert book.look() == GroupState()
    told = book.change(lambda _: GroupChange({API.member: API}, {"claude": NOTE}))
    assert told == book.look() == GroupState({API.member: API}, {"claude": NOTE})


def test_a_change_decides_on_what_is_there_and_replaces_drops_and_keeps(book: GroupBook) -> None:
    web = Entry("log-web", "web")
    book.change(lambda _: GroupChange({API.member: API, web.member: web}, {"claude": NOTE}))
    seen: list[GroupState] = []

    def decide(state: GroupState) -> GroupChange:
        seen.append(state)
        return GroupChange({web.member: Entry("log-web", "web", generation=9)}, dropped=(API.member, "log-unknown"))

    after = book.change(decide)
    assert seen == [GroupState({API.member: API, web.member: web}, {"claude": NOTE})]
    assert after == book.look() == GroupState({web.member: Entry("log-web", "web", generation=9)}, {"claude": NOTE})


def test_what_a_decision_raises_changes_nothing_and_is_raised_as_it_is(book: GroupBook) -> None:
    book.change(lambda _: GroupChange({API.member: API}))

    def refuse(_: GroupState) -> GroupChange:
        raise KeyError("no")

    with pytest.raises(KeyError, match="no"):
        book.change(refuse)
    assert book.change(lambda _: GroupChange()) == book.look() == GroupState({API.member: API})


def test_groups_of_one_place_do_not_see_each_other(open_book: Callable[[str], GroupBook]) -> None:
    one, other = open_book("team"), open_book("other")
    one.change(lambda _: GroupChange({API.member: API}, {"claude": NOTE}))
    other.change(lambda _: GroupChange({"log-x": Entry("log-x", "x")}, dropped=(API.member,)))
    assert list(one.look().entries) == [API.member]
    assert other.look() == GroupState({"log-x": Entry("log-x", "x")})


def test_changes_of_many_come_one_after_the_other_also_the_very_first(book: GroupBook) -> None:
    """Each adds one to what it saw: none is lost."""

    def add(state: GroupState) -> GroupChange:
        known = state.entries.get("log-n", Entry("log-n", "n"))
        return GroupChange({"log-n": Entry("log-n", "n", generation=known.generation + 1)})

    ready = threading.Barrier(4)

    def work() -> None:
        ready.wait()
        for _ in range(10):
            book.change(add)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert book.look().entries["log-n"].generation == 40


KILLED = """
import os, signal, sys
from pathlib import Path
from paddock.core.group.entry import Entry
from paddock.fleet.group.postgres import PostgresGroup
from paddock.fleet.group.protocol import GroupChange
from paddock.fleet.group.sqlite import SqliteGroup
kind, place, name, when = sys.argv[1:]
book = SqliteGroup(Path(place)) if kind == "sqlite" else PostgresGroup(place, name)
def decide(state):
    if when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    return GroupChange({"log-dead": Entry("log-dead", "dead")}, dropped=("log-api",))
book.change(decide)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("when", ["before", "after"])
def test_who_is_killed_leaves_a_whole_change_or_nothing_of_it_and_no_lock(book: GroupBook, when: str) -> None:
    book.change(lambda _: GroupChange({API.member: API}))
    named = ("sqlite", str(book.path), "") if isinstance(book, SqliteGroup) else ("postgres", book.url, book.name)  # type: ignore[attr-defined]
    done = subprocess.run([sys.executable, "-c", KILLED, *named, when], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert list(book.look().entries) == (["log-api"] if when == "before" else ["log-dead"])
    assert "log-new" in book.change(lambda _: GroupChange({"log-new": Entry("log-new", "new")})).entries


# -- the file ---------------------------------------------------------------------------------------------------


def test_the_files_folder_is_the_users_alone_and_nobody_makes_a_file_by_looking(tmp_path: Path) -> None:
    book = SqliteGroup(tmp_path / "groups" / "team.db")
    book.look()
    assert not book.path.parent.exists()
    book.change(lambda _: GroupChange({API.member: API}))
    assert book.path.parent.stat().st_mode & 0o077 == 0


def test_a_file_of_a_newer_paddock_or_of_no_group_is_named_with_what_to_do(tmp_path: Path) -> None:
    import apsw

    newer = SqliteGroup(tmp_path / "newer.db")
    newer.change(lambda _: GroupChange({API.member: API}))
    with apsw.Connection(str(newer.path)) as connection:
        connection.execute("PRAGMA user_version=7")
    with pytest.raises(GroupUnreachable, match="table layout 7") as refused:
        newer.look()
    assert "pip install --upgrade" in (refused.value.hint or "")
    odd = SqliteGroup(tmp_path / "odd.db")
    odd.change(lambda _: GroupChange({API.member: API}))
    with apsw.Connection(str(odd.path)) as connection:
        connection.execute("UPDATE entries SET body='{'")
    with pytest.raises(GroupUnreachable, match="has an entry that cannot be read"):
        odd.look()
    pipe = SqliteGroup(tmp_path / "pipe.db")
    os.mkfifo(pipe.path)
    with pytest.raises(GroupUnreachable, match="is not a file"):
        pipe.look()


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(GroupUnreachable, match="cannot be reached"):
        SqliteGroup(tmp_path / "groups" / "team.db").change(lambda _: GroupChange({API.member: API}))
    tmp_path.chmod(0o700)


# -- the database -----------------------------------------------------------------------------------------------


@pytest.fixture
def role() -> Iterator[tuple[PostgresServer, str]]:
    """A user who may use the database and make nothing in it."""
    server, name = server_of_session(), f"guest{os.getpid()}_{next(_numbers)}"
    with server.connect() as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN")
    yield server, name
    with server.connect() as connection:
        connection.execute(f"DROP OWNED BY {name}; DROP ROLE {name}")


def test_a_database_that_is_away_or_refuses_is_named_without_its_password(role: tuple[PostgresServer, str]) -> None:
    server, guest = role
    away = PostgresGroup("postgresql://ana:s3cret@127.0.0.1:1/paddock", "team")
    with pytest.raises(GroupUnreachable, match="cannot be used") as refused:
        away.look()
    assert "s3cret" not in str(refused.value)
    assert "`postgresql://…@127.0.0.1:1/paddock`" in refused.value.message
    with pytest.raises(GroupUnreachable, match="permission denied"):
        PostgresGroup(server.url(user=guest), f"guests-{guest}").change(lambda _: GroupChange({API.member: API}))


def test_a_group_that_somebody_holds_for_long_is_unreachable_and_free_again_after_that() -> None:
    server = server_of_session()
    book = PostgresGroup(server.url(), f"held-{os.getpid()}")
    book.change(lambda _: GroupChange({API.member: API}))
    with server.connect() as connection, connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"paddock_groups/{book.name}",))
        assert book.look().entries == {API.member: API}
        with pytest.raises(GroupUnreachable, match="lock timeout"):
            book.change(lambda _: GroupChange({"log-web": Entry("log-web", "web")}))
    assert set(book.change(lambda _: GroupChange({"log-web": Entry("log-web", "web")})).entries) == {
        "log-api",
        "log-web",
    }


def test_variables_of_the_environment_are_filled_in(monkeypatch: pytest.MonkeyPatch) -> None:
    server = server_of_session()
    monkeypatch.setenv("TEAM_DATABASE", server.url())
    assert PostgresGroup("${TEAM_DATABASE}", "nobody").look() == GroupState()
    monkeypatch.delenv("TEAM_DATABASE")
    with pytest.raises(GroupUnreachable, match=r"names `\$\{TEAM_DATABASE\}`, which is not set"):
        PostgresGroup("${TEAM_DATABASE}", "nobody").look()
