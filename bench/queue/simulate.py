"""`python -m bench.queue.simulate`: every policy over p × k × (flakes, clashes) × arrivals, as ratios.

Prints the grids, writes `bench/out/queue.json` and the plot `docs/merge-queue.svg`. `--quick` shows that it runs,
`--seeds` and `--slots` choose others than those of the grid (and draw no plot).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from bench.queue.engine import Policy, Report, simulate
from bench.queue.gated import CheckThenGate
from bench.queue.plot import draw_plot
from bench.queue.rivals import Batches, Oracle, Zuul
from bench.queue.sieve import SieveAndTrain
from bench.queue.world import Scenario, World

POLICIES: dict[str, Callable[[World], Policy]] = {
    "serial": lambda _: Batches(1),
    "batch-8": lambda _: Batches(8),
    "zuul aimd": lambda world: Zuul(world.scenario.slots, adapt=True),
    "zuul w=k": lambda world: Zuul(world.scenario.slots, adapt=False),
    "check+gate": lambda world: CheckThenGate(world.scenario.slots, 1),
    "check+gate-8": lambda world: CheckThenGate(world.scenario.slots, 8),
    "ours": lambda world: SieveAndTrain(world.scenario.slots, world.authors),
    "oracle": Oracle,
}
NOISE = ((0.0, 0.0), (0.01, 0.02))
FLAKY = (0.05, 0.1)
# One agent of ten is careless; beside it ten that are alike and as good on average.
AGENTS = {"one of ten 80 % bad": (0.8, *(0.03,) * 9), "ten alike": (0.107,) * 10}
LEGEND = """\
check+gate tests each change by itself and then as speculative prefixes; check+gate-8 gates batches of 8. They, Zuul,
serial and batch-8 reject on one failure. The oracle knows which changes are bad or clash and drops them unbuilt, spends
exactly one build on each other one and never meets a flake: k landed per run, whatever p. It does not test changes
together: one run that passes for several changes is how a queue can land more than the oracle.
"""


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
    late_latency: float
    landed: int
    wrongly_dropped: int
    red_tips: int
    untested_tips: int
    agents: tuple[float, ...] = ()


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
        sum(r.late_latency for r in reports) / len(reports),
        sum(r.landed for r in reports),
        sum(r.wrongly_dropped for r in reports),
        sum(r.red_tips for r in reports),
        sum(r.untested_tips for r in reports),
        scenario.agents,
    )


def drain(grid: Grid) -> Iterator[list[Cell]]:
    """All changes wait at the start: landed per run."""
    for flake, clash in NOISE:
        for bad in grid.bads:
            for slots in grid.slots:
                scenario = Scenario(grid.changes, slots, bad, clash, flake)
                yield [measure(policy, scenario, grid.seeds) for policy in POLICIES]


def arrivals(grid: Grid) -> Iterator[list[Cell]]:
    """Changes arrive at k/8, k/4 and k/2 per run: latency against Zuul."""
    for flake, clash in NOISE:
        for bad in grid.bads:
            for slots in (s for s in grid.slots if s >= 4):
                for share in (0.125, 0.25, 0.5):
                    scenario = Scenario(grid.changes // 2, slots, bad, clash, flake, slots * share)
                    yield [measure(policy, scenario, grid.seeds) for policy in ("zuul w=k", "ours")]


def middling(grid: Grid) -> list[int]:
    return [slots for slots in grid.slots if slots in (8, 16)] or list(grid.slots)


def flaky(grid: Grid) -> Iterator[Cell]:
    """Suites that fail for no reason much more often."""
    for flake in FLAKY:
        for bad in grid.bads:
            for slots in middling(grid):
                yield measure("ours", Scenario(grid.changes, slots, bad, 0.02, flake), grid.seeds)


def unequal(grid: Grid) -> Iterator[tuple[str, Cell]]:
    for name, agents in AGENTS.items():
        for slots in middling(grid):
            share = sum(agents) / len(agents)
            scenario = Scenario(grid.changes, slots, share, 0.02, 0.01, agents=agents)
            yield name, measure("ours", scenario, grid.seeds)


def drain_line(cells: list[Cell]) -> str:
    by = {cell.policy: cell.landed_per_run for cell in cells}
    one = cells[0]
    rates = "  ".join(f"{name} {rate:5.2f}" for name, rate in by.items())
    rivals = ("zuul w=k", "check+gate-8", "oracle")
    ratios = "  ".join(f"{by['ours'] / by[rival]:4.2f}× {rival}" for rival in rivals)
    return f"p={one.bad:.2f} k={one.slots:<2} f={one.flake:.2f} q={one.clash:.2f}  {rates}  | {ratios}"


def arrival_line(cells: list[Cell]) -> str:
    zuul, ours = cells
    share = (ours.arrivals_per_run or 0.0) / ours.slots
    ratio = ours.median_latency / zuul.median_latency
    late = ours.late_latency / zuul.late_latency
    setting = f"p={ours.bad:.2f} k={ours.slots:<2} f={ours.flake:.2f} q={ours.clash:.2f} arrivals={share:.3f}k"
    middle = f"P50 ours {ours.median_latency:5.2f}  zuul {zuul.median_latency:5.2f}  | {ratio:4.2f}×"
    return f"{setting}  {middle}  P95 ours {ours.late_latency:5.2f}  zuul {zuul.late_latency:5.2f}  | {late:4.2f}×"


def flaky_line(cell: Cell) -> str:
    setting = f"p={cell.bad:.2f} k={cell.slots:<2} f={cell.flake:.2f} q={cell.clash:.2f}"
    wrong = f"{cell.wrongly_dropped} of {cell.landed} ({cell.wrongly_dropped / cell.landed:.3%})"
    return f"{setting}  ours {cell.landed_per_run:5.2f}  good changes rejected {wrong}"


def run_grid(grid: Grid) -> list[Cell]:
    cells: list[Cell] = []
    say("Landed per CI run, everything queued at the start", LEGEND)
    for row in drain(grid):
        cells += row
        say(drain_line(row))
    say("\nTime from queued to landed, in CI runs")
    for row in arrivals(grid):
        cells += row
        say(arrival_line(row))
    ours = [cell for cell in cells if cell.policy == "ours"]
    wrong, landed = sum(c.wrongly_dropped for c in ours), sum(c.landed for c in ours)
    say(
        f"\nours: {landed} landed, {wrong} good changes rejected ({wrong / landed:.3%}), "
        f"{sum(c.red_tips for c in ours)} red and {sum(c.untested_tips for c in ours)} untested tips"
    )
    say("\nSuites that often fail for no reason")
    for cell in flaky(grid):
        cells.append(cell)
        say(flaky_line(cell))
    say("\nAgents that differ, and agents that do not")
    for name, cell in unequal(grid):
        cells.append(cell)
        say(f"{name:<20} k={cell.slots:<2}  ours {cell.landed_per_run:5.2f}")
    return cells


def say(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seeds", type=int, nargs="+")
    parser.add_argument("--slots", type=int, nargs="+")
    options = parser.parse_args()
    quick = options.quick
    grid = QUICK if quick else FULL
    is_whole = not (quick or options.seeds or options.slots)
    grid = replace(grid, seeds=tuple(options.seeds or grid.seeds), slots=tuple(options.slots or grid.slots))
    cells = run_grid(grid)
    root = Path(__file__).resolve().parents[2]
    (root / "bench" / "out").mkdir(exist_ok=True)
    name = "queue.json" if is_whole else "queue-quick.json"
    (root / "bench" / "out" / name).write_bytes(msgspec.json.format(msgspec.json.encode(cells)))
    if is_whole:
        points = [(c.policy, c.bad, c.slots, c.landed_per_run) for c in cells if is_plotted(c)]
        (root / "docs").mkdir(exist_ok=True)
        (root / "docs" / "merge-queue.svg").write_text(draw_plot(points))
    return 0


def is_plotted(cell: Cell) -> bool:
    return cell.arrivals_per_run is None and cell.flake == NOISE[1][0] and not cell.agents


if __name__ == "__main__":
    raise SystemExit(main())
