"""A fleet of scripted agents with planted causes of trouble, so that there is something to picture on the Insight page.

Five agents fight over a port, some are refused by their provider, some miss a tool, some cannot start. Others deliver:
most of it lands, some is rejected by a person or by CI. Then the model is another one, which skips its tests: drift.
"""

import json
import random
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

Step = dict[str, object]
Task = dict[str, object]

CONFIG = """\
engine = "scripted"

[limits]
max_agents = 8
attempts = 3
backoff = "200ms"
adapt_to_load = false
inline = false

[timeouts]
grace = "300ms"

[worktrees]
pool = 0
disk_floor_mb = 0

[land]
approval = "human"
slots = 2
protected = ["VERSION"]

[[land.checks]]
name = "unit tests"
run = "sh checks/unit.sh"

[[land.checks]]
name = "migrations"
run = "sh checks/migrations.sh"

[insight]
follow = true

[agents.fixer]
engine = "scripted"
model = "steady-1"

[agents.docs]
engine = "scripted"
model = "steady-1"
"""
FILES = {
    "README.md": "# Harbor\n\nBerths, tides and invoices.\n",
    "VERSION": "1.4\n",
    "run-tests.sh": "echo 12 passed\n",
    "checks/unit.sh": "sleep 0.2 && ! grep -rq 'value = None' src\n",
    "checks/migrations.sh": "sleep 0.6\n",
    "src/berth.py": "value = 0\n",
}
THINGS = (
    "berth planning", "tide tables", "the invoice model", "webhook signatures", "failed deliveries", "time zones",
    "the rate limiter", "audit entries", "search suggestions", "the upload path", "crane shifts", "customs forms",
)  # fmt: skip
FIGHT = """
import os, socket, sys, time
folder, port, many = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
own = os.urandom(8).hex()
def marks(kind):
    return sum(name.startswith(kind) for name in os.listdir(folder))
def await_marks(kind, count):
    end = time.monotonic() + 60
    while marks(kind) < count and time.monotonic() < end:
        time.sleep(0.01)
open(f"{folder}/here-{own}", "w").close()
await_marks("here", many)
held = socket.socket()
try:
    held.bind(("127.0.0.1", port))
    held.listen()
except OSError:
    open(f"{folder}/lost-{own}", "w").close()
    print(f"Error: listen EADDRINUSE: address already in use 127.0.0.1:{port}")
    sys.exit(1)
await_marks("lost", many - 1)
"""
AT_THE_PORT, LIMITED, WITHOUT_TOOL, CANNOT_START = 5, 6, 4, 2
FEATURES, HASTY = 24, 44
MODELS = ('model = "steady-1"', 'model = "swift-2"')


def make_project(top: Path, env: Mapping[str, str]) -> None:
    for path, text in FILES.items():
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_text(text)
    (top / "paddock.toml").write_text(CONFIG)
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "The harbor's books")):
        subprocess.run(("git", *words), cwd=top, env=dict(env), check=True)


def work(top: Path, env: Mapping[str, str]) -> None:
    """Everything that is to be pictured happens, and nobody is at work when this is over."""
    dice, paddock = random.Random(7), Paddock(top, env)
    paddock("init", "--yes")
    paddock.add(fighters(top.parent / "ring"))
    paddock.add(features(FEATURES, "steady", dice))
    paddock.add([rate_limited(number, dice) for number in range(LIMITED)])
    paddock.add([without_tool(number) for number in range(WITHOUT_TOOL)])
    paddock.add([unwanted(number) for number in range(2)])
    paddock.run()
    decide(paddock)
    paddock.run()
    (top / "paddock.toml").write_text(CONFIG.replace(*MODELS))
    paddock.add(features(HASTY, "quick", dice, tests=False))
    paddock.run()
    decide(paddock)
    paddock.add([cannot_start(number) for number in range(CANNOT_START)])
    paddock.run()
    tickets = [row["id"] for row in paddock.told("alerts", "list", "--json")["alerts"] if row["severity"] != "page"]
    if len(tickets) > 1:
        paddock("alerts", "ack", *tickets[1:], "-m", "looked at")


def decide(paddock: "Paddock") -> None:
    """All but some are approved."""
    waiting = [row["id"] for row in paddock.told("status", "--json")["tasks"] if row["phase"] == "approval"]
    rejected = waiting[3::15]
    for name in rejected:
        paddock("reject", name, "-m", "Say in the docstring what an empty berth means.")
    if approved := [name for name in waiting if name not in rejected]:
        paddock("land", "--yes", *approved)


