"""The daemon is killed at every named point of dispatch, start, judgement and clean-up; the next one carries on."""

from zlib import crc32

import pytest

from tests.fleet.chains import Chain, sweep_chains
from tests.fleet.conftest import OneOfMany
from tests.fleet.relay import read_trace
from tests.fleet.replay import play_scenario
from tests.fleet.scenarios import SCENARIOS
from tests.fleet.yard import Yard

# One of every stage; the sweep over all points is marked slow.
SAMPLE = [
    ("work", ["dispatch.claimed"]),
    ("work", ["ready"]),
    ("work", ["turn.claimed_in_log"]),
    ("work", ["turn.linked"]),
    ("work", ["judge.rescued"]),
    ("work", ["attempt.judged"]),
    ("work", ["returning"]),
    ("follow-up", ["turn.claimed_in_log#2"]),
    ("follow-up", ["turn.started#2", "turn.caught_up"]),
    ("talk", ["letter.posting"]),
    ("talk", ["letter.posted", "receipt.heard"]),
    ("hold", ["turn.ended_in_log"]),
    ("stop", ["turn.stopping"]),
    ("stop", ["turn.ended_in_log", "daemon.adopted"]),
    ("retry", ["attempt.ended_in_log#2", "janitor.recorded"]),
    ("resumed", ["claimed#2", "turn.claimed_in_log"]),
    ("timeout", ["turn.graced"]),
    ("strayed", ["import.planned", "import.placed"]),
    ("down", ["down.wished", "turn.over"]),
    ("budget", ["budget.answered"]),
    ("causes", ["insight.decided"]),
    ("causes", ["attempt.ended_in_log#2", "insight.recorded"]),
    ("inlined", ["attempt.ended_in_log"]),
    ("review", ["checks.over"]),
    ("review", ["dispatch.claimed#2", "attempt.judged"]),
    ("review", ["review.sendback", "review.pass"]),
    ("read", ["attempt.asked_again", "attempt.judged"]),
]
LEAST_POINTS = 55
CHANCE = ("janitor.",)
"""Beside the work: a short fleet may be done before they come."""


@pytest.mark.parametrize(
    ("name", "kills"), SAMPLE, ids=lambda value: value if isinstance(value, str) else "+".join(value)
)
def test_daemons_killed_there_leave_nothing_undone(yard: Yard, name: str, kills: list[str]) -> None:
    assert play_scenario(yard, SCENARIOS[name], kills) == len(kills), "a point was never reached"


def points_passed(yard: Yard, name: str, kills: list[str]) -> list[str]:
    """What the last daemon passes when its forerunners were killed there."""
    trace = yard.folder / "trace"
    killed = play_scenario(yard, SCENARIOS[name], kills, trace)
    assert killed == len(kills) or kills[killed].startswith(CHANCE), f"nothing passed {kills[killed]}"
    return read_trace(trace, len(kills)) if killed == len(kills) else []


def test_there_are_enough_points_to_die_at(yard: Yard) -> None:
    names = {point.partition("#")[0] for point in points_passed(yard, "stop", [])}
    assert len(names) >= LEAST_POINTS


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_daemons_killed_anywhere_leave_nothing_undone(
    one_of_many: OneOfMany, subtests: pytest.Subtests, name: str
) -> None:
    """At every point, the first and the second time; then again with a second kill somewhere in the recovery."""

    def play(kills: Chain) -> int:
        with one_of_many() as yard:
            trace = yard.folder / "trace"
            killed = play_scenario(yard, SCENARIOS[name], kills, trace)
            after = read_trace(trace, killed)
        if killed == len(kills) > 0:
            second = after[crc32(f"{name} {kills[-1]}".encode()) % len(after)]
            with one_of_many() as yard:
                play_scenario(yard, SCENARIOS[name], [kills[-1], second])
        return killed

    with one_of_many() as yard:
        points = points_passed(yard, name, [])
    missed = sweep_chains(points, play, subtests)
    assert not [point for point in missed if not point.startswith(CHANCE)], f"never reached: {missed}"
