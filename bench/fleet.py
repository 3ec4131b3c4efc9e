"""The daemon at work: many small tasks, many silent agents, and their adoption after kill -9.

    python -m bench.fleet [--quick]

Prints a table and writes bench/out/fleet.json. Task throughput is set against a shell loop that does the same git
work (worktree add, write, commit, worktree remove) one task after the other, in the same repository shape. On a machine
that others load too the loop loses more than the daemon, so look at the processor time per task as well.
"""

import argparse
import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench.fences import measure_fence
from bench.measure import Line, print_table, write_json
from paddock.core.board import Board
from paddock.core.events import AttemptStarted, TaskAdded
from paddock.core.tasks.task import Phase
from paddock.fleet.site import marker_of
from paddock.sessions.local import is_shim
from paddock.sessions.marks import find_marked
from paddock.sessions.sweep import sweep
from paddock.store.protocol import Query
from paddock.store.sqlite import SqliteStore

PATIENCE_SECONDS = 1200.0
CONFIG = """\
engine = "sh"
[engines.sh]
command = ["sh", "-c", "{task}"]
[limits]
adapt_to_load = false
inline = false
agent_memory_mb = 1
[timeouts]
start = "1h"
silence = "1h"
[worktrees]
disk_floor_mb = 0
ports = 2
"""


@dataclass(frozen=True, slots=True)
class Sizes:
    """`settle_seconds` pass before the processor is watched for `watch_seconds`."""

    tasks: int
    at_once: int
    rounds: int
    silent: int
    settle_seconds: float
    watch_seconds: float


FULL = Sizes(500, 8, 2, 200, 5.0, 20.0)
QUICK = Sizes(4, 2, 1, 2, 0.2, 0.2)
LOOP = """\
i=1
while [ $i -le $1 ]; do
    git worktree add -q -b "bare/$i" "../bare/$i" main || exit 1
    (cd "../bare/$i" && echo $i > f$i.txt && git add f$i.txt && git commit -qm "Add $i") || exit 1
    git worktree remove "../bare/$i" || exit 1
    i=$((i + 1))
done
"""


@dataclass(frozen=True, slots=True)
class Yard:
    """A repository of a few files with an empty log."""

    top: Path
    env: dict[str, str]

    def run(self, *words: str) -> str:
        done = subprocess.run(self.argv(*words), cwd=self.top, env=self.env, check=True, capture_output=True, text=True)
        return done.stdout

    def argv(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "paddock", "-C", str(self.top), *words]

    def add(self, briefs: list[str]) -> None:
        file = self.top.parent / "tasks.json"
        file.write_text(json.dumps([{"title": f"Task {number}", "brief": text} for number, text in enumerate(briefs)]))
        self.run("add", "--file", str(file))

    @contextlib.contextmanager
    def daemon(self, *words: str) -> Iterator[psutil.Process]:
        with open(self.top.parent / "daemon.log", "ab") as log:
            process = psutil.Popen(self.argv("run", *words), cwd=self.top, env=self.env, stdout=log, stderr=log)
        try:
            yield process
        finally:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
            process.wait()

    @property
    def log_path(self) -> Path:
        return self.top / ".git" / "paddock" / "log.db"

    @contextlib.contextmanager
    def log(self) -> Iterator[SqliteStore]:
        store = SqliteStore(self.log_path, read_only=True)
        try:
            yield store
        finally:
            store.close()

    def await_board(self, holds: Callable[[Board], bool]) -> None:
        give_up_at = time.monotonic() + PATIENCE_SECONDS
        with self.log() as log:
            while not holds(log.board()):
                if time.monotonic() > give_up_at:
                    raise TimeoutError((self.top.parent / "daemon.log").read_text()[-2000:])
                time.sleep(0.02)

    def sweep(self) -> None:
        with self.log() as log:
            marker = marker_of(self.top / ".git", log.record(1).hash)
        sweep({process.mark for process in find_marked(marker)})


