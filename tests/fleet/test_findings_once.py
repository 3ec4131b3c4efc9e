"""What is in Paddock's way and not the agent's doing is one finding, retried ever more rarely, and healed."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from paddock.core.events import AttemptEnded, DaemonTroubled
from paddock.core.tasks.task import Phase
from paddock.fleet.troubles import read_troubles
from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Yard, commit, write


def break_configuration(yard: Yard) -> None:
    config = yard.top / ".git" / "config"
    config.rename(config.with_name("config.good"))
    config.write_text("[core\n")


def repair_configuration(yard: Yard) -> None:
    config = yard.top / ".git" / "config"
    config.with_name("config.good").rename(config)


@dataclass(frozen=True)
class Obstacle:
    put: Callable[[Yard], None]
    take_away: Callable[[Yard], None]
    words: str


OBSTACLES = {
    "configuration": Obstacle(break_configuration, repair_configuration, "bad config"),
}


@pytest.mark.parametrize("name", OBSTACLES)
def test_what_is_in_the_way_is_told_once_and_the_work_goes_on_without_it(make_yard: MakeYard, name: str) -> None:
    yard, obstacle = make_yard(), OBSTACLES[name]
    yard.add(write("first.txt"), commit("First"))
    yard.start("run")
    yard.await_board(lambda board: board.counts.get(Phase.APPROVAL), "a daemon at work")
    obstacle.put(yard)
    yard.add(write("a.txt"), commit("Add a"))
    yard.await_that(lambda: tries(yard, "t2.1") >= 3, "three tries")
    told = Counter(troubled.what for troubled in told_troubles(yard))
    assert told["driving t2.1"] == max(told.values()) == 1
    assert any(obstacle.words in troubled.problem for troubled in told_troubles(yard))
    obstacle.take_away(yard)
    yard.await_board(lambda board: board.counts.get(Phase.APPROVAL) == 2, "the delivery")
    (ended,) = yard.records(AttemptEnded, task="t2")
    assert isinstance(ended.event, AttemptEnded)
    assert ended.event.outcome.value == "delivered"
    yard.await_that(lambda: tries(yard, "t2.1") == 0, "the end of the trouble")


def test_a_branch_in_the_way_of_a_tasks_own_is_named_and_its_work_lands_all_the_same(make_yard: MakeYard) -> None:
    yard = make_yard(PADDOCK_LAND_CI="true")
    yard.git("branch", "paddock/t1-task-1/y")
    yard.add(write("a.txt"), commit("Add a"))
    yard.run(code=0)
    (ended,) = yard.records(AttemptEnded)
    assert isinstance(ended.event, AttemptEnded)
    assert ended.event.outcome.value == "delivered"
    assert "branch `paddock/t1-task-1` cannot be moved" in ended.event.reason
    assert not told_troubles(yard)
    yard.paddock("land", "t1")
    yard.run(code=0)
    assert "a.txt" in yard.git("ls-tree", "--name-only", "main").split()


def told_troubles(yard: Yard) -> list[DaemonTroubled]:
    events = (record.event for record in yard.records(DaemonTroubled))
    return [event for event in events if isinstance(event, DaemonTroubled)]


def tries(yard: Yard, whose: str) -> int:
    """How often it has failed in a row, as `paddock status` would tell."""
    return sum(trouble.times for trouble in read_troubles(yard.log_path.parent) if trouble.whose == whose)


def test_a_filter_that_comes_while_the_daemon_runs_is_told_once_and_is_over_when_it_goes(make_yard: MakeYard) -> None:
    yard = make_yard(PADDOCK_JANITOR_EVERY="300ms")
    yard.add(write("first.txt"), commit("First"))
    yard.start("run")
    yard.await_board(lambda board: board.counts.get(Phase.APPROVAL), "a daemon at work")
    yard.git("config", "filter.late.clean", "cat")
    yard.await_that(lambda: told_troubles(yard), "the finding")
    yard.await_that(lambda: tries(yard, "") >= 2, "another look at it")
    (told,) = told_troubles(yard)
    assert (told.what, "filter.late was written" in told.problem) == ("running filters", True)
    yard.git("config", "--unset", "filter.late.clean")
    yard.await_that(lambda: tries(yard, "") == 0, "the end of it")
