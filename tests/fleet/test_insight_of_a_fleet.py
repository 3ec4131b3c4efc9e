"""A fleet of 60 scripted agents with planted causes: `failures` and `drift` name each of them, and nothing else."""

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest

from paddock.core.tasks.task import Phase
from tests.fleet.causes.test_causes import FIGHT, free_port
from tests.fleet.yard import Step, Yard, build_yard, commit, play, write

pytestmark = pytest.mark.xdist_group("insight of a fleet")

TOML = """
engine = "scripted"
[land]
approval = "none"
ci = "true"
[limits]
max_agents = 8
attempts = 3
[agents.steady]
engine = "scripted"
model = "steady-1"
[agents.swift]
engine = "scripted"
model = "swift-2"
"""
HEALTHY, HASTY = 24, 20
AT_THE_PORT, LIMITED, WITHOUT_TOOL, BADLY_TOLD = 5, 5, 5, 1


@dataclass(frozen=True)
class Proof:
    """`planted` are the names of the tasks by what was planted in them. `calm` is what `drift` says of the later half
    of the healthy ones, `hasty` what it says of those that skip their tests."""

    yard: Yard
    planted: Mapping[str, list[str]]
    calm: dict[str, Any]
    hasty: dict[str, Any]


def must(*words: str) -> Step:
    return {"run": list(words), "must_pass": True}


def features(count: int, agent: str, dice: Random, *first: Step, tests: bool = True) -> list[dict[str, Any]]:
    return [feature(f"{agent}{dice.randrange(10**9)}", agent, dice, *first, tests=tests) for _ in range(count)]


def feature(name: str, agent: str, dice: Random, *first: Step, tests: bool) -> dict[str, Any]:
    """Looks around, edits, mostly more than once, tests unless it skips that, and commits."""
    steps = [*first, *[{"run": ["ls"]}] * dice.randint(0, 2), *[{"run": ["cat", "README.md"]}] * dice.randint(1, 2)]
    steps += [{"run": ["grep", "-r", "hello", "README.md"]}] * dice.randint(0, 1)
    for value in range(dice.randint(1, 3)):
        steps.append(write(f"src/{name}.py", f"value = {value}\n"))
        if tests and dice.random() < 0.7:
            steps.append(must("sh", "run-tests.sh"))
    steps += [must("sh", "run-tests.sh")] if tests else []
    return {"title": name, "brief": play(*steps, commit(name)), "kind": "feature", "agent": agent}


def troubles(count: int, kind: str, *steps: Step) -> list[dict[str, Any]]:
    briefs = [play(*steps, write(f"src/{kind}{number}.py"), commit(f"{kind} {number}")) for number in range(count)]
    return [{"title": f"{kind} {n}", "brief": brief, "kind": kind, "agent": "steady"} for n, brief in enumerate(briefs)]


def plant(yard: Yard, dice: Random) -> dict[str, list[str]]:
    ring = yard.folder / "ring"
    ring.mkdir()
    fight = must(sys.executable, "-c", FIGHT, str(ring), str(free_port()), str(AT_THE_PORT))
    wrong = "AssertionError: total(2) is 5, and the brief says that it is 4 and 5"
    limited: Step = {"rate_limited": 0.1, "attempt": 1}
    groups = {
        "contention": troubles(AT_THE_PORT, "serve", fight),
        "healthy": features(HEALTHY // 2, "steady", dice),
        "rate-limit": features(LIMITED, "steady", dice, limited),
        "dependency": troubles(WITHOUT_TOOL, "pack", must("sh", "-c", "protoc-gen-x --out src")),
        "task": troubles(BADLY_TOLD, "total", must("sh", "-c", f"echo '{wrong}'; exit 1")),
    }
    return {name: add(yard, tasks) for name, tasks in groups.items()}


def add(yard: Yard, tasks: list[dict[str, Any]]) -> list[str]:
    return [str(name) for name in yard.add_all(tasks)]


def drift_of(yard: Yard, tasks: list[dict[str, Any]]) -> tuple[list[str], dict[str, Any]]:
    """Against all that were at work before."""
    since, names = datetime.now(UTC).isoformat(), add(yard, tasks)
    yard.run()
    told: dict[str, Any] = json.loads(yard.paddock("drift", "--kind", "feature", "--since", since, "--json"))
    return names, told


@pytest.fixture(scope="module")
def proof(yard_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proof]:
    yard, dice = build_yard(yard_template, tmp_path_factory.mktemp("proof"), PADDOCK_INSIGHT_FOLLOW="true"), Random(7)
    (yard.top / "paddock.toml").write_text(TOML)
    (yard.top / "run-tests.sh").write_text("echo 12 passed\n")
    yard.git("add", "-A")
    yard.git("commit", "-qm", "Settings and tests")
    planted = plant(yard, dice)
    yard.run()
    [badly_told] = planted["task"]
    yard.paddock("edit", badly_told, "--agent", "swift")
    yard.paddock("retry", badly_told)
    others, calm = drift_of(yard, features(HEALTHY // 2, "steady", dice))
    planted["healthy"] += others
    planted["hasty"], hasty = drift_of(yard, features(HASTY, "swift", dice, tests=False))
    yield Proof(yard, planted, calm, hasty)
    yard.close()


def test_sixty_agents_have_worked_and_only_those_that_could_not_have_not_landed(proof: Proof) -> None:
    assert sum(map(len, proof.planted.values())) == 60
    landed = {str(task.id) for task in proof.yard.board().tasks.values() if task.phase is Phase.LANDED}
    came_through = ("healthy", "hasty", "contention", "rate-limit")
    assert landed == {name for group in came_through for name in proof.planted[group]}


def test_failures_name_each_cause_that_was_planted_and_nothing_else(proof: Proof) -> None:
    found: dict[str, set[str]] = {}
    for cluster in json.loads(proof.yard.paddock("failures", "--json"))["clusters"]:
        found.setdefault(cluster["cause"], set()).update(run.partition(".")[0] for run in cluster["runs"])
        assert cluster["evidence"], cluster
    assert len(found["contention"]) == AT_THE_PORT - 1, "all but the one that had the port"
    assert found.pop("contention") < set(proof.planted["contention"])
    assert found == {cause: set(proof.planted[cause]) for cause in ("rate-limit", "dependency", "task")}


def test_drift_names_the_model_that_skips_its_tests_and_says_nothing_of_others(proof: Proof) -> None:
    assert (proof.calm["verdict"], proof.calm["pairs"]) == ("none", HEALTHY // 2)
    assert not [test for test in proof.calm["tests"] if test["significant"]]
    assert (proof.hasty["verdict"], proof.hasty["pairs"]) == ("drift", HASTY)
    significant = {test["name"] for test in proof.hasty["tests"] if test["significant"]}
    assert "last edit verified" in significant
    assert significant <= {"last edit verified", "path", "habits", "steps", "tokens"}, "fewer tests are fewer steps"
