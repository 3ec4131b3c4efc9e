"""How turns end that do not end by themselves, or too late: circles, lingering, silence, and people who ask for it."""

from pathlib import Path
from random import Random

import pytest

from paddock.core.events import AttemptEnded
from paddock.core.ids import TaskId
from paddock.core.intent.tasks import cancel_tasks, stop_tasks
from paddock.core.leases.lease import LeaseGranted
from paddock.git.repo import Repo
from tests.simulation.parts import delivers, lies, loops, stalls
from tests.simulation.stage import set_stage
from tests.simulation.troupe import Part
from tests.simulation.world import PERSON


def loops_after_a_commit(chance: Random, session: str) -> Part:
    part = loops(chance, session)
    return Part(part.says, part.ends, early=1)


def never_exits(role: Part, early: int = 0) -> Part:
    return Part(role.says, None, early=early)


def waits_for_a_tool(chance: Random, session: str) -> Part:
    *said, _result = stalls(chance, session).says
    return Part(tuple(said), None)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"repeats": 5}, "the same call with the same result "),
        ({"repeats": 0, "max_calls": 8}, "more than 8 tool calls in one turn"),
        ({"repeats": 0, "max_turns": 8}, "more than 8 model answers"),
    ],
)
def test_a_turn_that_goes_round_in_circles_is_ended(
    repo: Repo, stage: Path, settings: dict[str, int], reason: str
) -> None:
    world = set_stage(repo, stage, {"t1": loops_after_a_commit}, **settings)
    world.add(1, attempts=1)
    assert world.live()
    attempt = world.attempt()
    assert (attempt.outcome, attempt.ended_by, attempt.counted) == ("looping", "looping", True)
    assert attempt.reason.startswith(reason)
    assert attempt.commits == 1, "what it had committed is kept"
    assert world.task().phase == "failed"
    world.assert_nothing_is_left()


def test_an_engine_that_never_exits_after_its_last_word_has_still_delivered(repo: Repo, stage: Path) -> None:
    world = set_stage(repo, stage, {"t1": lambda chance, session: never_exits(delivers(chance, session), early=1)})
    world.add(1)
    assert world.live()
    assert (world.task().phase, world.attempt().outcome) == ("approval", "delivered")
    assert world.attempt().ended_by == "lingering"
    world.assert_nothing_is_left()


def test_lingering_does_not_turn_a_failure_into_success(repo: Repo, stage: Path) -> None:
    world = set_stage(repo, stage, {"t1": lambda chance, session: never_exits(lies(chance, session))})
    world.add(1, attempts=1)
    assert world.live()
    assert (world.task().phase, world.attempt().outcome) == ("failed", "empty")


def test_cancelling_a_task_ends_its_agent(repo: Repo, stage: Path) -> None:
    world = set_stage(repo, stage, {"t1": stalls})
    world.add(1)
    world.wishes.append((60.0, lambda board: cancel_tasks(board, [TaskId("t1")], "")))
    assert world.live()
    assert world.task().phase == "cancelled"
    assert world.attempt().reason == "stopped by the cancellation of its task"
    world.assert_nothing_is_left()


def test_an_agent_that_outlives_two_daemons_is_still_watched(repo: Repo, stage: Path) -> None:
    world = set_stage(repo, stage, {"t1": waits_for_a_tool})
    world.add(1, attempts=1)
    for _ in range(2):
        assert not world.live(kill_at=100)
        assert len(world.troupe.running()) == 1
        assert world.board.daemon_generation == world.lives
    assert world.live()
    assert world.lives == 3
    assert world.attempt().outcome == "stalled"
    assert world.task().started == 1
    world.assert_nothing_is_left()


def test_a_stop_asked_for_while_no_daemon_lived_counts_in_the_first_round_of_the_next(repo: Repo, stage: Path) -> None:
    world = set_stage(repo, stage, {"t1": waits_for_a_tool})
    world.add(1)
    assert not world.live(kill_at=100)
    world.people.append(lambda board: stop_tasks(board, [TaskId("t1")], "enough"), PERSON)
    assert world.live()
    assert (world.attempt().outcome, world.task().phase) == ("killed", "blocked")
    granted, ended = (
        next(record.at for record in reversed(world.records()) if isinstance(record.event, kind))
        for kind in (LeaseGranted, AttemptEnded)
    )
    assert granted <= ended <= granted + 1.0
    world.assert_nothing_is_left()
