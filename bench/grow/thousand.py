"""A thousand agents at work at the same time, on four nodes of 250 slots: what that takes, and whether all arrives.

    python -m bench.grow.thousand [--agents 1000] [--quick]

Each agent is a scripted one in a fence, with a worktree of its own, which waits in a tool call until all are there;
then all of them commit at once. Writes bench/out/grow_thousand.json. `--quick` is two agents on one node.
"""

import argparse
import os
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import psutil
from tests.fleet.yard import commit, play, write
from tests.nodes.ranch import RayCluster

from bench.grow.fleet import (
    OURS,
    POSTGRES,
    RAY,
    MeasuredFleet,
    Place,
    open_cluster,
    open_place,
)
from bench.measure import Line, print_table, write_json
from paddock.core.events import AttemptEnded
from paddock.core.tasks.vocabulary import Outcome

NODES = 4
MOST = 250 * NODES
AGENT_MB = 9.0
"""With its fence and its tool; measured: 7."""
SPARE_MB = 3000.0
WATCH_SECONDS = 30.0
TELL_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Stage:
    """Processor seconds by whose they are."""

    seconds: float
    used: dict[str, float]


class Stages:
    def __init__(self, fleet: MeasuredFleet) -> None:
        self._fleet, self._used, self._at = fleet, fleet.used(), time.perf_counter()

    def end(self) -> Stage:
        used, now = self._fleet.used(), time.perf_counter()
        stage = Stage(now - self._at, {whose: spent - self._used.get(whose, 0.0) for whose, spent in used.items()})
        self._used, self._at = used, now
        return stage


@dataclass(frozen=True, slots=True)
class Crowd:
    agents: int
    starting: Stage
    working: Stage
    ending: Stage
    fetching: Stage
    megabytes: dict[str, list[float]]
    agents_mb: float
    records: int
    outcomes: Counter[str]
    begun_twice: int
    missing: int


class Gate:
    """A pipe that agents read from: they wait, without using the processor, until it is opened for all."""

    def __init__(self, folder: Path) -> None:
        self.path, self.notes = folder / "gate", folder / "notes"
        self.notes.mkdir()
        os.mkfifo(self.path)

    def brief(self, number: int) -> str:
        wait = f'echo "$PADDOCK_ATTEMPT" >> {self.notes}/{number}; exec cat {self.path}'
        return play({"run": ["sh", "-c", wait]}, write(f"f{number}.txt"), commit())

    def await_all(self, count: int, fleet: MeasuredFleet) -> None:
        told_at = time.monotonic()
        while (seen := len(os.listdir(self.notes))) < count:
            if time.monotonic() > told_at + TELL_SECONDS:
                told_at = time.monotonic()
                print(f"  {time.strftime('%H:%M:%S')} {seen} of {count} at work", file=sys.stderr, flush=True)
            fleet.pause()

    def begun_twice(self) -> int:
        return sum(len(note.read_text().split()) > 1 for note in self.notes.iterdir())

    def open(self) -> None:
        """For those that wait, and for those that come later."""
        descriptor = os.open(self.path, os.O_WRONLY)
        unlocked = self.path.with_name("open")
        unlocked.touch()
        os.replace(unlocked, self.path)
        os.close(descriptor)


