"""The merge queue in the simulated daemon: git is real, agents and CI play."""

from collections import Counter
from pathlib import Path
from random import Random

from paddock.config.schema import Config, Janitor, LandSettings, Limits, Worktrees
from paddock.core.events import AttemptEnded, AttemptStarted
from paddock.core.merge import events as qe
from paddock.core.tasks.task import Phase
from paddock.fleet.site import Site
from paddock.git.command import run_git
from paddock.git.repo import discover
from paddock.sessions.protocol import Turn, TurnOrder
from tests.simulation.parts import write_part
from tests.simulation.test_simulation import seeds, survive, why
from tests.simulation.troupe import Part
from tests.simulation.world import World

IDENTITY = ("-c", "user.name=Ana", "-c", "user.email=ana@localhost")
TASKS = 5


class Farm(World):
    """Agents commit a file of their own, which is bad now and then; CI fails where it finds a bad one."""

    def furnish(self, site: Site) -> None:
        """With worktrees of git."""

    def write_part(self, turn: Turn, order: TurnOrder) -> Part:
        chance = Random(f"{self.seed} {turn}")
        if turn.owner.startswith("run-"):
            return Part((), chance.uniform(20.0, 900.0), code=int(is_bad(order.cwd)))
        part = write_part("delivers", chance, order)
        name = turn.owner.partition(".")[0]
        (order.cwd / name).write_text("bad" if self.is_bad(name) else f"good, says {turn}")
        run_git(order.cwd, "add", name)
        run_git(order.cwd, *IDENTITY, "commit", "-q", "--allow-empty", "-m", f"Add {turn}")
        return part

    def is_bad(self, task: str) -> bool:
        return Random(f"{self.seed} is {task} bad").random() < 0.25


def is_bad(folder: Path) -> bool:
    return any(path.read_text() == "bad" for path in folder.glob("t*"))


def farm_of(seed: int, folder: Path) -> Farm:
    top = folder / "app"
    top.mkdir(parents=True)
    run_git(top, "init", "-q", "-b", "main")
    run_git(top, *IDENTITY, "commit", "-q", "--allow-empty", "-m", "First")
    config = Config(
        engine="claude",
        main="main",
        limits=Limits(max_agents=3, adapt_to_load=False, inline=False, agent_memory_mb=1),
        janitor=Janitor(every=10 * 86400.0),
        worktrees=Worktrees(pool=0, disk_floor_mb=0),
        land=LandSettings(ci="check", approval="none", slots=2),
    )
    farm = Farm(seed, discover(top), folder, config, ("delivers",))
    farm.add(TASKS)
    return farm


@seeds(1, 12)
def test_what_can_land_lands_and_main_is_never_red(seed: int, stage: Path) -> None:
    farm = farm_of(seed, stage)
    survive(farm, Random(f"{seed} deaths"), 3)
    assert farm.violations == [], why(farm)
    tasks, records = farm.board.tasks, farm.records()
    landed = {name for name, task in tasks.items() if task.phase is Phase.LANDED}
    assert landed == {name for name in tasks if not farm.is_bad(name)}, why(farm)
    for moved in (record.event for record in records if isinstance(record.event, qe.TrainLanded)):
        names = run_git(stage / "app", "ls-tree", "--name-only", moved.new).lines
        shown = [run_git(stage / "app", "show", f"{moved.new}:{name}").text for name in names]
        assert "bad" not in shown, why(farm)
    started = Counter(record.attempt for record in records if isinstance(record.event, AttemptStarted))
    assert started == Counter(record.attempt for record in records if isinstance(record.event, AttemptEnded))
    runs = Counter(record.event.run for record in records if isinstance(record.event, qe.RunStarted))
    assert runs == Counter(record.event.run for record in records if isinstance(record.event, qe.RunEnded))
    assert not farm.troupe.running()
