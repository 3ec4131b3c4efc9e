"""What it costs that agents are on nodes of a Ray cluster, and how the work grows with the nodes.

    python -m bench.grow.nodes [--quick]

One machine plays all nodes, so what is compared is processor time, and agents that sleep. Prints tables and writes
bench/out/grow_nodes.json. `--quick` takes a few of everything and says nothing about goals.
"""

import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tests.fleet.yard import commit, play, write
from tests.nodes.ranch import RayCluster

from bench.grow.fleet import OURS, POSTGRES, RAY, MeasuredFleet, Place, open_cluster, open_place
from bench.grow.journeys import FULL as JOURNEYS
from bench.grow.journeys import QUICK as SMALL_JOURNEYS
from bench.grow.journeys import journey_lines
from bench.measure import Line, print_table, write_json
from paddock.core.events import AttemptEnded, AttemptStarted, Record, TaskAdded
from paddock.core.ids import TaskId

SQLITE, HERE, NODE = "SQLite, here", "PostgreSQL, here", "PostgreSQL, a Ray node"
STEPS = ("from added to claimed", "from claimed to the agent's first act", "from its last act to the end recorded")


@dataclass(frozen=True, slots=True)
class Sizes:
    """`singles` one after the other, `tasks` all at once on `slots` slots; then agents of `think` seconds, `rounds` for
    each of `sleepers` slots on so many `nodes`, `scalings` times."""

    repeats: int
    scalings: int
    singles: int
    tasks: int
    slots: int
    nodes: tuple[int, ...]
    sleepers: int
    rounds: int
    think: float


FULL = Sizes(3, 3, 10, 80, 8, (1, 2, 3), 4, 4, 10.0)
QUICK = Sizes(1, 1, 1, 2, 2, (1,), 2, 1, 0.1)


@dataclass(frozen=True, slots=True)
class Overhead:
    """Processor seconds of an attempt by whose they are, and how long its steps took when nothing else was to do."""

    used: dict[str, float]
    steps: tuple[float, ...]
    attempts_per_second: float

    @property
    def ours(self) -> float:
        return sum(self.used.get(whose, 0.0) for whose in OURS)


def measure_overhead(place: Place, cluster: RayCluster, sizes: Sizes) -> dict[str, list[Overhead]]:
    """They take turns, so that a busy minute hits all."""
    most = {"PADDOCK_LIMITS_MAX_AGENTS": str(sizes.slots)}
    subjects: dict[str, Callable[[], AbstractContextManager[MeasuredFleet]]] = {
        SQLITE: lambda: place.fleet(shared=False, settings=most),
        HERE: lambda: place.fleet(settings=most),
        NODE: lambda: place.fleet(cluster, settings=most),
    }
    found: dict[str, list[Overhead]] = {name: [] for name in subjects}
    for _ in range(sizes.repeats):
        for name, make in subjects.items():
            with make() as fleet, fleet.at_work():
                found[name].append(_overhead(fleet, sizes))
    return found


def _overhead(fleet: MeasuredFleet, sizes: Sizes) -> Overhead:
    notes = fleet.yard.folder / "notes"
    notes.mkdir()
    singles = []
    for number in range(sizes.singles + 1):  # the first one waits for the node's deputy
        singles += _add(fleet, notes, [number])
        fleet.await_delivered(number + 1)
    steps = [_steps(fleet.yard.records(task=name), notes / str(number)) for number, name in enumerate(singles)]
    before, began = fleet.used(), time.perf_counter()
    _add(fleet, notes, list(range(len(singles), len(singles) + sizes.tasks)))
    fleet.await_delivered(len(singles) + sizes.tasks)
    took, after = time.perf_counter() - began, fleet.used()
    used = {whose: (after[whose] - before[whose]) / sizes.tasks for whose in after}
    return Overhead(used, tuple(median(step) for step in zip(*steps[1:], strict=True)), sizes.tasks / took)


def _add(fleet: MeasuredFleet, notes: Path, numbers: list[int]) -> list[TaskId]:
    return fleet.yard.add_all([{"brief": _brief(notes / str(number), number), "engine": "sh"} for number in numbers])


def _brief(note: Path, number: int) -> str:
    work = f"echo {number} > f{number}.txt && git add f{number}.txt && git commit -qm 'Add {number}'"
    return f"date +%s.%N > {note}; {work}; date +%s.%N >> {note}"


def _steps(records: list[Record], note: Path) -> tuple[float, ...]:
    at = {type(record.event): record.at for record in records}
    began, ended = map(float, note.read_text().split())
    return (at[AttemptStarted] - at[TaskAdded], began - at[AttemptStarted], at[AttemptEnded] - ended)


