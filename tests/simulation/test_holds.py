"""People take attempts over and leave them, by a clock that jumps: the fleet waits, judges and goes on."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from paddock.core.board import Board
from paddock.core.events import Draft, HoldEnded, MessageSent, TurnEnded, TurnStarted
from paddock.core.ids import TaskId
from paddock.core.intent.holds import Seat, hand_back, hold_task, leave, open_terminal
from paddock.core.intent.tasks import cancel_tasks, stop_tasks
from paddock.core.tasks.vocabulary import EndedBy
from paddock.git.repo import Repo
from tests.simulation.parts import delivers, never_ends
from tests.simulation.stage import Stage, set_stage
from tests.simulation.world import PERSON, Wish

T1 = TaskId("t1")
SEAT = Seat("stage", "stage", "7 7 boot")


def hold(board: Board) -> list[Draft]:
    return hold_task(board, T1, SEAT)


def open_it(board: Board) -> list[Draft]:
    live = board.task(T1).live_attempt
    assert live is not None
    return open_terminal(board, live.id, worktree=live.worktree, fence="none", session=live.session)


def go(board: Board) -> list[Draft]:
    live = board.task(T1).live_attempt
    assert live is not None
    return leave(board, live.id, TurnEnded(live.turn, exit=0))


def give_back(board: Board) -> list[Draft]:
    live = board.task(T1).live_attempt
    ended = TurnEnded(live.turn, exit=0) if live is not None and live.interactive else None
    return hand_back(board, T1, PERSON.name, "", ended)


def ask(world: Stage, *wishes: Wish) -> None:
    for wish in wishes:
        world.people.append(wish, PERSON)


def held_at_work(repo: Repo, stage: Path) -> Stage:
    """An agent that would never end, in the middle of its first turn, and somebody who takes it over."""
    world = set_stage(repo, stage, {"t1.1": never_ends})
    world.add(1)
    world.wishes.append((300.0, hold))
    assert world.live(), "a held attempt waits for a person, so the fleet is idle"
    return world


def turns(world: Stage) -> list[tuple[int, bool]]:
    return [(one.turn, one.interactive) for one in world.events(TurnStarted) if isinstance(one, TurnStarted)]


def ends_of_turns(world: Stage) -> list[EndedBy]:
    return [one.ended_by for one in world.events(TurnEnded) if isinstance(one, TurnEnded)]


def test_a_running_turn_is_ended_for_the_person_who_takes_it_over(repo: Repo, stage: Path) -> None:
    world = held_at_work(repo, stage)
    attempt = world.attempt()
    assert (attempt.live, attempt.turn_open, attempt.ended_by) == (True, False, "held")
    assert not world.troupe.running()
    assert list(world.ground.folders) == ["t1.1"], "its folder stays its own"
    assert world.live()
    assert world.attempt() == attempt, "another fleet leaves it alone, too"


def test_nothing_is_started_followed_or_ended_in_a_terminal_however_long_it_is_open(repo: Repo, stage: Path) -> None:
    world = held_at_work(repo, stage)
    ask(world, open_it)
    world.time.set_clock(30 * 86400.0)
    assert world.live()
    assert world.attempt().interactive
    assert turns(world) == [(1, False), (2, True)]


def test_what_a_person_leaves_is_judged_and_its_folder_given_back(repo: Repo, stage: Path) -> None:
    world = held_at_work(repo, stage)
    ask(world, open_it, go)
    assert world.live()
    assert (world.attempt().outcome, world.task().phase) == ("left", "blocked")
    assert world.task().unblock == "paddock handback t1"
    world.assert_nothing_is_left()
    ask(world, give_back)
    assert world.live()
    assert (world.attempt().id, world.attempt().outcome) == ("t1.2", "delivered")
    world.assert_nothing_is_left()


def test_what_is_handed_back_goes_on_in_the_same_attempt(repo: Repo, stage: Path) -> None:
    world = held_at_work(repo, stage)
    world.cast["t1.1"] = delivers
    ask(world, open_it, give_back)
    assert world.live()
    assert turns(world) == [(1, False), (2, True), (3, False)]
    assert (world.attempt().id, world.attempt().outcome) == ("t1.1", "delivered")
    assert world.task().inbox == ()
    world.assert_nothing_is_left()


def test_a_terminal_that_is_gone_is_noticed_and_what_is_there_is_judged(repo: Repo, stage: Path) -> None:
    world = held_at_work(repo, stage)
    ask(world, open_it)
    assert world.live()
    world.troupe.ended.add(SEAT.process)
    assert world.live()
    assert ends_of_turns(world) == ["held", "vanished"]
    assert world.events(HoldEnded) == [HoldEnded(reason="the terminal of ana@stage is gone")]
    assert (world.attempt().outcome, world.task().phase) == ("left", "blocked")
    world.assert_nothing_is_left()


def test_a_terminal_that_goes_while_others_work_is_noticed_within_seconds(repo: Repo, stage: Path) -> None:
    world = set_stage(repo, stage, {"t1.1": never_ends})
    world.add(2)
    world.wishes.append((30.0, hold))
    world.jolts.append((60.0, lambda _time: world.troupe.ended.add(SEAT.process)))
    assert world.live()
    ended = next(record for record in world.records() if isinstance(record.event, HoldEnded))
    assert ended.at - world.records()[0].at < 70.0


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("by_stop", [False, True])
def test_a_stop_or_a_cancellation_ends_the_hold(repo: Repo, stage: Path, by_stop: bool, is_open: bool) -> None:
    world = held_at_work(repo, stage)

    def end_it(board: Board) -> Sequence[Draft]:
        return stop_tasks(board, [T1], "") if by_stop else cancel_tasks(board, [T1], "")

    ask(world, *([open_it] if is_open else []), end_it)
    assert world.live()
    assert not world.attempt().live
    assert world.task().phase == ("blocked" if by_stop else "cancelled")
    assert ends_of_turns(world)[1:] == (["stop"] if is_open else [])
    world.assert_nothing_is_left()


@pytest.mark.parametrize("opens", [False, True])
def test_a_visit_that_changes_nothing_puts_the_task_back_where_it_was(repo: Repo, stage: Path, opens: bool) -> None:
    world = set_stage(repo, stage)
    world.add(1)
    assert world.live()
    before = world.task()
    ask(world, hold)
    assert world.task().phase == "running"
    ask(world, *([open_it] if opens else []), go)
    assert world.live()
    after = world.task()
    assert (after.phase, after.head, after.reason) == (before.phase, before.head, before.reason)
    assert (world.attempt().id, world.attempt().outcome) == ("t1.2", "left")
    assert after.counted == before.counted
    world.assert_nothing_is_left()


def test_a_message_to_an_attempt_that_is_held_waits_until_its_holder_has_left(repo: Repo, stage: Path) -> None:
    world = held_at_work(repo, stage)
    world.cast["t1.1"] = delivers
    ask(world, open_it, lambda _board: [Draft(MessageSent("and the tests"), T1)])
    assert world.live()
    assert len(world.task().inbox) == 1
    ask(world, go)
    assert world.live()
    assert turns(world) == [(1, False), (2, True), (3, False)]
    assert (world.attempt().outcome, world.task().inbox) == ("delivered", ())


@pytest.mark.parametrize("way", [go, give_back], ids=["left", "handed-back"])
def test_a_hold_is_served_whenever_the_fleet_is_killed(repo: Repo, stage: Path, way: Wish) -> None:
    """At every few steps of its loop, from the start to the end of what follows the hold."""
    for kill_at in range(40, 400, 23):
        world = set_stage(repo, stage / str(kill_at), {"t1.1": never_ends})
        world.add(1)
        world.wishes.append((300.0, hold))
        while not world.live(kill_at):
            kill_at += 60
        if world.attempt().id == "t1.1" and world.attempt().live:
            world.cast["t1.1"] = delivers
            ask(world, open_it, way)
        kill_at = 15
        while not world.live(kill_at):
            kill_at += 15
        assert not world.attempt().live
        assert ends_of_turns(world)[:2] == ["held", "" if way is go else "held"]
        world.assert_nothing_is_left()
