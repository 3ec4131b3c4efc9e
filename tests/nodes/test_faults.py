"""Machines, processes and servers that fail under a fleet on nodes: nothing is lost, and nothing is done twice."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress

import psutil
import pytest

from paddock.core.ids import AttemptId, task_of
from paddock.core.tasks.vocabulary import Outcome
from tests.nodes.conftest import LABELS, MakeRanch
from tests.nodes.herd import AGENTS, Herd, end
from tests.nodes.ranch import Ranch, RayCluster
from tests.store.postgres_server import PostgresServer
from tests.store.postgres_session import new_server


@pytest.fixture
def herd(ranch: Ranch) -> Herd:
    return Herd(ranch)


def test_a_node_whose_ray_dies_works_on_to_the_end(herd: Herd, cluster: RayCluster) -> None:
    daemon = herd.start()
    node = herd.busiest(herd.await_work())
    cluster.nodes[node].kill()
    herd.finish(daemon)
    assert herd.outcomes() == {Outcome.DELIVERED: AGENTS}
    cluster.add(node, 8, **LABELS.get(node, {})).await_start()


def test_a_killed_manager_and_a_killed_deputy_are_followed_by_others_that_adopt_the_agents(
    herd: Herd, cluster: RayCluster
) -> None:
    daemon = herd.start()
    node = herd.busiest(herd.await_work())
    before = herd.ranch.deputies()
    end(before[node])
    herd.yard.await_that(lambda: herd.ranch.deputies().get(node, before[node]) != before[node], "another deputy")
    managers = [one for one in cluster.nodes[node].processes() if one.name() == "ray::NodeManager"]
    assert managers
    for manager in managers:
        manager.kill()
    herd.finish(daemon)
    assert herd.outcomes() == {Outcome.DELIVERED: AGENTS}


def test_the_work_of_a_lost_node_goes_on_elsewhere_from_what_was_pushed(herd: Herd, cluster: RayCluster) -> None:
    daemon = herd.start()
    board = herd.await_work()
    node = herd.busiest(board)
    lost = herd.on(board, node)
    herd.yard.await_that(lambda: herd.pushed() >= set(lost), "the first commits at the remote")
    cluster.nodes[node].kill()
    deputy = herd.ranch.deputies()[node]
    end(deputy)
    for process in herd.ranch.processes(node):
        with suppress(ProcessLookupError):
            os.kill(process.identity.pid, signal.SIGKILL)
    herd.go.touch()
    board = herd.finish(daemon)
    assert herd.outcomes() == {Outcome.DELIVERED: AGENTS, Outcome.LOST: len(lost)}
    for name in lost:
        first, second = board.task(task_of(AttemptId(name))).attempts
        assert first.host == node != second.host
        subjects = herd.yard.git("log", "--format=%s", f"main..{second.head}").splitlines()
        assert subjects == ["Second", "First"], "it began again, instead of where the other was lost"
    cluster.add(node, 8, **LABELS.get(node, {})).await_start()


def test_a_daemon_and_a_placer_that_are_killed_leave_their_agents_to_the_next(herd: Herd) -> None:
    doomed = herd.start()
    herd.await_work()
    (placer,) = (one for one in psutil.Process(doomed.pid).children() if "placer" in " ".join(one.cmdline()))
    placer.kill()
    herd.yard.await_that(
        lambda: [one for one in psutil.Process(doomed.pid).children() if one != placer and one.is_running()],
        "another placer",
    )
    doomed.send(signal.SIGKILL)
    assert doomed.wait() == -signal.SIGKILL
    herd.finish(herd.start())
    assert herd.outcomes() == {Outcome.DELIVERED: AGENTS}


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    made = new_server()
    yield made
    made.close()


def test_a_database_that_is_away_for_a_while_costs_nothing(server: PostgresServer, make_ranch: MakeRanch) -> None:
    herd = Herd(make_ranch(server.url()))
    daemon = herd.start()
    herd.await_work()
    server.stop(signal.SIGQUIT)
    herd.go.touch()
    daemon.await_words("the fleet goes on when it is back")
    server.start()
    herd.finish(daemon)
    assert herd.outcomes() == {Outcome.DELIVERED: AGENTS}


def test_a_node_that_is_cut_off_is_fenced_and_ends_what_it_had_when_it_comes_back(
    herd: Herd,
) -> None:
    ranch = herd.ranch
    daemon = herd.start()
    board = herd.await_work()
    node = herd.busiest(board)
    lost = herd.on(board, node)
    sign = ranch.deputies()[node]
    end(sign, signal.SIGSTOP)
    herd.yard.await_board(lambda board: not set(lost) & herd.live(board), "the attempts to be taken away")
    assert {process.mark.attempt for process in ranch.processes(node)} == set(lost), "its agents work on, unheard"
    end(sign, signal.SIGCONT)
    herd.yard.await_that(lambda: not ranch.processes(node), "the end of what it had")
    herd.finish(daemon)
    assert herd.outcomes() == {Outcome.DELIVERED: AGENTS, Outcome.LOST: len(lost)}
