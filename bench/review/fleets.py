"""One fleet after another works through the same changes, each with other reviewers; the log tells what came of it."""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench.fleet import Yard, make_yard
from bench.review.agent import FLAWED, KIND_OF, Habits
from bench.review.odds import escape_chance, foresee
from bench.review.results import REVIEW_TOKENS, REVIEW_USD, WORK_TOKENS, WORK_USD, Result, count
from paddock.core.ids import task_id
from paddock.store.protocol import Query

HITS = {"error": 0.9, "handle": 0.7, "bounds": 0.5, "race": 0.3}
"""How likely a reviewer is to see a flaw of each kind."""
ALARM, CONSENT = 0.15, 0.7
"""How often a review finds what is not there, and how often its reviewer gives in when the worker says so."""
NAMES = ("ada", "ben", "cleo")
AGENT = Path(__file__).with_name("agent.py")
CONFIG = """\
engine = "worker"
[land]
approval = "{approval}"
ci = "true"
[review]
votes = "{votes}"
[limits]
adapt_to_load = false
inline = false
agent_memory_mb = 1
[worktrees]
disk_floor_mb = 0
"""


@dataclass(frozen=True, slots=True)
class Pace:
    """How many changes, every other one with a flaw, and how long an agent takes."""

    changes: int
    at_once: int
    work_seconds: float
    review_seconds: float


@dataclass(frozen=True, slots=True)
class Arrangement:
    """`approval` is none without reviewers. A `silent` reviewer sees nothing: what it costs to have one."""

    reviewers: int
    votes: str = "any"
    approval: str = "review"
    silent: bool = False

    @property
    def name(self) -> str:
        if self.approval == "human":
            return "nothing lands"
        words = f"{self.reviewers} reviewer{'' if self.reviewers == 1 else 's'}"
        return f"{words}, silent" if self.silent else f"{words}, {self.votes}" if self.reviewers > 1 else words

    @property
    def hits(self) -> dict[str, float]:
        return dict.fromkeys(HITS, 0.0) if self.silent else HITS

    @property
    def alarm(self) -> float:
        return 0.0 if self.silent else ALARM

    def escape_chance(self, kind: str) -> float:
        return escape_chance(self.hits[kind], self.alarm, CONSENT, self.reviewers, self.votes)


def habits_of(arrangement: Arrangement, seed: int, pace: Pace) -> list[Habits]:
    shared: Habits = {
        "seed": seed,
        "hits": arrangement.hits,
        "alarm": arrangement.alarm,
        "consent": CONSENT,
        "seconds": pace.review_seconds,
        "usd": REVIEW_USD,
        "tokens": REVIEW_TOKENS,
    }
    return [{"name": name, **shared} for name in NAMES[: arrangement.reviewers]]


def plant(changes: int) -> dict[str, str]:
    """The changes by their paths, each with the kind of its flaw; every other one has none."""
    kinds = sorted(FLAWED)
    flaw = {number: kinds[number // 2 % len(kinds)] if number % 2 else "none" for number in range(changes)}
    return {f"parts/p{number:02}.py": kind for number, kind in flaw.items()}


def configure(arrangement: Arrangement, reviewers: list[Habits], pace: Pace) -> str:
    worker: Habits = {"seconds": pace.work_seconds, "usd": WORK_USD, "tokens": WORK_TOKENS}
    parts = [CONFIG.format(approval=arrangement.approval, votes=arrangement.votes), _engine("worker", "work", worker)]
    for one in reviewers:
        name = str(one["name"])
        parts += [_engine(name, "review", one), f'[agents.{name}]\nrole = "reviewer"\nengine = "{name}"\n']
    return "".join(parts)


def _engine(name: str, role: str, habits: Habits) -> str:
    argv = [sys.executable, "-S", str(AGENT), role, json.dumps(habits), "{prompt}"]
    lines = (
        f"command = {json.dumps(argv)}",
        f"resume = {json.dumps([*argv, '{session}'])}",
        'format = "claude-stream"',
    )
    return f"[engines.{name}]\n" + "\n".join(lines) + "\n"


def run_fleet(arrangement: Arrangement, seed: int, pace: Pace) -> Result:
    reviewers, changes = habits_of(arrangement, seed, pace), plant(pace.changes)
    with make_yard(configure(arrangement, reviewers, pace)) as yard:
        yard.add([f"Write {path} (flaw: {kind})." for path, kind in changes.items()])
        seconds, cpu = run_daemon(yard, pace.at_once)
        with yard.log() as log:
            board, records = log.board(), list(log.records(Query()))
        heads = {path: board.task(task_id(number)).head or "main" for number, path in enumerate(changes, 1)}
        on_main = {path for path in changes if is_flawed(yard, "main", path)}
        unfixed = {path for path, head in heads.items() if is_flawed(yard, head, path)}
    defects = {path: kind for path, kind in changes.items() if kind in FLAWED}
    return Result(
        arrangement.name,
        len(changes),
        tuple(f"{seed}:{path}" for path in sorted(unfixed)),
        len(on_main),
        tuple(f"{seed}:{path}" for path in sorted(foresee(defects.items(), reviewers, arrangement.votes))),
        tuple(arrangement.escape_chance(kind) for kind in defects.values()),
        count(board, records),
        seconds,
        cpu,
    )


def is_flawed(yard: Yard, commit: str, path: str) -> bool:
    shown = subprocess.run(
        ("git", "show", f"{commit}:{path}"), cwd=yard.top, env=yard.env, check=False, capture_output=True, text=True
    )
    return any(line in KIND_OF for line in shown.stdout.splitlines())


def run_daemon(yard: Yard, at_once: int) -> tuple[float, float]:
    """Seconds until all is done, and those of the daemon's own processor time, which its remains still tell."""
    began = time.perf_counter()
    with yard.daemon("--until-idle", "--max", str(at_once)) as daemon:
        os.waitid(os.P_PID, daemon.pid, os.WEXITED | os.WNOWAIT)
        seconds, used = time.perf_counter() - began, psutil.Process(daemon.pid).cpu_times()
    return seconds, used.user + used.system
