"""Changes that land with CI on the nodes of a Ray cluster, beside the simulator of the merge queue.

    python -m bench.grow.landing [--quick] [--slots K …]

Real branches of a generated project, one in ten bad, some clashing or conflicting, tests that flake; CI sleeps, so that
one machine can play four nodes. Each round has so many slots, and CI long enough that the machine is not what they wait
for. Writes bench/out/grow_landing.json. `--quick` is 6 branches with 2 slots and says nothing about goals.
"""

import argparse
import subprocess
import sys
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from tests.git.landing.auditor import Report, audit_history
from tests.nodes.ranch import RayCluster

from bench.grow.fleet import MeasuredFleet, Place, open_cluster, open_place
from bench.measure import Line, print_table, write_json
from bench.queue.project import Noise, generate
from bench.queue.real import AGREEMENT, BAD, CLASH, FLAKE, Real, read_log
from bench.queue.real import line as told
from bench.queue.world import Scenario, World
from paddock.core.merge.events import RunStarted

NODES = 4


@dataclass(frozen=True, slots=True)
class Round:
    slots: int
    seconds: float
    branches: int
    flake: float = FLAKE


FULL = (Round(4, 10.0, 60), Round(8, 15.0, 100), Round(16, 30.0, 160), Round(32, 60.0, 240))
# No dice may have main fail twice in a row and halt the queue.
QUICK = (Round(2, 0.1, 6, 0.0),)
SUITE = (sys.executable, "-S", "-m", "unittest", "-q", "test_parts")


@dataclass(frozen=True, slots=True)
class Landing:
    round: Round
    real: Real
    nodes: int

    @property
    def an_hour(self) -> float:
        return 3600 * self.real.landed / self.real.seconds

    @property
    def simulated(self) -> float:
        """An hour, where a run takes as long as CI sleeps."""
        return 3600 * self.real.simulated / self.round.seconds

    @property
    def simulated_as_long(self) -> float:
        """An hour, where a run takes as long as runs took here, from their start to their recorded end."""
        return 3600 * self.real.simulated / self.real.run_seconds


def land(place: Place, cluster: RayCluster, one: Round, seed: int) -> Landing:
    conflicts = one.branches // 50 or 1
    world = World.draw(Scenario(one.branches - conflicts, one.slots, BAD, CLASH, one.flake, seed=seed))
    project = place.folder / f"project{one.slots}"
    names = generate(project, world, conflicts)
    noise = Noise(one.seconds, one.flake, 0.0)
    settings = {
        "PADDOCK_LAND_RUNNER": "ray",
        "PADDOCK_LAND_SLOTS": str(one.slots),
        "PADDOCK_LAND_CI": f"env PYTHONDONTWRITEBYTECODE=1 PARTS_CI='{noise.text}' {' '.join(SUITE)}",
    }
    with place.fleet(cluster, settings=settings, template=project) as fleet:
        first = fleet.yard.git("rev-parse", "main")
        fleet.yard.paddock("land", *(word for name in names for word in ("--branch", name)))
        done = subprocess.run(
            fleet.yard.argv("run", "--until-idle"), cwd=fleet.yard.top, env=fleet.yard.env, check=False,
            capture_output=True, text=True, timeout=7200,
        )  # fmt: skip
        sys.stderr.write(done.stderr)
        report = audit(fleet, first)
        with fleet.yard.log() as store:
            real = read_log(store, world, one.branches, report.tips, report.complaints)
        starts = (record.event for record in fleet.yard.records(RunStarted))
        return Landing(one, real, len({start.host for start in starts if isinstance(start, RunStarted)}))


def audit(fleet: MeasuredFleet, first: str) -> Report:
    """By one who knows only git, and tests every tip of main again."""
    (here := fleet.yard.folder / "audit").mkdir()
    return audit_history(Path(fleet.yard.top), first, fleet.yard.git("rev-parse", "main"), "merge", SUITE, here)


def landing_lines(landings: list[Landing]) -> list[Line]:
    lines = []
    for one in landings:
        name = f"{one.round.slots} slots, CI of {one.round.seconds:g} s"
        against = "simulator, runs as long as here"
        lines += [
            Line(f"{name}: landed an hour", one.an_hour, "/h", "simulator, runs as long as CI", one.simulated),
            Line(name, one.an_hour, "/h", against, one.simulated_as_long, 1 - AGREEMENT, at_least=True),
            Line(f"{name}: a run takes", one.real.run_seconds, "s", "CI", one.round.seconds),
        ]
    return lines


def measure(
    place: Place, slots: Collection[int] | None = None, seed: int = 1, *, quick: bool, given: RayCluster | None = None
) -> bool:
    """Whether nothing landed that should not, and no goal was missed. `slots` are the rounds; None: all."""
    rounds = [one for one in (QUICK if quick else FULL) if slots is None or one.slots in slots]
    landings = []
    with open_cluster(place, [-(-rounds[-1].slots // NODES)] * NODES, given) as cluster:
        for one in rounds:
            landings.append(land(place, cluster, one, seed))
            print(f"{told(landings[-1].real)}, on {landings[-1].nodes} nodes", flush=True)
            for complaint in landings[-1].real.complaints[:5]:
                print(f"  {complaint}", flush=True)
    lines = landing_lines(landings)
    print_table(f"landing with CI on nodes{' (quick)' if quick else ''}", lines)
    print(f"\n{write_json('grow_landing-quick' if quick else 'grow_landing', lines)}")
    sound = all(one.real.sound for one in landings)
    return sound and (quick or all(line.met is not False for line in lines))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--slots", type=int, nargs="+", help="only these of the rounds")
    options = parser.parse_args()
    with open_place() as place:
        return 0 if measure(place, options.slots, options.seed, quick=options.quick) else 1


if __name__ == "__main__":
    sys.exit(main())
