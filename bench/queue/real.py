"""`python -m bench.queue.real`: the planner lands real branches in a real repository, beside the simulator.

Two hundred branches, one in ten bad, some conflicting in text or in meaning, tests that flake and dawdle; CI sleeps,
so that slots are real on two cores. Prints landed per CI run against the simulator and the oracle for the same
changes; an auditor that knows only git tests every tip of main again. `--quick` is 6 branches with 2 slots.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import mean, median

import msgspec
from tests.git.landing.auditor import audit_history

from bench.queue.engine import Policy, simulate
from bench.queue.project import Noise, generate
from bench.queue.rivals import Oracle
from bench.queue.sieve import SieveAndTrain
from bench.queue.world import Scenario, World
from paddock.core.events import Record
from paddock.core.merge import events as ev
from paddock.core.merge.model import Result
from paddock.store.protocol import Query, Store
from paddock.store.sqlite import SqliteStore

OUT = Path(__file__).resolve().parents[1] / "out"
BAD, CLASH, FLAKE, SLOW = 0.1, 0.02, 0.01, 0.02
AGREEMENT = 0.15
SIMULATIONS = 8
# A run costs about half a second of processor time around its sleep, so more slots need longer runs on few cores.
FULL = ((2, 5.0, FLAKE), (4, 6.0, FLAKE), (8, 10.0, FLAKE))
# It shows that all of this runs, so no dice may have main fail twice in a row and halt the queue.
QUICK = ((2, 0.1, 0.0),)


class Real(msgspec.Struct, frozen=True):
    """One drain. Rates are landed changes per CI run; `run_seconds` is the median of the runs that passed."""

    branches: int
    slots: int
    run_seconds: float
    seconds: float
    runs: int
    landed: int
    rejected: int
    conflicted: int
    landed_per_run: float
    simulated: float
    oracle: float
    falsely_rejected: int
    undecided: int
    tips: int
    complaints: tuple[str, ...]

    @property
    def agreement(self) -> float:
        return self.landed_per_run / self.simulated

    @property
    def sound(self) -> bool:
        return not self.complaints and not self.undecided and not self.falsely_rejected

    @property
    def agrees(self) -> bool:
        return abs(self.agreement - 1) <= AGREEMENT


def expected(world: World, make: Callable[[World], Policy]) -> float:
    """Landed per run in the simulator, for the same changes, over several throws of the dice."""
    rates = []
    for seed in range(SIMULATIONS):
        fresh = World(world.scenario, world.bad, world.partner, list(world.arrivals), random.Random(seed))
        rates.append(simulate(world.scenario, make(fresh), fresh).landed_per_run)
    return mean(rates)


def configure(top: Path, slots: int, noise: Noise) -> tuple[str, ...]:
    """Writes paddock.toml; returns the command that tests a tree."""
    suite = (sys.executable, "-S", "-m", "unittest", "-q", "test_parts")
    (top / "paddock.toml").write_text(
        f"[worktrees]\npool = 0\ndisk_floor_mb = 0\n[land]\nci = '{' '.join(suite)}'\nslots = {slots}\n"
        f'timeout = "5m"\nenv = {{ PARTS_CI = "{noise.text}", PYTHONDONTWRITEBYTECODE = "1" }}\n'
    )
    return suite


def paddock(top: Path, *words: str) -> None:
    argv = (sys.executable, "-m", "paddock", "-C", str(top), *words)
    ended = subprocess.run(argv, check=False, capture_output=True, text=True, timeout=3600)
    if ended.returncode:
        sys.stderr.write(ended.stderr)


def drain(place: Path, branches: int, slots: int, noise: Noise, seed: int) -> Real:
    conflicts = branches // 50 or 1
    world = World.draw(Scenario(branches - conflicts, slots, BAD, CLASH, FLAKE, seed=seed))
    top = place / "project"
    names = generate(top, world, conflicts)
    suite = configure(top, slots, noise)
    first = _git(top, "rev-parse", "main")
    paddock(top, "init", "--yes")
    paddock(top, "land", *(word for name in names for word in ("--branch", name)))
    paddock(top, "run", "--until-idle")
    (place / "audit").mkdir()
    report = audit_history(top, first, _git(top, "rev-parse", "main"), "merge", suite, place / "audit")
    with contextlib.closing(SqliteStore(top / ".git" / "paddock" / "log.db", read_only=True)) as store:
        return read_log(store, world, branches, report.tips, report.complaints)


def read_log(store: Store, world: World, branches: int, tips: int, complaints: tuple[str, ...]) -> Real:
    records = list(store.records(Query(kind="queue.*")))
    queue = store.board().queue
    passed = [run for run in queue.ended.values() if run.result is Result.PASS and run.reused is None]
    began = next(run.ended_at or 0.0 for run in passed if not run.members)
    landings = [record.at for record in records if isinstance(record.event, ev.TrainLanded)]
    typical = median((run.ended_at or 0.0) - run.started_at for run in passed)
    outcomes = [decided.outcome.value for decided in queue.decided]
    seconds = max(landings, default=began) - began
    return Real(
        branches=branches,
        slots=world.scenario.slots,
        run_seconds=round(typical, 3),
        seconds=round(seconds, 1),
        runs=sum(isinstance(record.event, ev.RunStarted) for record in records),
        landed=outcomes.count("landed"),
        rejected=outcomes.count("rejected"),
        conflicted=outcomes.count("conflicted"),
        landed_per_run=outcomes.count("landed") / (seconds / typical) if seconds else 0.0,
        simulated=expected(world, lambda _: SieveAndTrain(world.scenario.slots)),
        oracle=expected(replace_flakes(world), Oracle),
        falsely_rejected=false_rejections(records, world),
        undecided=branches - len(outcomes),
        tips=tips,
        complaints=complaints,
    )


def replace_flakes(world: World) -> World:
    """The oracle does not suffer from flakes."""
    return World(replace(world.scenario, flake=0.0), world.bad, world.partner, world.arrivals)


def false_rejections(records: list[Record], world: World) -> int:
    """Changes that were rejected though main, as it was then, would have been green with them."""
    numbers: dict[str, int] = {}
    members: dict[str, list[str]] = {}
    main: set[int] = set()
    wrong = 0
    for record in records:
        match record.event:
            case ev.ChangeQueued(change=change) if change.branch.startswith("c"):
                numbers[change.id] = int(change.branch[1:])
            case ev.RunStarted(run=run, members=held):
                members[run] = [member.id for member in held]
            case ev.TrainLanded(run=run):
                main |= {numbers[name] for name in members[run] if name in numbers}
            case ev.ChangeRejected(id=name):
                wrong += name not in numbers or world.is_green(main | {numbers[name]})
    return wrong


def _git(top: Path, *words: str) -> str:
    return subprocess.run(("git", "-C", str(top), *words), check=True, capture_output=True, text=True).stdout.strip()


def line(real: Real) -> str:
    drained = f"{real.landed} landed, {real.rejected} rejected, {real.conflicted} conflicted in {real.seconds:.0f} s"
    rate = f"landed per run {real.landed_per_run:.2f}  simulator {real.simulated:.2f} ({real.agreement:.2f}×)"
    oracle = f"oracle {real.oracle:.2f} ({real.landed_per_run / real.oracle:.2f}×)"
    wrong = f"{real.falsely_rejected} good ones rejected, {len(real.complaints)} complaints about {real.tips} tips"
    runs = f"{real.runs} runs of {real.run_seconds:.1f} s"
    return f"k={real.slots}  {drained}, {runs}  |  {rate}  {oracle}  |  {wrong}, {real.undecided} undecided"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--slots", type=int, help="only this one of the rounds")
    options = parser.parse_args()
    rounds, branches = (QUICK, 6) if options.quick else (FULL, 200)
    measured: list[Real] = []
    for slots, seconds, flake in (one for one in rounds if options.slots in (None, one[0])):
        place = Path(tempfile.mkdtemp(prefix="paddock-bench-"))
        try:
            measured.append(drain(place, branches, slots, Noise(seconds, flake, SLOW), options.seed))
        finally:
            shutil.rmtree(place, ignore_errors=True)
        sys.stdout.write(line(measured[-1]) + "\n")
        sys.stdout.flush()
        for complaint in measured[-1].complaints[:5]:
            sys.stdout.write(f"  {complaint}\n")
    OUT.mkdir(exist_ok=True)
    name = "queue_real-quick.json" if options.quick else "queue_real.json"
    (OUT / name).write_bytes(msgspec.json.format(msgspec.json.encode(measured)))
    return 0 if all(real.sound and (real.agrees or options.quick) for real in measured) else 1


if __name__ == "__main__":
    raise SystemExit(main())
