"""The daemon is killed at every named point of queueing, composing, testing and landing; the next one converges."""

import signal
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fleet.landing.conftest import MakeFarm
from tests.fleet.landing.lab import TEN_LINES, Farm
from tests.fleet.yard import commit, play, write

FAMILIES = ("queue.", "hold.", "compose.", "run.", "sandbox.", "ci.", "turn.", "land.")
SECOND_TIME = 2
LEAST_POINTS = 30
CHECKS = """
setup = "echo ready > built"
[[land.checks]]
name = "set-up"
run = "test -s built"
[[land.checks]]
name = "parts"
run = "sh ./ci.sh"
"""


def queue_branches(farm: Farm) -> None:
    farm.branch("good", {"parts/good": "good\n"})
    farm.branch("bad", {"parts/bad": "bad\n"})
    farm.branch("one", {"ten.txt": TEN_LINES.replace("line 5", "one")})
    farm.branch("two", {"ten.txt": TEN_LINES.replace("line 5", "two")})
    farm.branch("nothing", {"ten.txt": TEN_LINES})
    farm.land("good", "bad", "one", "two", "nothing")


def add_tasks(farm: Farm) -> None:
    fix = {"write": "parts/fixed", "text": "good\n", "turn": 2}
    farm.yard.add_all(
        [
            {"title": "good", "brief": play(write("parts/good"), commit("Add it"))},
            {
                "title": "fixed",
                "brief": play(write("parts/fixed", "bad\n"), commit("Add it"), fix, {"commit": "Fix", "turn": 2}),
            },
        ]
    )


@dataclass(frozen=True)
class Scenario:
    """`ends` are the ways in which it may end; `decided` is how many versions are decided in all."""

    prepare: Callable[[Farm], None]
    ends: tuple[dict[str, str], ...]
    decided: int


CERTAIN = {"good": "landed", "bad": "rejected", "nothing": "noop"}
SCENARIOS = {
    "branches": Scenario(
        queue_branches,
        (  # the first of the two that passes
            {**CERTAIN, "one": "landed", "two": "conflicted"},
            {**CERTAIN, "one": "conflicted", "two": "landed"},
        ),
        decided=5,
    ),
    "agents": Scenario(add_tasks, ({"good": "landed", "fixed": "landed"},), decided=3),
}
SAMPLE = [
    ("agents", "queue.queued"),
    ("agents", "queue.sent_back"),
    ("agents", "hold.flushed"),
    ("branches", "compose.merged"),
    ("branches", "run.started_in_log#2"),
    ("branches", "sandbox.switched"),
    ("branches", "turn.claimed"),
    ("branches", "ci.started"),
    ("branches", "run.over"),
    ("branches", "land.announced"),
    ("branches", "land.moved"),
    ("branches", "land.recorded"),
]


def play_out(farm: Farm, scenario: Scenario, crash_at: str | None = None, trace: Path | None = None) -> bool:
    """Until everything is decided; whether the first daemon was killed on the way."""
    scenario.prepare(farm)
    env = {"PADDOCK_TEST_CRASH_AT": crash_at} if crash_at else {}
    first = farm.yard.start("run", "--until-idle", env=env | ({"PADDOCK_TEST_TRACE": str(trace)} if trace else {}))
    killed = first.wait() == -signal.SIGKILL
    if killed:
        farm.yard.run()
    assert farm.outcomes() in scenario.ends
    assert len(farm.queue.decided) == scenario.decided
    farm.assert_green()
    farm.assert_at_rest()
    assert not farm.yard.git("for-each-ref", "refs/heads/stolen")
    return killed


def make(make_farm: MakeFarm, name: str = "app") -> Farm:
    return make_farm(CHECKS, ci="", name=name)


def points_passed(farm: Farm, scenario: Scenario) -> list[str]:
    trace = farm.yard.folder / f"trace-{farm.top.name}"
    play_out(farm, scenario, trace=trace)
    counts = Counter(point for point in trace.read_text().split() if point.startswith(FAMILIES))
    return [f"{point}#{time}" for point, count in counts.items() for time in range(1, min(count, SECOND_TIME) + 1)]


@pytest.mark.parametrize(("name", "point"), SAMPLE)
def test_a_daemon_killed_there_leaves_every_change_decided_once(make_farm: MakeFarm, name: str, point: str) -> None:
    assert play_out(make(make_farm), SCENARIOS[name], crash_at=point), f"{point} was never reached"


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_daemon_killed_anywhere_leaves_every_change_decided_once(make_farm: MakeFarm, name: str) -> None:
    points = points_passed(make(make_farm, "reference"), SCENARIOS[name])
    assert len(points) >= LEAST_POINTS
    failures, missed = [], []
    for number, point in enumerate(points):
        farm = make(make_farm, f"app{number}")
        try:
            if not play_out(farm, SCENARIOS[name], crash_at=point):
                missed.append(point)
        except AssertionError as failure:
            failures.append(f"{point}: {failure}")
        finally:
            farm.yard.close()
    assert not failures, "\n\n".join(failures)
    assert len(missed) <= len(points) // 4, f"never reached: {missed}"
