"""How many hours of a fleet's life the simulated daemon plays in a minute of processor time."""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from tests.simulation.seeded import world_of
from tests.simulation.vigil import HOUR, vigil
from tests.simulation.world import World

from bench.measure import Line, print_table, write_json
from paddock.git.command import run_git
from paddock.git.repo import Repo, discover

SEEDS = range(1001, 1031)
IDLE_HOURS = 240.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory(prefix="paddock-bench-") as folder:
        lines = measure(Path(folder), SEEDS[:2] if quick else SEEDS, 3.0 if quick else IDLE_HOURS)
    print_table("the simulated daemon, per minute of processor time", lines)
    print(f"\nwritten to {write_json('simulation-quick' if quick else 'simulation', lines)}")
    return 0 if quick or all(line.met is not False for line in lines) else 1


def measure(folder: Path, seeds: Iterable[int], idle_hours: float) -> list[Line]:
    repo = make_repository(folder / "app")
    fleets = [world_of(seed, repo, folder / str(seed)) for seed in seeds]
    working = sum(map(cpu_minutes, fleets))
    idle = vigil(repo, folder / "idle")
    idle.hours_long = idle_hours
    resting = cpu_minutes(idle)
    return [
        Line("fleets at work, from first task to rest", sum(fleet.hours for fleet in fleets) / working, "h"),
        Line("turns of their agents", sum(map(agent_hours, fleets)) / working, "h"),
        Line("a daemon that waits for work", idle_hours / resting, "h", goal=1000.0, at_least=True),
    ]


def make_repository(top: Path) -> Repo:
    top.mkdir()
    run_git(top, "init", "-q", "-b", "main")
    who = ("-c", "user.name=Ana", "-c", "user.email=ana@localhost")
    run_git(top, *who, "commit", "-q", "--allow-empty", "-m", "First")
    return discover(top)


def cpu_minutes(world: World) -> float:
    started = time.process_time()
    assert world.live()
    return (time.process_time() - started) / 60


def agent_hours(world: World) -> float:
    played = world.troupe.turns.values()
    return sum(turn.ends_at - turn.started_at for turn in played if turn.ends_at is not None) / HOUR


if __name__ == "__main__":
    sys.exit(main())
