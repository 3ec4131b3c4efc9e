"""Tasks that need what this machine does not have: they wait and say why, and hold nothing up that can run."""

from pathlib import Path

from msgspec.structs import replace

from paddock.config.schema import Agent, SessionsSettings
from paddock.core.events import Draft, TaskAdded
from paddock.core.ids import task_id
from paddock.fleet.dispatch.refusals import read_waiting
from paddock.git.repo import Repo
from tests.simulation.stage import Stage, set_stage
from tests.simulation.world import PERSON

MANY = 60


def add(world: Stage, *needs: tuple[str, ...], agent: str | None = None) -> None:
    added = [TaskAdded("Task", "Do it.", needs=one, agent=agent) for one in needs]
    drafts = [Draft(event, task=task_id(number)) for number, event in enumerate(added, 1)]
    world.people.append(lambda _board: drafts, PERSON)


def test_many_tasks_that_cannot_run_here_do_not_keep_one_that_can_from_starting(repo: Repo, stage: Path) -> None:
    world = set_stage(repo, stage, max_agents=1)
    add(world, *([("gpu",)] * MANY), ())
    assert world.live()
    assert world.task(f"t{MANY + 1}").phase == "approval"
    assert [world.task(f"t{number}").attempts for number in range(1, MANY + 1)] == [()] * MANY
    waiting = read_waiting(world.folder / "state")
    assert waiting["t1"].startswith("needs gpu, and this machine has os=")
    world.assert_nothing_is_left()


def test_a_machine_that_is_labelled_runs_what_needs_its_labels(repo: Repo, stage: Path) -> None:
    world = set_stage(repo, stage)
    world.config = replace(world.config, sessions=SessionsSettings(labels=("gpu",)))
    add(world, ("gpu",), ("tpu",))
    assert world.live()
    assert world.task("t1").phase == "approval"
    assert world.task("t2").phase == "ready"


def test_what_an_agent_needs_its_tasks_need(repo: Repo, stage: Path) -> None:
    world = set_stage(repo, stage)
    world.config = replace(world.config, agents={"trainer": Agent(needs=("gpu",), engine="claude")})
    add(world, (), agent="trainer")
    assert world.live()
    assert world.task("t1").attempts == ()
    assert "needs gpu" in read_waiting(world.folder / "state")["t1"]
