"""Whole fleets whose agents, and CI runs, are on the nodes of a real Ray cluster."""

from paddock.core.events import AttemptStarted
from paddock.core.merge.events import RunStarted
from paddock.core.tasks.task import Phase
from tests.fleet.yard import Yard, commit, play, write
from tests.nodes.conftest import MakeRanch
from tests.nodes.ranch import Ranch

ALL = {"n1", "n2", "n3"}


def hosts_of(yard: Yard, kind: type[AttemptStarted | RunStarted]) -> set[str]:
    return {record.event.host for record in yard.records(kind) if isinstance(record.event, kind)}


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
