"""The daemon is killed at every named point of queueing, composing, testing and landing; the next one converges."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

import pytest

from tests.fleet.chains import MISSED_SHARE, Chain, sweep_chains
from tests.fleet.landing.conftest import MakeFarm
from tests.fleet.landing.lab import TEN_LINES, Farm
from tests.fleet.relay import Relay, read_trace
from tests.fleet.yard import commit, play, write

FAMILIES = ("queue.", "checks.", "hold.", "compose.", "run.", "sandbox.", "ci.", "turn.", "land.")
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
            {"title": "good", "brief": play(write("parts/good"), commit("Add it")), "accept": "test -e parts/good"},
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


def play_out(farm: Farm, scenario: Scenario, kills: Sequence[str] = (), trace: Path | None = None) -> int:
    """Until everything is decided; how many daemons were killed on the way, one after the other."""
    scenario.prepare(farm)
    relay = Relay(farm.yard, kills, trace)
    relay.finish()
    assert_decided_once(farm, scenario)
    return relay.killed


def assert_decided_once(farm: Farm, scenario: Scenario) -> None:
    assert farm.outcomes() in scenario.ends
    assert len(farm.queue.decided) == scenario.decided
    farm.assert_green()
    farm.assert_at_rest()
    assert not farm.yard.git("for-each-ref", "refs/heads/stolen")


def make(make_farm: MakeFarm, name: str = "app") -> Farm:
    return make_farm(CHECKS, ci="", name=name)


@contextmanager
def one_of_many(make_farm: MakeFarm) -> Iterator[Farm]:
    farm = make(make_farm, token_hex(4))
    try:
        yield farm
    finally:
        farm.yard.close()


def points_passed(farm: Farm, scenario: Scenario) -> list[str]:
    trace = farm.yard.folder / f"trace-{farm.top.name}"
    play_out(farm, scenario, trace=trace)
    return [point for point in read_trace(trace) if point.startswith(FAMILIES)]


@pytest.mark.parametrize(("name", "point"), SAMPLE)
def test_a_daemon_killed_there_leaves_every_change_decided_once(make_farm: MakeFarm, name: str, point: str) -> None:
    assert play_out(make(make_farm), SCENARIOS[name], [point]), f"{point} was never reached"


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_daemon_killed_anywhere_leaves_every_change_decided_once(
    make_farm: MakeFarm, subtests: pytest.Subtests, name: str
) -> None:
    def play(kills: Chain) -> int:
        with one_of_many(make_farm) as farm:
            return play_out(farm, SCENARIOS[name], kills)

    points = points_passed(make(make_farm), SCENARIOS[name])
    assert len(points) >= LEAST_POINTS
    missed = sweep_chains(points, play, subtests)
    assert len(missed) <= len(points) // MISSED_SHARE, f"never reached: {missed}"
