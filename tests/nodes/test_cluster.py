"""Whole fleets whose agents, and CI runs, are on the nodes of a real Ray cluster."""

from pathlib import Path

from paddock.core.events import AttemptStarted
from paddock.core.merge.events import RunStarted
from paddock.core.tasks.task import Phase
from paddock.fleet.nodes.turn_files import GROWING, SMALL
from tests.fleet.yard import Yard, commit, play, write
from tests.nodes.conftest import MakeRanch
from tests.nodes.herd import NODES
from tests.nodes.ranch import Ranch, RayCluster

ALL = {"n1", "n2", "n3"}


def hosts_of(yard: Yard, kind: type[AttemptStarted | RunStarted]) -> set[str]:
    return {record.event.host for record in yard.records(kind) if isinstance(record.event, kind)}


def assert_copied(ranch: Ranch, folder: Path) -> None:
    """All output is here that is on whichever node had it, however short a time it took."""
    [there] = ranch.root.glob(f"*/*/app/.git/{folder.relative_to(ranch.yard.top / '.git')}")
    written = {path.name: path.read_bytes() for path in there.iterdir() if path.name.endswith((*GROWING, *SMALL))}
    assert any(name.endswith(".exit") for name in written)
    assert {name: (folder / name).read_bytes() for name, content in written.items() if content} == {
        name: content for name, content in written.items() if content
    }


def managers(cluster: RayCluster) -> set[int]:
    found = (one for node in NODES for one in cluster.nodes[node].processes())
    return {one.pid for one in found if one.name() == "ray::NodeManager"}


def test_agents_work_on_all_nodes_and_their_commits_come_back(ranch: Ranch) -> None:
    yard = ranch.yard
    names = yard.add_all([{"brief": play(write(f"f{n}.txt"), commit())} for n in range(12)])
    yard.run(env={"PADDOCK_LIMITS_MAX_AGENTS": "12"})
    board = yard.board()
    assert board.counts.get(Phase.APPROVAL) == 12, yard.paddock("status")
    assert hosts_of(yard, AttemptStarted) == ALL
    for name in names:
        head = board.task(name).head
        assert head is not None
        assert yard.git("show", f"{head}:f{int(name[1:]) - 1}.txt") == "hello"
        assert_copied(ranch, yard.attempt_folder(f"{name}.1"))


def test_ci_runs_on_nodes_land_what_passes_and_bounce_what_fails(make_ranch: MakeRanch) -> None:
    ranch = make_ranch(
        PADDOCK_LAND_RUNNER="ray",
        PADDOCK_LAND_APPROVAL="none",
        PADDOCK_LAND_CI="test ! -e bad.txt",
        PADDOCK_LAND_SLOTS="4",
    )
    yard = ranch.yard
    good = yard.add_all([{"brief": play(write(f"f{n}.txt"), commit())} for n in range(6)])
    bad = yard.add(write("bad.txt"), commit())
    yard.run(env={"PADDOCK_LIMITS_MAX_AGENTS": "8"})
    board = yard.board()
    assert all(board.task(name).phase is Phase.LANDED for name in good), yard.paddock("status")
    assert board.task(bad).phase is not Phase.LANDED
    assert set(yard.git("ls-tree", "--name-only", "main").split()) >= {f"f{n}.txt" for n in range(6)}
    assert "bad.txt" not in yard.git("ls-tree", "--name-only", "main")
    assert hosts_of(yard, RunStarted) <= ALL
    assert not ranch.processes()
    for run in board.queue.ended.values():
        if run.reused is None and run.exit is not None:
            assert_copied(ranch, yard.runs_folder / run.id)


def test_a_daemon_outside_of_the_cluster_places_agents_through_its_gate(
    make_ranch: MakeRanch, cluster: RayCluster
) -> None:
    ranch = make_ranch(PADDOCK_SESSIONS_ADDRESS=cluster.outer_address)
    ranch.yard.add(write("far.txt"), commit())
    ranch.yard.run()
    assert ranch.yard.task().phase is Phase.APPROVAL, ranch.yard.paddock("status")
    assert hosts_of(ranch.yard, AttemptStarted) <= ALL


def test_work_goes_to_a_node_that_has_what_it_needs_and_to_none_that_is_drained(ranch: Ranch) -> None:
    yard = ranch.yard
    trained = yard.add(write("a.txt"), commit(), needs=["gpu"])
    yard.run()
    assert yard.attempt(trained).host == "n3"
    yard.paddock("drain", "n3", "n1", "--reason", "new disks")
    yard.add_all([{"brief": play(write(f"f{number}.txt"), commit())} for number in range(3)])
    yard.run(env={"PADDOCK_LIMITS_MAX_AGENTS": "8"})
    assert yard.board().counts.get(Phase.APPROVAL) == 4, yard.paddock("status")
    assert hosts_of(yard, AttemptStarted) == {"n3", "n2"}
    assert "drained" in yard.paddock("nodes")


def test_nodes_with_nothing_to_do_are_left_alone_and_are_used_again(make_ranch: MakeRanch, cluster: RayCluster) -> None:
    ranch = make_ranch(PADDOCK_SESSIONS_LOST_AFTER="2s")
    yard, others = ranch.yard, managers(cluster)
    yard.add(write("first.txt"), commit())
    daemon = yard.start("run")
    yard.await_board(lambda board: board.counts.get(Phase.APPROVAL) == 1, "the first")
    yard.await_that(lambda: not ranch.deputies(), "the end of all deputies")
    assert managers(cluster) <= others
    assert yard.paddock("nodes").count("up") >= 3, "they are there all the same"
    yard.add(write("second.txt"), commit())
    yard.await_board(lambda board: board.counts.get(Phase.APPROVAL) == 2, "the second")
    assert daemon.exit_code is None
