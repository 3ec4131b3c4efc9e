"""The simulated truth: which changes are bad, which clash, when they arrive, and what a CI run answers."""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import dataclass, field

CLASH_WINDOW = 50
JITTER = 0.1


@dataclass(frozen=True, slots=True)
class Scenario:
    """Times are in units of one CI run. `arrivals_per_run` None means that all changes wait at the start.

    `agents` are the shares of bad changes of several authors, who take turns at random; empty: all are alike.
    """

    changes: int
    slots: int
    bad: float
    clash: float = 0.0
    flake: float = 0.0
    arrivals_per_run: float | None = None
    seed: int = 1
    agents: tuple[float, ...] = ()


@dataclass(slots=True)
class World:
    """One drawing of a scenario. The same seed gives every policy the same changes."""

    scenario: Scenario
    bad: frozenset[int] = frozenset()
    partner: dict[int, int] = field(default_factory=dict)
    arrivals: list[float] = field(default_factory=list)
    _dice: random.Random = field(default_factory=random.Random)
    authors: list[int] = field(default_factory=list)

    @classmethod
    def draw(cls, scenario: Scenario) -> World:
        dice = random.Random(scenario.seed)
        numbers = range(scenario.changes)
        authors = [dice.randrange(len(scenario.agents)) if scenario.agents else 0 for _ in numbers]
        shares = [scenario.agents[author] if scenario.agents else scenario.bad for author in authors]
        bad = frozenset(n for n in numbers if dice.random() < shares[n])
        partner = {
            n: dice.randrange(max(0, n - CLASH_WINDOW), n) for n in numbers if dice.random() < scenario.clash and n > 0
        }
        now, arrivals = 0.0, []
        for _ in numbers:
            if scenario.arrivals_per_run is not None:
                now += dice.expovariate(scenario.arrivals_per_run)
            arrivals.append(now)
        return cls(scenario, bad, partner, arrivals, random.Random(scenario.seed + 1), authors)

    def is_green(self, tree: Collection[int]) -> bool:
        present = tree if isinstance(tree, (set, frozenset)) else frozenset(tree)
        if not present.isdisjoint(self.bad):
            return False
        return not any(n in present and other in present for n, other in self.partner.items())

    def answer(self, tree: Collection[int]) -> bool:
        """What CI says: never green for a red tree, now and then red for a green one."""
        return self.is_green(tree) and self._dice.random() >= self.scenario.flake

    def duration(self) -> float:
        return self._dice.uniform(1 - JITTER, 1 + JITTER)
