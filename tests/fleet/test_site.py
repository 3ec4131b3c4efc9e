"""What a repository's settings come to."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from paddock.config.schema import Agent, AgentTimeouts, Config, Timeouts, Worktrees
from paddock.core.ids import TaskId
from paddock.core.tasks.task import Phase, Task
from paddock.fleet.site import Site
from paddock.git.repo import Repo


def first_block(top: Path, settings: Worktrees | None = None) -> range:
    repo = Repo(top / ".git", top / ".git", top, top)
    return Site(repo, Config(worktrees=settings or Worktrees()), top / ".git", "m").root.ports.block(1)


def test_fleets_of_one_machine_begin_at_different_ports() -> None:
    assert first_block(Path("/srv/one")) != first_block(Path("/srv/two"))
    assert first_block(Path("/srv/one")) == first_block(Path("/srv/one"))


@pytest.mark.parametrize("first", [20_000, 40_000])
def test_ports_begin_where_the_person_says(first: int) -> None:
    assert first_block(Path("/srv/one"), Worktrees(first_port=first, ports=3)) == range(first, first + 3)


def test_an_agents_own_deadlines_count_for_its_tasks_and_the_others_stay() -> None:
    slow = Agent(timeouts=AgentTimeouts(turn=7200.0, start=0.0), owns=("src/**",))
    config = Config(agents={"slow": slow}, timeouts=Timeouts(turn=60.0, silence=30.0))
    site = Site(Repo(Path("/r/.git"), Path("/r/.git"), Path("/r"), Path("/r")), config, Path("/r/.git"), "m")
    task = Task(TaskId("t1"), "x", 1, Phase.READY, 0.0, 0.0, 3, agent="slow", paths=("docs/**", "src/**"))
    own, usual = site.turn_limits(task), site.turn_limits(replace(task, agent=None))
    assert (own.turn_seconds, own.silence_seconds, own.startup_seconds) == (7200.0, 30.0, 0.0)
    assert (usual.turn_seconds, usual.silence_seconds, usual.startup_seconds) == (60.0, 30.0, 120.0)
    assert site.paths_of(task) == ("docs/**", "src/**")
