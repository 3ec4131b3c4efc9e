"""A fleet whose log is in a database: the server may end under it, and others may look on from their own clones."""

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.core import events as ev
from paddock.core.ids import AttemptId
from paddock.core.tasks.task import Phase
from paddock.fleet.glance import AgentGlance, read_glance
from paddock.store.location import open_store
from tests.fleet.yard import clean_environment, commit, play, write
from tests.nodes.ranch import SharedYard
from tests.store.postgres_server import PostgresServer
from tests.store.postgres_session import new_server

TOML = """\
engine = "scripted"
[land]
ci = "true"
approval = "none"
[store]
url = "{url}"
schema = "{schema}"
"""


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    made = new_server()
    yield made
    made.close()


@pytest.fixture
def shared(yard_template: Path, tmp_path: Path, server: PostgresServer) -> Iterator[SharedYard]:
    top, home, schema = tmp_path / "app", tmp_path / "home", f"log_{os.urandom(5).hex()}"
    shutil.copytree(yard_template, top, symlinks=True)
    home.mkdir()
    env = {**clean_environment(home), "PADDOCK_FENCE_WRITE": str(tmp_path)}
    yard = SharedYard(top, tmp_path, env, url=server.url(), schema=schema)
    (top / "paddock.toml").write_text(TOML.format(url=yard.url, schema=schema))
    yard.git("commit", "-qam", "Share the log")
    open_store(yard.place, create=True).close()
    yield yard
    yard.close()


def slow_work(number: int) -> str:
    return play({"say": "Thinking"}, {"hang": 0.7}, write(f"f{number}.txt"), {"hang": 0.3}, commit())


@pytest.mark.parametrize("ends", [["INT", "QUIT"], pytest.param(["INT", "QUIT", "KILL"] * 4, marks=pytest.mark.slow)])
def test_a_server_that_ends_and_comes_back_again_and_again_costs_a_fleet_nothing_but_time(
    shared: SharedYard, server: PostgresServer, ends: list[str]
) -> None:
    tasks = shared.add_all([{"brief": slow_work(number)} for number in range(len(ends))])
    fleet = shared.start("run", "--until-idle", "--max", "1")
    for number, end in enumerate(ends):
        begun = number + 1
        shared.await_that(lambda: len(shared.records(ev.TurnStarted)) >= begun)  # noqa: B023
        if end == "KILL":
            server.kill()
        else:
            server.stop(signal.SIGINT if end == "INT" else signal.SIGQUIT)
        server.start()
    assert fleet.wait() == 0, fleet.words
    board = shared.board()
    assert [board.tasks[name].phase for name in tasks] == [Phase.LANDED] * len(tasks), fleet.words
    assert [len(board.tasks[name].attempts) for name in tasks] == [1] * len(tasks), "nothing was done twice"
    assert len(shared.records(ev.TurnStarted)) == len(tasks)
    with shared.log() as log:
        assert log.verify().bad is None
    shared.assert_nothing_is_left()


def test_a_clone_sees_the_fleet_of_another_one_and_starts_none_of_its_own(shared: SharedYard, tmp_path: Path) -> None:
    shared.git("clone", "-q", str(shared.top), str(tmp_path / "clone"))
    clone = SharedYard(tmp_path / "clone", tmp_path, shared.env, url=shared.url, schema=shared.schema)
    fleet = shared.start("run")
    shared.await_board(lambda board: board.leases.held, "the daemon")
    clone.add(write("a.txt"), commit())
    shared.await_board(lambda board: board.counts.get(Phase.LANDED, 0), "the clone's task")
    assert "1 landed" in clone.paddock("status")
    assert f"pid {fleet.pid}" in clone.paddock("run", code=1)
    assert "Do it." in clone.paddock("show", "t1")
    assert "error" not in fleet.words


def test_another_machine_sees_what_only_the_daemon_knows(shared: SharedYard, tmp_path: Path) -> None:
    """Why a task waits, what an agent did last: files of the daemon's machine."""
    shared.git("clone", "-q", str(shared.top), str(tmp_path / "clone"))
    far = {**shared.env, "PADDOCK_HOST": "far"}
    clone = SharedYard(tmp_path / "clone", tmp_path, far, url=shared.url, schema=shared.schema)
    go = tmp_path / "go"
    shared.add({"say": "Reading the manual"}, {"wait_for": str(go)}, write("a.txt"), commit())
    shared.add(write("b.txt"), commit())
    fleet = shared.start("run", "--until-idle", "--max", "1")
    reason = shared.await_that(lambda: shared.row("t2")["reason"], "the reason")
    clone.await_that(lambda: clone.row("t2")["reason"] == reason, "the reason on the other machine")
    assert '"t2"' in clone.paddock("limits", "--json"), "it waits there, too"

    def last_step() -> str:
        assert "needs you" not in clone.paddock("status"), "a daemon looks after the agent"
        return read_glance(clone.log_path.parent).agents.get(AttemptId("t1.1"), AgentGlance()).step

    clone.await_that(lambda: last_step() == "Reading the manual", "what the agent did last")
    go.touch()
    assert fleet.wait() == 0, fleet.words
    assert "no daemon is running" in clone.paddock("status")
