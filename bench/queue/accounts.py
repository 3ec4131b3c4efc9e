"""`python -m bench.queue.accounts`: where the queue's CI runs go, in runs per landed change."""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from bench.queue.engine import Engine
from bench.queue.sieve import SieveAndTrain
from bench.queue.world import Scenario, World
from paddock.core.merge.model import Purpose, Run


class Accounts(Engine):
    """Counts the runs that ended, by what they were for and what they said."""

    def __init__(self, world: World) -> None:
        self.sieve = SieveAndTrain(world.scenario.slots)
        super().__init__(world, self.sieve)
        self.spent: Counter[str] = Counter()

    def _end(self, run: int, now: float) -> None:
        purpose = purpose_of(self.sieve.queue.running[f"r{run}"])
        green = self.world.is_green(self.running[run])
        super()._end(run, now)
        passed = self.sieve.queue.ended[f"r{run}"].result == "pass"
        self.spent[f"{purpose}, {'pass' if passed else 'flake' if green else 'fail'}"] += 1


def purpose_of(run: Run) -> str:
    if run.purpose is Purpose.TRAIN:
        return "suspects of a train" if run.confirms else "train"
    return f"{run.purpose.value} of {'one' if len(run.members) == 1 else 'several'}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bad", type=float, default=0.2)
    parser.add_argument("--slots", type=int, default=16)
    parser.add_argument("--seeds", type=int, nargs="+", default=[201, 202])
    options = parser.parse_args()
    spent: Counter[str] = Counter()
    landed, room = 0, 0.0
    for seed in options.seeds:
        engine = Accounts(World.draw(Scenario(600, options.slots, options.bad, 0.02, 0.01, seed=seed)))
        report = engine.run()
        spent += engine.spent
        landed += report.landed
        room += report.last_landing * options.slots
    for name, runs in spent.most_common():
        sys.stdout.write(f"{name:<28} {runs / landed:.3f}\n")
    sys.stdout.write(f"{'stopped, idle':<28} {(room - spent.total()) / landed:.3f}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