def overhead_lines(found: dict[str, list[Overhead]]) -> list[Line]:
    lines = []
    for name, runs in found.items():
        against = HERE if name == NODE else SQLITE if name == HERE else ""
        base = found.get(against, [])
        for number, step in enumerate(STEPS):
            value, other = (1000 * median(run.steps[number] for run in some) if some else None for some in (runs, base))
            lines.append(Line(f"{name}: {step}", value or 0.0, "ms", against, other))
        ours, other = (1000 * median(run.ours for run in some) if some else None for some in (runs, base))
        lines.append(Line(f"{name}: processor time of an attempt", ours or 0.0, "ms", against, other))
        for whose in (*OURS, POSTGRES, RAY):
            spent = 1000 * median(run.used.get(whose, 0.0) for run in runs)
            if spent:
                lines.append(Line(f"{name}: {whose}", spent, "ms"))
    return lines


def measure_scaling(place: Place, sizes: Sizes, given: RayCluster | None) -> dict[int, list[float]]:
    """Attempts a second on the first so many nodes, the others being drained; they take turns."""
    found: dict[int, list[float]] = {count: [] for count in sizes.nodes}
    with open_cluster(place, [sizes.sleepers] * max(sizes.nodes), given) as cluster:
        names = list(cluster.nodes)
        for _ in range(sizes.scalings):
            for count in sizes.nodes:
                with place.fleet(cluster) as fleet:
                    found[count].append(_throughput(fleet, names[:count], names[count:], sizes))
    return found


def _throughput(fleet: MeasuredFleet, nodes: list[str], drained: list[str], sizes: Sizes) -> float:
    """From the first beginning to the last end, once all have a deputy."""
    first = sizes.sleepers * len([*nodes, *drained])
    with fleet.at_work():
        fleet.yard.add_all([{"brief": play(write(f"w{n}.txt"), commit())} for n in range(first)])
        fleet.await_delivered(first)
        if drained:
            fleet.yard.paddock("drain", *drained)
        last = fleet.yard.records()[-1].seq
        tasks = sizes.sleepers * len(nodes) * sizes.rounds
        fleet.yard.add_all([{"brief": _sleeper(sizes.think, n)} for n in range(tasks)])
        fleet.await_delivered(first + tasks)
        since = [record for record in fleet.yard.records() if record.seq > last]
    began = min(record.at for record in since if isinstance(record.event, AttemptStarted))
    ended = max(record.at for record in since if isinstance(record.event, AttemptEnded))
    return tasks / (ended - began)


def _sleeper(seconds: float, number: int) -> str:
    return play({"think": seconds}, write(f"f{number}.txt"), commit())


def scaling_lines(found: dict[int, list[float]], sizes: Sizes) -> list[Line]:
    one = median(found[1])
    ideal = sizes.sleepers / sizes.think
    lines = [Line(f"1 node of {sizes.sleepers} slots", 60 * one, "/min", "slots that never wait", 60 * ideal)]
    for count in sizes.nodes[1:]:
        rate = 60 * median(found[count])
        lines.append(Line(f"{count} nodes", rate, "/min", f"{count} × 1 node", 60 * count * one, 0.9, at_least=True))
    return lines


def measure(place: Place, *, quick: bool, given: RayCluster | None = None) -> bool:
    """Whether no goal was missed. A cluster that is `given` plays all."""
    sizes = QUICK if quick else FULL
    with open_cluster(place, [sizes.slots], given) as cluster:
        overhead = measure_overhead(place, cluster, sizes)
        journeys = journey_lines(place, cluster, SMALL_JOURNEYS if quick else JOURNEYS)
    scaling = measure_scaling(place, sizes, given)
    lines = [*overhead_lines(overhead), *journeys, *scaling_lines(scaling, sizes)]
    print_table(f"agents on Ray nodes{' (quick)' if quick else ''}", lines)
    spread = {
        "ours_ms": {name: [round(1000 * run.ours, 1) for run in runs] for name, runs in overhead.items()},
        "attempts_per_second": {
            name: [round(run.attempts_per_second, 2) for run in runs] for name, runs in overhead.items()
        },
        "sleepers_per_minute": {
            str(count): [round(60 * rate, 2) for rate in rates] for count, rates in scaling.items()
        },
    }
    print(f"\n{spread}\n{write_json('grow_nodes-quick' if quick else 'grow_nodes', lines, spread=spread)}")
    return quick or all(line.met is not False for line in lines)


def main() -> int:
    with open_place() as place:
        return 0 if measure(place, quick="--quick" in sys.argv[1:]) else 1


if __name__ == "__main__":
    sys.exit(main())
