"""The daemon is killed at every named point of dispatch, start, judgement and clean-up; the next one carries on."""

from collections import Counter
from pathlib import Path

import pytest

from tests.fleet.conftest import MakeYard
from tests.fleet.scenarios import SCENARIOS, SECOND_TIME, play_scenario
from tests.fleet.yard import Yard

# One of every stage; the sweep over all points is marked slow.
SAMPLE = [
    ("work", "dispatch.claimed"),
    ("work", "ready"),
    ("work", "turn.claimed_in_log"),
    ("work", "turn.claimed"),
    ("work", "judge.rescued"),
    ("work", "attempt.judged"),
    ("work", "returning"),
    ("follow-up", "turn.claimed_in_log#2"),
    ("follow-up", "turn.started#2"),
    ("stop", "turn.stopping"),
    ("stop", "turn.ended_in_log"),
    ("retry", "attempt.ended_in_log#2"),
    ("timeout", "turn.stopped"),
]
LEAST_POINTS = 40


@pytest.mark.parametrize(("name", "point"), SAMPLE)
def test_a_daemon_killed_there_leaves_nothing_undone(yard: Yard, name: str, point: str) -> None:
    play_scenario(yard, SCENARIOS[name], crash_at=point)


def points_passed(yard: Yard, name: str) -> list[str]:
    """The points a scenario passes without a kill, each also the second time it is passed."""
    trace = yard.folder / "trace"
    play_scenario(yard, SCENARIOS[name], trace=trace)
    counts = Counter(trace.read_text().split())
    return [f"{point}#{time}" for point, count in counts.items() for time in range(1, min(count, SECOND_TIME) + 1)]


def test_there_are_enough_points_to_die_at(make_yard: MakeYard, tmp_path: Path) -> None:
    names: set[str] = set()
    for name in ("work", "stop"):
        yard = make_yard(name)
        yard.folder = tmp_path / f"{name}-outside"
        yard.folder.mkdir()
        names.update(points_passed(yard, name))
    assert len(names) >= LEAST_POINTS


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_daemon_killed_anywhere_leaves_nothing_undone(make_yard: MakeYard, tmp_path: Path, name: str) -> None:
    points = points_passed(make_yard("reference"), name)
    failures = []
    for number, point in enumerate(points):
        yard = make_yard(f"app{number}")
        yard.folder = tmp_path / f"outside{number}"
        yard.folder.mkdir()
        try:
            play_scenario(yard, SCENARIOS[name], crash_at=point)
        except AssertionError as failure:
            failures.append(f"{point}: {failure}")
        finally:
            yard.close()
    assert not failures, "\n\n".join(failures)
