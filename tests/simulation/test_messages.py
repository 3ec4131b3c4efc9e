"""Messages to agents at work, by a clock that jumps: each reaches its agent once, whoever is killed meanwhile."""

from dataclasses import replace as change
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from paddock.config.schema import EngineSettings
from paddock.core.board import Board
from paddock.core.events import (
    Draft,
    MessagesDelivered,
    MessageSent,
    QuestionAsked,
    QuestionWithdrawn,
    TurnEnded,
    TurnStarted,
)
from paddock.core.ids import TaskId
from paddock.core.intent.messages import send_message
from paddock.core.trace import DialogClosed, DialogOpened
from paddock.engines.bridge_lines import bridge_line
from paddock.git.repo import Repo
from paddock.sessions.mailbox import Letter
from tests.simulation.parts import delivers, never_speaks
from tests.simulation.stage import Stage, set_stage
from tests.simulation.troupe import Part, Played
from tests.simulation.world import PERSON, Wish

T1 = TaskId("t1")
PLAIN = EngineSettings(
    command=("plain", "--session-id", "s", "{prompt}"),
    resume=("plain", "--resume", "{session}", "{prompt}"),
    format="claude-stream",
)
"""Speaks as the parts do, and hears nothing while it works."""


def words(number: int) -> str:
    return f"message number {number:03d}, please"


def send(number: int, *, now: bool = False) -> Wish:
    return lambda board: send_message(board, [T1], words(number), now=now)


def listens(chance: Random, session: str) -> Part:
    return change(delivers(chance, session), takes=3.0)


def begin(repo: Repo, folder: Path, *, listening: bool) -> Stage:
    world = set_stage(repo, folder, {"t1": listens if listening else delivers})
    world.config = replace(world.config, engine="scripted" if listening else "plain", engines={"plain": PLAIN})
    world.add(1)
    return world


def has_answered(world: Stage, played: Played) -> bool:
    return any('"type": "assistant"' in line for line in played.lines(world.time.awake()))


def times_heard(world: Stage, number: int) -> int:
    """How often an agent has it: in a prompt that it answered, or in a letter that it took."""
    now, times = world.time.awake(), 0
    for turn, played in world.troupe.turns.items():
        times += words(number) in " ".join(played.order.argv) and has_answered(world, played)
        letters = world.troupe.letters.get(turn, {})
        taken = [one.number for one in letters.values() if one.text == words(number)]
        times += sum(f'"messages":[{seq}]' in line for seq in taken for line in played.lines(now))
    return times


def live_on(world: Stage, chance: Random | None = None) -> None:
    """Until nothing is left to do; with `chance`, daemons are killed on the way. An idle fleet is woken by what people
    say next."""
    while True:
        assert world.lives < 300
        is_idle = world.live(None if chance is None else round(2 ** chance.uniform(5.0, 9.5)))
        if is_idle and not world.wishes:
            return
        if is_idle:
            world.people.append(world.wishes.pop(0)[1], PERSON)


def assert_each_was_heard_once(world: Stage, count: int) -> None:
    assert [times_heard(world, number) for number in range(count)] == [1] * count
    sent = [one.seq for one in world.records() if isinstance(one.event, MessageSent)]
    receipts = [one for one in world.events(MessagesDelivered) if isinstance(one, MessagesDelivered)]
    assert sorted(seq for one in receipts for seq in one.messages) == sent
    assert all(one.evidence for one in receipts)
    task = world.task()
    assert (task.inbox, task.untold) == ((), ())
    assert not world.troupe.running()
    assert world.violations == []


@pytest.mark.parametrize("listening", [True, False], ids=["listens", "waits"])
@pytest.mark.parametrize("seed", range(6))
def test_each_message_is_heard_once_whoever_is_killed_on_the_way(
    repo: Repo, stage: Path, seed: int, listening: bool
) -> None:
    world = begin(repo, stage, listening=listening)
    chance = Random(f"{seed} {listening}")
    count = 8
    at = 0.0
    for number in range(count):
        at += chance.choice([0.0, 0.3, 5.0, 60.0, 700.0])
        world.wishes.append((20.0 + at, send(number, now=chance.random() < 0.3)))
    live_on(world, chance)
    assert_each_was_heard_once(world, count)


@pytest.mark.parametrize("listening", [True, False], ids=["listens", "waits"])
def test_a_daemon_killed_at_any_step_around_a_message_neither_loses_nor_repeats_it(
    repo: Repo, stage: Path, listening: bool
) -> None:
    for kill_at in range(60, 180, 7 if listening else 11):
        world = begin(repo, stage / str(kill_at), listening=listening)
        world.wishes += [(30.0, send(0)), (31.0, send(1, now=True))]
        world.live(kill_at)
        live_on(world)
        assert_each_was_heard_once(world, 2)