def measure_crowd(place: Place, cluster: RayCluster, agents: int, watch_seconds: float) -> Crowd:
    most = {"PADDOCK_LIMITS_MAX_AGENTS": str(agents)}
    with place.fleet(cluster, settings=most) as fleet, fleet.at_work():
        gate = Gate(fleet.yard.folder)
        fleet.yard.add(write("first.txt"), commit())  # deputies take their time to start
        fleet.await_delivered(1)
        before = len(fleet.yard.records())
        stages = Stages(fleet)
        names = fleet.yard.add_all([{"brief": gate.brief(number)} for number in range(agents)])
        gate.await_all(agents, fleet)
        fleet.await_board(lambda board: len(board.live) == agents)
        starting = stages.end()
        memory, agents_mb = fleet.megabytes(), fleet.agents_megabytes()
        stages.end()
        time.sleep(watch_seconds)
        working = stages.end()
        gate.open()
        fleet.await_delivered(1 + agents)
        ending = stages.end()
        fleet.await_commits(names)
        fetching = stages.end()
        fleet.yard.paddock("log", "verify")
        records = fleet.yard.records()[before:]
        ends = [record for record in records if isinstance(record.event, AttemptEnded)]
        return Crowd(
            agents,
            starting,
            working,
            ending,
            fetching,
            memory,
            agents_mb / agents,
            len(records),
            Counter(record.event.outcome.value for record in ends if isinstance(record.event, AttemptEnded)),
            gate.begun_twice(),
            missing_files(fleet, agents),
        )


def missing_files(fleet: MeasuredFleet, agents: int) -> int:
    """Deliveries in which the file that the agent has committed is not."""
    board = fleet.yard.board()
    _, *heads = (task.head for task in board.tasks.values())
    files = [fleet.yard.git("ls-tree", "--name-only", str(head)).split() for head in heads]
    return agents - sum(f"f{number}.txt" in some for number, some in enumerate(files))


def crowd_lines(crowd: Crowd) -> list[Line]:
    agents, memory = crowd.agents, crowd.megabytes
    delivered = crowd.outcomes[Outcome.DELIVERED.value] - crowd.missing - crowd.begun_twice
    lines = [
        Line(f"{agents} agents: from added to all at work", crowd.starting.seconds, "s"),
        Line("starts a second", agents / crowd.starting.seconds, "/s"),
        Line("from their go to the end of all recorded", crowd.ending.seconds, "s"),
        Line("from that until all commits are here", crowd.fetching.seconds, "s"),
        Line("delivered, whole and once", delivered, "", "agents", agents, 1.0, at_least=True),
        Line("records in the log, for each", crowd.records / agents, ""),
    ]
    for whose in (*OURS, POSTGRES, RAY):
        starting, ending = (1000 * stage.used[whose] / agents for stage in (crowd.starting, crowd.ending))
        ending += 1000 * crowd.fetching.used[whose] / agents
        share = 100 * crowd.working.used[whose] / crowd.working.seconds
        lines += [
            Line(f"{whose}: to start an agent", starting, "ms"),
            Line(f"{whose}: while all are at work, of a core", share, "%"),
            Line(f"{whose}: to end one", ending, "ms"),
            Line(f"{whose}: memory of the largest", max(memory[whose], default=0.0), "MB"),
        ]
    return [*lines, Line("memory of an agent, with its fence and tool", crowd.agents_mb, "MB")]


def what_fits(wanted: int) -> int:
    free = psutil.virtual_memory().available / 2**20 - SPARE_MB
    return max(NODES, min(wanted, int(free / AGENT_MB)))


def measure(place: Place, wanted: int = MOST, *, quick: bool, given: RayCluster | None = None) -> bool:
    """Whether all has arrived."""
    agents = 2 if quick else what_fits(wanted)
    if not quick and agents < wanted:
        print(f"the free memory is enough for {agents} agents", file=sys.stderr)
    with open_cluster(place, [-(-agents // NODES)] * NODES, given) as cluster:
        crowd = measure_crowd(place, cluster, agents, 0.1 if quick else WATCH_SECONDS)
    lines = crowd_lines(crowd)
    print_table(f"many agents at once{' (quick)' if quick else ''}", lines)
    print(f"\n{dict(crowd.outcomes)}\n{write_json('grow_thousand-quick' if quick else 'grow_thousand', lines)}")
    return all(line.met is not False for line in lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--agents", type=int, default=MOST)
    options = parser.parse_args()
    with open_place() as place:
        return 0 if measure(place, options.agents, quick=options.quick) else 1


if __name__ == "__main__":
    sys.exit(main())
