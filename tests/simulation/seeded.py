"""Worlds that differ by their seed alone: how many tasks, what depends on what, how many agents may run."""

from pathlib import Path
from random import Random

from paddock.config.schema import Config, Janitor, Limits, Worktrees
from paddock.git.repo import Repo
from tests.simulation.parts import PARTS
from tests.simulation.world import World


def config_of(seed: int) -> Config:
    chance = Random(f"{seed} config")
    limits = Limits(
        max_agents=chance.choice((2, 4, 8)), adapt_to_load=False, inline=chance.random() < 0.3, agent_memory_mb=1
    )
    return Config(
        engine="claude",
        main="main",
        limits=limits,
        janitor=Janitor(every=10 * 86400.0),
        worktrees=Worktrees(pool=0, disk_floor_mb=0),
    )


def world_of(seed: int, repo: Repo, folder: Path, kinds: tuple[str, ...] = tuple(PARTS)) -> World:
    world = World(seed, repo, folder, config_of(seed), kinds)
    chance = Random(f"{seed} tasks")
    count = chance.randint(3, 12)
    after = [(n, chance.randint(1, n - 1)) for n in range(2, count + 1) if chance.random() < 0.2]
    world.add(count, after)
    return world
