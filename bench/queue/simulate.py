"""`python -m bench.queue.simulate`: every policy over p × k × (flakes, clashes) × arrivals, as ratios.

Prints the grids, writes `bench/out/queue.json` and the plot `docs/merge-queue.svg`. `--quick` shows that it runs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from bench.queue.engine import Policy, Report, simulate
from bench.queue.plot import draw_plot
from bench.queue.rivals import Batches, Oracle, Zuul
from bench.queue.sieve import SieveAndTrain
from bench.queue.world import Scenario, World

POLICIES: dict[str, Callable[[World], Policy]] = {
    "serial": lambda _: Batches(1),
    "batch-8": lambda _: Batches(8),
    "zuul aimd": lambda world: Zuul(world.scenario.slots, adapt=True),
    "zuul w=k": lambda world: Zuul(world.scenario.slots, adapt=False),
    "ours": lambda world: SieveAndTrain(world.scenario.slots),
    "oracle": Oracle,
}
NOISE = ((0.0, 0.0), (0.01, 0.02))


class Cell(msgspec.Struct, frozen=True):
    """One policy in one scenario, over all seeds. Times are in CI runs."""

    policy: str
    bad: float
    slots: int
    flake: float
    clash: float
    arrivals_per_run: float | None
    landed_per_run: float
    median_latency: float
    landed: int
    wrongly_dropped: int
    red_tips: int
    untested_tips: int


@dataclass(frozen=True, slots=True)
class Grid:
    changes: int
    seeds: tuple[int, ...]
    bads: tuple[float, ...]
    slots: tuple[int, ...]


FULL = Grid(600, (1, 2), (0.05, 0.1, 0.2), (1, 2, 4, 8, 16, 32))
QUICK = Grid(40, (1,), (0.1,), (4,))


def measure(policy: str, scenario: Scenario, seeds: tuple[int, ...]) -> Cell:
    reports: list[Report] = []
    for seed in seeds:
        world = World.draw(replace(scenario, seed=seed))
        reports.append(simulate(world.scenario, POLICIES[policy](world), world))
    return Cell(
        policy,
        scenario.bad,
        scenario.slots,
        scenario.flake,
        scenario.clash,
        scenario.arrivals_per_run,
        sum(r.landed_per_run for r in reports) / len(reports),
        sum(r.median_latency for r in reports) / len(reports),
        sum(r.landed for r in reports),
        sum(r.wrongly_dropped for r in reports),
        sum(r.red_tips for r in reports),
        sum(r.untested_tips for r in reports),
    )


def drain(grid: Grid) -> Iterator[list[Cell]]:
    """All changes wait at the start: landed per run."""
    for flake, clash in NOISE:
        for bad in grid.bads:
            for slots in grid.slots:
                scenario = Scenario(grid.changes, slots, bad, clash, flake)
                yield [measure(policy, scenario, grid.seeds) for policy in POLICIES]


def arrivals(grid: Grid) -> Iterator[list[Cell]]:
    """Changes arrive at k/8, k/4 and k/2 per run: median latency against Zuul."""
    for flake, clash in NOISE:
        for bad in grid.bads:
            for slots in (s for s in grid.slots if s >= 4):
                for share in (0.125, 0.25, 0.5):
                    scenario = Scenario(grid.changes // 2, slots, bad, clash, flake, slots * share)
                    yield [measure(policy, scenario, grid.seeds) for policy in ("zuul w=k", "ours")]


def drain_line(cells: list[Cell]) -> str:
    by = {cell.policy: cell.landed_per_run for cell in cells}
    one = cells[0]
    rates = "  ".join(f"{name} {rate:5.2f}" for name, rate in by.items())
    ratios = f"{by['ours'] / by['zuul w=k']:4.2f}× zuul  {by['ours'] / by['oracle']:4.2f}× oracle"
    return f"p={one.bad:.2f} k={one.slots:<2} f={one.flake:.2f} q={one.clash:.2f}  {rates}  | {ratios}"


def arrival_line(cells: list[Cell]) -> str:
    zuul, ours = cells
    share = (ours.arrivals_per_run or 0.0) / ours.slots
    ratio = ours.median_latency / zuul.median_latency
    setting = f"p={ours.bad:.2f} k={ours.slots:<2} f={ours.flake:.2f} q={ours.clash:.2f} arrivals={share:.3f}k"
    return f"{setting}  P50 ours {ours.median_latency:5.2f}  zuul {zuul.median_latency:5.2f}  | {ratio:4.2f}×"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    grid = QUICK if quick else FULL
    out = sys.stdout
    cells: list[Cell] = []
    out.write("Landed per CI run, everything queued at the start\n")
    for row in drain(grid):
        cells += row
        out.write(drain_line(row) + "\n")
        out.flush()
    out.write("\nMedian time from queued to landed, in CI runs\n")
    for row in arrivals(grid):
        cells += row
        out.write(arrival_line(row) + "\n")
        out.flush()
    ours = [cell for cell in cells if cell.policy == "ours"]
    wrong, landed = sum(c.wrongly_dropped for c in ours), sum(c.landed for c in ours)
    out.write(
        f"\nours: {landed} landed, {wrong} good changes rejected ({wrong / landed:.3%}), "
        f"{sum(c.red_tips for c in ours)} red and {sum(c.untested_tips for c in ours)} untested tips\n"
    )
    root = Path(__file__).resolve().parents[2]
    (root / "bench" / "out").mkdir(exist_ok=True)
    name = "queue-quick.json" if quick else "queue.json"
    (root / "bench" / "out" / name).write_bytes(msgspec.json.format(msgspec.json.encode(cells)))
    if not quick:
        points = [(c.policy, c.bad, c.slots, c.landed_per_run) for c in cells if is_plotted(c)]
        (root / "docs").mkdir(exist_ok=True)
        (root / "docs" / "merge-queue.svg").write_text(draw_plot(points))
    return 0


def is_plotted(cell: Cell) -> bool:
    return cell.arrivals_per_run is None and cell.flake > 0


if __name__ == "__main__":
    raise SystemExit(main())