def test_a_message_that_cannot_wait_ends_the_turn_and_begins_the_next(repo: Repo, stage: Path) -> None:
    world = begin(repo, stage, listening=False)
    world.wishes.append((60.0, send(0, now=True)))
    assert world.live()
    ends = [one.ended_by for one in world.events(TurnEnded) if isinstance(one, TurnEnded)]
    turns = [(one.turn, len(one.messages)) for one in world.events(TurnStarted) if isinstance(one, TurnStarted)]
    assert ends == ["message", ""]
    assert turns == [(1, 0), (2, 1)]
    assert world.attempt().outcome == "delivered"
    assert_each_was_heard_once(world, 1)


def test_one_that_listens_is_sent_a_letter_and_its_turn_goes_on(repo: Repo, stage: Path) -> None:
    world = begin(repo, stage, listening=True)
    world.wishes += [(60.0, send(0)), (61.0, send(1, now=True))]
    assert world.live()
    [letters] = world.troupe.letters.values()
    assert [(one.text, one.now) for one in letters.values()] == [(words(0), False), (words(1), True)]
    assert world.attempt().turn == 1
    assert_each_was_heard_once(world, 2)


def test_what_was_posted_and_not_taken_begins_the_next_turn(repo: Repo, stage: Path) -> None:
    world = begin(repo, stage, listening=True)
    world.cast["t1"] = lambda chance, session: change(listens(chance, session), takes=1e6)
    world.wishes.append((30.0, send(0)))
    assert world.live()
    assert world.attempt().turn == 2
    assert_each_was_heard_once(world, 1)


def test_a_message_whose_turn_was_killed_before_the_first_answer_is_told_again(repo: Repo, stage: Path) -> None:
    world = begin(repo, stage, listening=False)
    assert world.live()
    world.cast["t1.2"] = lambda chance, session: change(never_speaks(chance, session), vanishes=True, ends=5.0)
    world.people.append(send(0), PERSON)
    assert world.live()
    told = [words(0) in " ".join(played.order.argv) for played in world.troupe.turns.values()]
    assert told == [False, True, True]
    assert_each_was_heard_once(world, 1)


def asks(answers_at: float | None) -> object:
    def part(chance: Random, session: str) -> Part:
        work = delivers(chance, session)
        opened = bridge_line(DialogOpened("r-1", "May it delete a.txt?", ("allow", "deny"))).decode().strip()
        closed = bridge_line(DialogClosed("r-1")).decode().strip()
        begins = work.says[0][0] + 1.0
        pause = answers_at if answers_at is not None else 20_000.0
        later = [(at + pause, line) for at, line in work.says[1:]]
        ended = [(answers_at, closed)] if answers_at is not None else []
        says = (work.says[0], (begins, opened), *ended, *later)
        return change(work, says=says, ends=(work.ends or 0.0) + pause, takes=2.0)

    return part


def dialog(repo: Repo, stage: Path, closes_at: float | None) -> Stage:
    world = begin(repo, stage, listening=True)
    world.cast["t1"] = asks(closes_at)  # type: ignore[assignment]
    return world


def test_a_dialog_is_a_question_with_options_and_its_answer_a_letter(repo: Repo, stage: Path) -> None:
    """Killed in between, the next daemon asks nothing twice; while it waits no deadline counts."""
    world = dialog(repo, stage, closes_at=15_000.0)
    seen: list[tuple[str, tuple[str, ...]]] = []

    def answer(board: Board) -> list[Draft]:
        task = board.task(T1)
        seen.append((task.reason, task.options))
        return send_message(board, [T1], "al")

    world.wishes.append((14_000.0, answer))
    assert not world.live(kill_at=120)
    live_on(world)
    assert len(world.events(QuestionAsked)) == 1
    assert "May it delete a.txt?" in seen[0][0]
    assert seen[0][1] == ("allow", "deny")
    [letters] = world.troupe.letters.values()
    [letter] = letters.values()
    assert letter == Letter(letter.number, "allow", request="r-1")
    assert (world.attempt().turn, world.attempt().outcome) == (1, "delivered")
    assert world.task().question == 0


def test_a_dialog_that_closes_by_itself_is_withdrawn(repo: Repo, stage: Path) -> None:
    world = dialog(repo, stage, closes_at=500.0)
    assert world.live()
    assert len(world.events(QuestionWithdrawn)) == 1
    assert world.task().question == 0


def test_an_answer_that_comes_too_late_is_not_told_as_text(repo: Repo, stage: Path) -> None:
    """The turn is over before the letter is taken: nobody waits for it any more."""
    world = dialog(repo, stage, closes_at=None)
    world.cast["t1"] = lambda chance, session: change(asks(None)(chance, session), ends=100.0, takes=1e6)  # type: ignore[operator]
    world.wishes.append((90.0, lambda board: send_message(board, [T1], "1")))
    assert world.live()
    assert world.task().inbox == ()
    assert not any("allow" in " ".join(played.order.argv) for played in world.troupe.turns.values())
