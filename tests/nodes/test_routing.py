"""Work goes to the nodes of a real cluster that have what it needs, and to none that is drained."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.core.events import AttemptStarted
from paddock.core.ids import TaskId
from paddock.core.tasks.task import Phase
from tests.fleet.yard import clean_environment, commit, play, write
from tests.nodes.ranch import Ranch, RayCluster, build_ranch
from tests.store.postgres_session import server_of_session

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayCluster]:
    """`n1` without a label, and `gpu-1` with a GPU."""
    made = RayCluster(clean_environment(tmp_path_factory.mktemp("home")))
    try:
        for node in [made.add("n1", 4), made.add("gpu-1", 2, gpu="true")]:
            node.await_start()
        yield made
    finally:
        made.close()


@pytest.fixture
def ranch(ranch_template: Path, tmp_path: Path, labelled: RayCluster) -> Iterator[Ranch]:
    made = build_ranch(ranch_template, tmp_path, server_of_session().url(), labelled, PADDOCK_LIMITS_MAX_AGENTS="2")
    yield made
    made.close()


def hosts(ranch: Ranch) -> dict[str, str]:
    started = ((record.task, record.event) for record in ranch.yard.records(AttemptStarted))
    return {str(task): event.host for task, event in started if isinstance(event, AttemptStarted)}


def test_tasks_go_where_their_needs_are_met_and_those_that_nobody_can_run_hold_up_nobody(ranch: Ranch) -> None:
    yard = ranch.yard
    for _ in range(5):
        yard.paddock("add", play(write("x.txt"), commit()), "--needs", "tpu")
    for number in range(3):
        yard.paddock("add", play(write(f"g{number}.txt"), commit()), "--needs", "gpu", "--needs", "os=linux")
    daemon = yard.start("run")
    board = yard.await_board(lambda board: board.counts.get(Phase.APPROVAL) == 3, "three deliveries")
    assert hosts(ranch) == {"t6": "gpu-1", "t7": "gpu-1", "t8": "gpu-1"}
    assert board.task(TaskId("t1")).phase is Phase.READY
    assert "needs tpu: no node has it" in yard.paddock("status")
    daemon.kill()


def test_a_drained_node_starts_nothing_until_it_is_used_again(ranch: Ranch) -> None:
    yard = ranch.yard
    yard.add(write("a.txt"), commit())
    yard.run()  # a daemon has seen the nodes
    yard.paddock("drain", "gpu-1", "--reason", "a new disk", "--wait")
    yard.paddock("add", play(write("g.txt"), commit()), "--needs", "gpu")
    daemon = yard.start("run")
    yard.await_that(lambda: "gpu-1 is drained" in yard.paddock("status"), "the reason")
    assert "t2" not in hosts(ranch)
    yard.paddock("drain", "gpu-1", "--undo")
    yard.await_board(lambda board: board.task(TaskId("t2")).phase is Phase.APPROVAL, "t2 is done")
    assert hosts(ranch)["t2"] == "gpu-1"
    assert "gpu-1  ● up" in yard.paddock("nodes")
    daemon.kill()