@contextlib.contextmanager
def make_yard(config: str = CONFIG) -> Iterator[Yard]:
    # What a killed daemon has started, such as a git that makes a worktree, may still be writing at the end.
    with tempfile.TemporaryDirectory(prefix="paddock-fleet-", ignore_cleanup_errors=True) as name:
        top = Path(name) / "app"
        top.mkdir()
        identity = {
            f"GIT_{role}_{key}": "bench@localhost" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")
        }
        keep = {key: os.environ[key] for key in ("PATH", "LANG", "PYTHONPATH") if key in os.environ}
        yard = Yard(
            top, {**keep, **identity, "HOME": name, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        )
        for number in range(100):
            (top / f"file{number}.txt").write_text(f"line {number}\n" * 20)
        (top / "paddock.toml").write_text(config)
        for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "First")):
            subprocess.run(("git", *words), cwd=top, env=yard.env, check=True)
        yard.run("init", "--yes")
        try:
            yield yard
        finally:
            yard.sweep()


@dataclass(frozen=True, slots=True)
class Work:
    """Tasks per second, and milliseconds of processor time per task in all processes together."""

    rate: float
    cpu_ms: float


@contextlib.contextmanager
def timed(tasks: int) -> Iterator[Callable[[], Work]]:
    """What is waited for inside counts, with its own children; ask for the result afterwards."""
    before, began = _children_seconds(), time.perf_counter()
    ended: list[float] = []
    yield lambda: Work(tasks / (ended[0] - began), 1000 * (ended[1] - before) / tasks)
    ended += [time.perf_counter(), _children_seconds()]


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def work_through_daemon(tasks: int, at_once: int) -> Work:
    """From the daemon's start to its end."""
    with make_yard() as yard:
        yard.add([f"echo {n} > f{n}.txt && git add f{n}.txt && git commit -qm 'Add {n}'" for n in range(tasks)])
        with timed(tasks) as work, yard.daemon("--until-idle", "--max", str(at_once)) as daemon:
            if daemon.wait(PATIENCE_SECONDS) != 0:
                raise RuntimeError((yard.top.parent / "daemon.log").read_text()[-2000:])
        with yard.log() as log:
            delivered = log.board().counts.get(Phase.APPROVAL)
        if delivered != tasks:
            raise RuntimeError(f"{delivered} of {tasks} delivered")
    return work()


def work_in_a_loop(tasks: int) -> Work:
    with make_yard() as yard, timed(tasks) as work:
        subprocess.run(("sh", "-c", LOOP, "sh", str(tasks)), cwd=yard.top, env=yard.env, check=True)
    return work()


def measure_throughput(sizes: Sizes) -> list[Line]:
    """They take turns, so that a busy minute hits both; the best round of each counts."""
    tasks, at_once = sizes.tasks, sizes.at_once
    loop, fleet = [], []
    for _ in range(sizes.rounds):
        loop.append(work_in_a_loop(tasks))
        fleet.append(work_through_daemon(tasks, at_once))
    loop_rate, fleet_rate = (max(work.rate for work in works) for works in (loop, fleet))
    loop_cpu, fleet_cpu = (min(work.cpu_ms for work in works) for works in (loop, fleet))
    return [
        Line("shell loop", loop_rate, "/s"),
        Line(
            f"{tasks} trivial tasks, {at_once} at once", fleet_rate, "/s", "shell loop", loop_rate, 1.5, at_least=True
        ),
        Line("shell loop: processor time per task", loop_cpu, "ms"),
        Line("daemon and agents: processor time per task", fleet_cpu, "ms", "shell loop", loop_cpu),
    ]


def cpu_share(process: psutil.Process, seconds: float) -> float:
    """Percent of one core over a while."""
    before = process.cpu_times()
    began = time.perf_counter()
    time.sleep(seconds)
    after = process.cpu_times()
    used = after.user + after.system - before.user - before.system
    return 100 * used / (time.perf_counter() - began)


