"""Days of a fleet at work as days are: agents come and go, a few fail, for reasons that always come up."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import pi, sin

from paddock.core.ids import AttemptId
from paddock.core.tasks.vocabulary import Outcome
from tests.insight.alerts.world import DAY, HOUR, World, steps_of

USUAL_FAILURES: tuple[tuple[float, Outcome, str], ...] = (
    (0.020, Outcome.CRASHED, "3 tests failed: assert total == expected"),
    (0.010, Outcome.EMPTY, "it ended without a change"),
    (0.010, Outcome.TIMEOUT, "the turn took longer than an hour"),
    (0.005, Outcome.CRASHED, "ConnectionError: could not resolve host registry.example"),
    (0.003, Outcome.THROTTLED, "429 too many requests"),
    (0.002, Outcome.NEVER_RAN, "git worktree add: file exists"),
)
"""Of 1,000 attempts 50 fail."""

Fate = tuple[Outcome, str, dict[str, object]]


@dataclass
class Traffic:
    """`fate` says how an attempt that ends now does end, None for as usual; `per_hour` how many begin.
    `is_silent`: nothing is heard of those at work."""

    world: World
    per_hour: float = 10.0
    every: float = 300.0
    fate: Callable[[AttemptId], Fate | None] = lambda _: None
    engine: str = "claude"
    is_silent: bool = False
    live: dict[AttemptId, float] = field(default_factory=dict)

    def pass_time(self, seconds: float) -> None:
        world = self.world
        until = world.now + seconds
        while world.now < until:
            self._begin()
            self._go_on()
            world.look(after=self.every)

    def _begin(self) -> None:
        world = self.world
        busy = 1.0 + 0.6 * sin(2 * pi * (world.now % DAY) / DAY)
        chance = self.per_hour * busy * self.every / HOUR
        for _ in range(_poisson(world, chance)):
            name = world.start(self.engine)
            self.live[name] = world.now + world.random.lognormvariate(6.4, 0.6)

    def _go_on(self) -> None:
        world = self.world
        for name, ends in list(self.live.items()):
            if ends > world.now:
                if not self.is_silent:
                    world.changed.add(name)
                continue
            del self.live[name]
            fate = self.fate(name)
            outcome, error, fields = self._usual_fate() if fate is None else fate
            begun = world.now - 600.0
            fields.setdefault("steps", steps_of(world.random, begun, world.random.randint(6, 20)))
            world.end(name, outcome, error, **fields)  # type: ignore[arg-type]

    def _usual_fate(self) -> Fate:
        drawn = self.world.random.random()
        for share, outcome, error in USUAL_FAILURES:
            if drawn < share:
                return outcome, error, {}
            drawn -= share
        return Outcome.DELIVERED, "", {}


def _poisson(world: World, expected: float) -> int:
    """How many come where on average so many do."""
    count, left = 0, world.random.expovariate(1.0)
    while left < expected:
        count += 1
        left += world.random.expovariate(1.0)
    return count
