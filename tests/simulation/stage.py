"""A world with a cast: which part each attempt plays is said by the test, and nothing is left to chance."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from msgspec.structs import replace

from paddock.config.schema import Config, Janitor, Limits, Worktrees
from paddock.core.events import AttemptEnded, Event
from paddock.core.ids import TaskId
from paddock.core.tasks.task import Attempt, Task
from paddock.git.repo import Repo
from paddock.sessions.protocol import Turn, TurnOrder
from tests.simulation.parts import conversation_of, delivers
from tests.simulation.troupe import Part
from tests.simulation.world import World

Role = Callable[[Random, str], Part]


@dataclass
class Stage(World):
    """`cast` by attempt, or by task for all its attempts; whoever is not in it delivers."""

    cast: dict[str, Role] = field(default_factory=dict)

    def write_part(self, turn: Turn, order: TurnOrder) -> Part:
        role = self.cast.get(turn.owner) or self.cast.get(turn.owner.partition(".")[0], delivers)
        return role(Random(f"{self.seed} {turn}"), conversation_of(order))

    def obstacle(self, attempt: str) -> str:
        return ""

    def task(self, name: str = "t1") -> Task:
        return self.board.task(TaskId(name))

    def attempt(self, name: str = "t1") -> Attempt:
        last = self.task(name).last
        assert last is not None
        return last

    def events(self, kind: type[Event], task: str | None = None) -> list[Event]:
        return [r.event for r in self.records() if isinstance(r.event, kind) and task in (None, r.task)]

    def ends(self, task: str = "t1") -> list[AttemptEnded]:
        return [event for event in self.events(AttemptEnded, task) if isinstance(event, AttemptEnded)]

    def assert_nothing_is_left(self) -> None:
        assert not self.troupe.running()
        assert not any(self.troupe.alive(turn.owner) for turn in self.troupe.turns)
        assert not self.ground.folders
        assert not self.board.spending.ledger.reservations
        assert self.violations == []


def set_stage(repo: Repo, folder: Path, cast: dict[str, Role] | None = None, **limits: object) -> Stage:
    own = Limits(adapt_to_load=False, inline=False, agent_memory_mb=1)
    config = Config(
        engine="claude",
        main="main",
        limits=replace(own, **limits),
        janitor=Janitor(every=10 * 86400.0),
        worktrees=Worktrees(pool=0, disk_floor_mb=0),
    )
    return Stage(0, repo, folder, config, ("delivers",), cast=cast or {})
