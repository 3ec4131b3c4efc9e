"""Whole fleets whose agents run on the nodes of a real Ray cluster."""

from paddock.core.events import AttemptStarted
from paddock.core.tasks.task import Phase
from tests.fleet.yard import commit, play, write
from tests.nodes.ranch import Ranch


def test_agents_work_on_all_nodes_and_their_commits_come_back(ranch: Ranch) -> None:
    yard = ranch.yard
    names = yard.add_all([{"brief": play(write(f"f{n}.txt"), commit())} for n in range(12)])
    print(yard.run(env={"PADDOCK_LIMITS_MAX_AGENTS": "12"}))
    board = yard.board()
    assert board.counts.get(Phase.APPROVAL) == 12, yard.paddock("status")
    assert {record.event.host for record in yard.records(AttemptStarted)} == {"n1", "n2", "n3"}
    for name in names:
        head = board.task(name).head
        assert head is not None
        assert yard.git("show", f"{head}:f{int(name[1:]) - 1}.txt") == "hello"
