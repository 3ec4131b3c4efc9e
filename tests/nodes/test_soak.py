"""A hundred agents through everything that can fail, and a node that a network really cuts off."""

import os
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import Outcome
from tests.fleet.yard import clean_environment, commit, play, write
from tests.nodes.conftest import MakeRanch
from tests.nodes.herd import NODES, Herd, end
from tests.nodes.network import Network
from tests.nodes.ranch import RayCluster, build_ranch
from tests.store.postgres_server import PostgresServer
from tests.store.postgres_session import new_server
from tests.warm import RunningCommand

pytestmark = pytest.mark.slow

AGENTS = 100


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    made = new_server()
    yield made
    made.close()


@pytest.fixture
def server_for_all() -> Iterator[PostgresServer]:
    """It answers in other network namespaces, too."""
    made = new_server("listen_addresses = '*'")
    with (made.data / "pg_hba.conf").open("a") as file:
        file.write("host all all 10.77.0.0/24 trust\n")
    made.restart()
    yield made
    made.close()


def test_a_hundred_agents_land_once_each_whatever_fails(
    server: PostgresServer, make_ranch: MakeRanch, cluster: RayCluster
) -> None:
    ranch = make_ranch(
        server.url(),
        PADDOCK_LAND_RUNNER="ray", PADDOCK_LAND_APPROVAL="none", PADDOCK_LAND_CI="test -f README.md",
        PADDOCK_LAND_SLOTS="6", PADDOCK_LIMITS_ATTEMPTS="9",
    )  # fmt: skip
    yard, notes = ranch.yard, ranch.yard.folder / "begun"
    note = {"run": ["sh", "-c", f'echo "$PADDOCK_ATTEMPT" >> {notes}']}
    yard.add_all(
        [
            {"brief": play(note, write(f"f{number}.txt", f"{number}\n"), commit(), {"think": 0.5 + number % 5})}
            for number in range(AGENTS)
        ]
    )

    def start() -> RunningCommand:
        return yard.start("run", "--until-idle", env={"PADDOCK_LIMITS_MAX_AGENTS": "20"})

    def landed() -> int:
        return yard.board().counts.get(Phase.LANDED, 0)

    daemon = start()
    yard.await_that(lambda: landed() >= 5, "the first")
    end(ranch.deputies()["n1"])
    for process in cluster.nodes["n2"].processes():
        if process.name() == "ray::NodeManager":
            process.kill()
    yard.await_that(lambda: landed() >= 15, "some more")
    server.restart(signal.SIGQUIT)
    yard.await_that(lambda: landed() >= 25, "what goes on after the database")
    cluster.nodes["n3"].kill()
    stopped = ranch.deputies().get("n2")
    if stopped is not None:
        end(stopped, signal.SIGSTOP)
    yard.await_that(lambda: landed() >= 40, "what goes on with a node less, and another one cut off")
    if stopped is not None:
        end(stopped, signal.SIGCONT)
    cluster.add("n3", 8, gpu="true").await_start()
    for child in psutil.Process(daemon.pid).children():
        if "placer" in " ".join(child.cmdline()):
            child.kill()
    yard.await_that(lambda: landed() >= 60, "what goes on after the placer")
    daemon.send(signal.SIGKILL)
    daemon.wait()
    daemon = start()
    assert daemon.wait(900) == 0, f"{daemon.words}\n{yard.paddock('status')}"

    files = yard.git("ls-tree", "--name-only", "main").split()
    assert sorted(files) == sorted({"README.md", "paddock.toml", *(f"f{number}.txt" for number in range(AGENTS))})
    assert all(yard.git("show", f"main:f{number}.txt") == str(number) for number in range(AGENTS))
    assert landed() == AGENTS
    added = yard.git("log", "--no-merges", "--format=", "--name-only", "main").split()
    assert max(Counter(added).values()) == 1, "something has landed twice"
    begun = Counter(line.rpartition(":")[2] for line in notes.read_text().split())
    assert max(begun.values()) == 1, f"a turn was run twice under one lease: {begun.most_common(3)}"
    assert "damaged" not in yard.paddock("log", "verify")
    assert not ranch.processes()


@pytest.fixture
def network() -> Iterator[Network]:
    if os.getuid() != 0 or shutil.which("ip") is None:
        pytest.skip("only root can make network namespaces")
    made = Network()
    yield made
    made.close()


def test_a_node_behind_a_pulled_cable_is_fenced_and_ends_what_it_had_when_it_is_back(
    network: Network, server_for_all: PostgresServer, ranch_template: Path, tmp_path: Path
) -> None:
    made = tmp_path / "ranch"
    made.mkdir()
    cluster = RayCluster(clean_environment(tmp_path), network.places())
    ranch = None
    try:
        for started in [cluster.add(name, 8) for name in NODES]:
            started.await_start()
        ranch = build_ranch(ranch_template, made, server_for_all.url().replace("127.0.0.1", Network.ADDRESS), cluster)
        herd = Herd(ranch)
        daemon = herd.start()
        board = herd.await_work()
        node = herd.busiest(board)
        lost = herd.on(board, node)
        network.pull(NODES.index(node) + 1)
        herd.yard.await_board(lambda board: not set(lost) & herd.live(board), "the attempts to be taken away")
        assert {process.mark.attempt for process in ranch.processes(node)} == set(lost), "its agents work on, unheard"
        network.plug(NODES.index(node) + 1)
        herd.yard.await_that(lambda: not ranch.processes(node), "the end of what it had")
        herd.finish(daemon)
        assert herd.outcomes() == {Outcome.DELIVERED: len(herd.names), Outcome.LOST: len(lost)}
    finally:
        if ranch is not None:
            ranch.close()
        cluster.close()