class Paddock:
    def __init__(self, top: Path, env: Mapping[str, str]) -> None:
        self.top, self.env = top, dict(env)

    def __call__(self, *words: str, may_fail: bool = False) -> str:
        command = [sys.executable, "-m", "paddock", "-C", str(self.top), *words]
        done = subprocess.run(command, env=self.env, check=False, capture_output=True, text=True)
        if done.returncode and not may_fail:
            raise RuntimeError(f"{words}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def told(self, *words: str) -> dict[str, list[dict[str, str]]]:
        told: dict[str, list[dict[str, str]]] = json.loads(self(*words))
        return told

    def add(self, tasks: Sequence[Task]) -> None:
        file = self.top.parent / "tasks.json"
        file.write_text(json.dumps(list(tasks)))
        self("add", "--file", str(file))

    def run(self) -> None:
        self("run", "--until-idle", may_fail=True)


# -- what agents do ------------------------------------------------------------------------------------------------


def play(*steps: Step) -> str:
    return f"<<SCRIPT {json.dumps(list(steps))} SCRIPT>>"


def usage(cost: float, calls: int = 4) -> Step:
    """What a turn of so many calls of the model tells of itself."""
    return {"usage": {"cost": cost, "input_tokens": 1_000 * calls, "output_tokens": 100 * calls}}


def must(*words: str) -> Step:
    return {"run": list(words), "must_pass": True}


def features(count: int, name: str, dice: random.Random, *, tests: bool = True) -> list[Task]:
    return [feature(f"{name}_{n}", THINGS[n % len(THINGS)], dice, tests=tests) for n in range(count)]


def feature(name: str, thing: str, dice: random.Random, *, tests: bool) -> Task:
    """Looks around, edits, mostly more than once, tests unless it skips that, and commits."""
    steps: list[Step] = [{"run": ["ls"]}] * dice.randint(0, 2)
    steps += [{"run": ["cat", "README.md"]}] * dice.randint(1, 2)
    steps += [{"run": ["grep", "-r", "value", "src"]}] * dice.randint(0, 2)
    for value in range(dice.randint(1, 3)):
        steps.append({"write": f"src/{name}.py", "text": f"value = {value}\n"})
        if tests and dice.random() < 0.7:
            steps.append(must("sh", "run-tests.sh"))
    steps += [must("sh", "run-tests.sh")] if tests else []
    brief = play(usage(dice.uniform(0.2, 0.9), len(steps) + 1), *steps, {"commit": f"Check {thing}"})
    return {"title": f"Check {thing} in {name}.py", "brief": brief, "kind": "feature", "agent": "fixer"}


def fighters(ring: Path) -> list[Task]:
    ring.mkdir()
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
    fight = must(sys.executable, "-c", FIGHT, str(ring), str(port), str(AT_THE_PORT))
    return [
        task(f"Serve the berth plan, part {n}", "serve", usage(0.15), {"run": ["ls"]}, fight, write(f"serve{n}"))
        for n in range(AT_THE_PORT)
    ]


def rate_limited(number: int, dice: random.Random) -> Task:
    thing = THINGS[number % len(THINGS)]
    limited: Step = {"rate_limited": 0.4, "attempt": 1}
    steps: tuple[Step, ...] = ({"run": ["cat", "README.md"]}, write(f"docs{number}"))
    return {**task(f"Document {thing}", "docs", usage(dice.uniform(0.1, 0.3)), limited, *steps), "agent": "docs"}


def without_tool(number: int) -> Task:
    steps: tuple[Step, ...] = ({"run": ["ls"]}, must("sh", "-c", "protoc-gen-harbor --out src"), write(f"wire{number}"))
    return task(f"Generate the wire format, part {number}", "wire", usage(0.11), *steps)


def unwanted(number: int) -> Task:
    """What CI does not let through."""
    steps: tuple[Step, ...] = ({"write": f"src/none{number}.py", "text": "value = None\n"}, {"commit": "Allow none"})
    return task(f"Allow an empty value in part {number}", "feature", usage(0.33), {"run": ["ls"]}, *steps)


def cannot_start(number: int) -> Task:
    return task(f"Weigh anchor {number}", "anchor", {"never_start": 127}, attempts=1)


def write(name: str) -> Step:
    return {"write": f"src/{name}.py", "text": "value = 1\n"}


def task(title: str, kind: str, *steps: Step, attempts: int = 3) -> Task:
    brief = play(*steps, {"commit": title}) if kind != "anchor" else play(*steps)
    return {"title": title, "brief": brief, "kind": kind, "agent": "fixer", "attempts": attempts}
