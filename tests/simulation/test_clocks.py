"""Somebody sets the clock, or closes the lid: who hangs is found out all the same, and who works is left alone."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from paddock.core.events import TurnEnded
from paddock.core.tasks.vocabulary import EndedBy
from paddock.git.repo import Repo
from paddock.sessions.protocol import Turn
from tests.simulation.parts import delivers, stalls
from tests.simulation.stage import Stage, set_stage
from tests.simulation.troupe import Part
from tests.simulation.virtual import VirtualTime

DAY, HOUR = 86400.0, 3600.0
JOLTS: dict[str, Callable[[VirtualTime], None]] = {
    "a day back": lambda time: time.set_clock(-DAY),
    "a day ahead": lambda time: time.set_clock(DAY),
    "asleep for an hour": lambda time: time.sleep(HOUR),
    "asleep for a week": lambda time: time.sleep(7 * DAY),
}


def works_steadily(chance: Random, session: str) -> Part:
    """Says something every four minutes, for fifty: less than a turn may take, far more than a silence may last."""
    part = delivers(chance, session)
    (_, first), (_, last) = part.says[0], part.says[-1]
    said = tuple((240.0 * number, part.says[1][1]) for number in range(1, 12))
    return Part(((1.0, first), *said, (3000.0, last)), 3001.0, commits=1)


def minutes_of(world: Stage) -> float:
    """How long its first turn ran while the machine was awake."""
    played = world.troupe.turns[Turn("t1.1", 1)]
    assert played.ends_at is not None
    return (played.ends_at - played.started_at) / 60


@pytest.mark.parametrize("jolt", JOLTS)
def test_an_agent_that_hangs_is_ended_in_time_whatever_happens_to_the_clock(repo: Repo, stage: Path, jolt: str) -> None:
    world, usual = (set_stage(repo, stage / name, {"t1.1": stalls}) for name in ("jolted", "usual"))
    world.jolts = [(300.0, JOLTS[jolt])]
    for one in (world, usual):
        one.add(1)
        assert one.live()
        ended = [event for event in one.events(TurnEnded) if isinstance(event, TurnEnded)]
        assert ended[0].ended_by is EndedBy.SILENCE
    assert minutes_of(world) == pytest.approx(minutes_of(usual), abs=1.0)


@pytest.mark.parametrize("jolt", JOLTS)
def test_an_agent_at_work_is_neither_stalled_nor_late_whatever_happens_to_the_clock(
    repo: Repo, stage: Path, jolt: str
) -> None:
    world = set_stage(repo, stage, {"t1": works_steadily})
    world.jolts = [(at, JOLTS[jolt]) for at in (100.0, 1000.0, 2900.0)]
    world.add(1, attempts=1)
    assert world.live()
    assert (world.attempt().outcome, world.task().phase) == ("delivered", "approval")
    assert minutes_of(world) == pytest.approx(50.0, abs=0.1)
    world.assert_nothing_is_left()


def test_a_turn_ends_in_time_although_the_clock_is_set_back_again_and_again(repo: Repo, stage: Path) -> None:
    def talks_for_ever(chance: Random, session: str) -> Part:
        part = works_steadily(chance, session)
        says = tuple((60.0 * number, part.says[1][1]) for number in range(1, 200))
        return Part((part.says[0], *says), None)

    world = set_stage(repo, stage, {"t1": talks_for_ever}, repeats=0)
    world.jolts = [(600.0 * number, JOLTS["a day back"]) for number in range(1, 6)]
    world.add(1, attempts=1)
    assert world.live()
    assert world.attempt().outcome == "timeout"
    assert minutes_of(world) == pytest.approx(60.0, abs=1.0)