def measure_idle(sizes: Sizes) -> list[Line]:
    with make_yard() as yard, yard.daemon() as daemon:
        yard.await_board(lambda board: "daemon" in board.leases.held)
        time.sleep(sizes.settle_seconds)
        cpu = cpu_share(daemon, sizes.watch_seconds)
        yard.add(["true"])
        yard.await_board(lambda board: any(board.tasks[name].attempts for name in board.tasks))
        with yard.log() as log:
            [added] = log.records(Query(kind=TaskAdded.kind))
            started, *_ = log.records(Query(kind=AttemptStarted.kind, after=added.seq))
    return [
        Line("daemon with nothing to do: CPU", cpu, "%", goal=0.5),
        Line("idle daemon: from a new task to its claim", started.at - added.at, "s"),
    ]


def measure_silent_agents(sizes: Sizes) -> list[Line]:
    agents = sizes.silent
    with make_yard() as yard:
        yard.add(["sleep 1000"] * agents)
        with yard.daemon("--max", str(agents)) as daemon:
            yard.await_board(lambda board: running_turns(board) == agents)
            time.sleep(sizes.settle_seconds)
            cpu = cpu_share(daemon, sizes.watch_seconds)
            memory = daemon.memory_info().rss / 2**20
            shim = shim_megabytes(yard)
        adopted = measure_adoption(yard, agents)
    return [
        Line(f"daemon with {agents} silent agents: CPU", cpu, "%", goal=3.0),
        Line(f"daemon with {agents} silent agents: RSS", memory, "MB", goal=150.0),
        Line("memory per agent besides the engine (PSS)", shim, "MB", goal=1.5),
        Line(f"adoption of {agents} live turns after kill -9", adopted, "s", goal=2.0),
    ]


def running_turns(board: Board) -> int:
    attempts = (board.tasks[name].live_attempt for name in board.live)
    return sum(attempt is not None and attempt.turn_open for attempt in attempts)


def shim_megabytes(yard: Yard) -> float:
    """Of the shells and fences around the engines, in shares of what they have in common."""
    with yard.log() as log:
        marker = marker_of(yard.top / ".git", log.record(1).hash)
    around = [process for process in find_marked(marker) if is_shim(process)]
    agents = sum("shim.sh" in process.command for process in around)
    size = 0
    for process in around:
        with contextlib.suppress(psutil.Error):
            size += psutil.Process(process.identity.pid).memory_full_info().pss
    return size / max(1, agents) / 2**20


def measure_adoption(yard: Yard, agents: int) -> float:
    """From the new daemon's claim to the lease until it follows every turn: its descriptors tell."""
    with yard.log() as log:
        generation = log.board().daemon_generation
    with yard.daemon("--max", str(agents)) as daemon:
        yard.await_board(lambda board: board.daemon_generation > generation)
        began = time.perf_counter()
        while followed_turns(daemon) < agents:
            if time.perf_counter() - began > 120:
                raise TimeoutError(f"{followed_turns(daemon)} of {agents} adopted")
            time.sleep(0.005)
        return time.perf_counter() - began


def followed_turns(daemon: psutil.Process) -> int:
    folder = f"/proc/{daemon.pid}/fd"
    count = 0
    for name in os.listdir(folder):
        with contextlib.suppress(OSError):
            count += os.readlink(f"{folder}/{name}") == "anon_inode:[pidfd]"
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="4 tasks, 2 agents: shows that it runs")
    quick = parser.parse_args().quick
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    sizes = QUICK if quick else FULL
    lines = [*measure_throughput(sizes), *measure_fence(sizes.at_once * 5)]
    lines += [*measure_idle(sizes), *measure_silent_agents(sizes)]
    print_table("The fleet's daemon", lines)
    write_json("fleet-quick" if quick else "fleet", lines)


if __name__ == "__main__":
    main()
