"""Setting up a clone whose remote has a log: one history, not two."""

from pathlib import Path

import pytest

from tests.cli.conftest import Cli, git


@pytest.fixture
def clone(cli: Cli, tmp_path: Path) -> Cli:
    """A clone of a bare remote to which a log with one task was pushed."""
    remote, place = tmp_path / "remote.git", tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--bare", str(cli.top), str(remote))
    git(cli.top, "remote", "add", "origin", str(remote))
    cli.good("add", "Rewrite the lexer")
    cli.good("log", "push")
    git(tmp_path, "clone", "-q", str(remote), str(place))
    return Cli(place, cli.capture, cli.monkeypatch)


def test_status_of_a_clone_points_at_the_log_of_its_remote(clone: Cli) -> None:
    said = clone("status")
    assert said.code == 1
    assert "`paddock log fetch`" in said.err


def test_init_goes_on_with_the_log_of_the_remote(clone: Cli) -> None:
    said = clone.good("init", "--yes").out
    assert "fetched the log from `origin`: " in said
    assert "created the log" not in said
    assert clone.good("status", "--json").json()["tasks"][0]["title"] == "Rewrite the lexer"
    clone.good("add", "Use it")
    assert "0 new records from `origin`" in clone.good("log", "fetch").out
    assert "1 new record" in clone.good("log", "push").out
    assert clone.good("log", "verify").out.endswith("all hashes match\n")


def test_init_tells_programs_where_the_log_came_from(clone: Cli) -> None:
    assert clone.good("init", "--json").json()["fetched_from"] == "origin"


def test_init_begins_a_log_where_the_remote_has_none_or_cannot_be_reached(clone: Cli) -> None:
    git(clone.top, "remote", "set-url", "origin", str(clone.top / "gone"))
    assert "created the log" in clone.good("init", "--yes").out
    assert clone.good("status", "--json").json()["tasks"] == []


def test_a_fetch_that_was_interrupted_is_done_again(clone: Cli) -> None:
    from paddock.store.sqlite import SqliteStore

    SqliteStore(clone.log, create=True, announce=False).close()
    assert "fetched the log from `origin`" in clone.good("init", "--yes").out
