"""What every implementation of sessions promises. Nothing in here knows which one it is."""

import asyncio
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.core.errors import PaddockError
from paddock.sessions.host import Host
from paddock.sessions.mailbox import Letter
from paddock.sessions.protocol import Exited, NeverStarted, Running, Sessions, Stream, Turn, TurnState
from tests.sessions.stages import STAGES, Script, Stage

T1, T2 = Turn("t1.1", 1), Turn("t2.1", 1)
HANGS = Script(says=("up",), hangs=True)


@pytest.fixture(params=STAGES)
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    made = STAGES[request.param](tmp_path)
    yield made
    made.clear()


async def start(stage: Stage, sessions: Sessions, turn: Turn, script: Script) -> None:
    await asyncio.to_thread(sessions.start, stage.order(turn, script))


async def follow(sessions: Sessions, turn: Turn, lines: int) -> None:
    """Until it has said so many lines."""
    woken = asyncio.Event()
    sessions.follow(turn, woken.set)
    while said(sessions, turn).count("\n") < lines:
        await woken.wait()
        woken.clear()
    sessions.forget(turn)


async def end_of(sessions: Sessions, turn: Turn) -> TurnState:
    woken = asyncio.Event()
    sessions.follow(turn, woken.set)
    while isinstance(state := sessions.observe(turn), Running):
        await woken.wait()
        woken.clear()
    return state


def said(sessions: Sessions, turn: Turn) -> str:
    return sessions.tail(turn, Stream.STDOUT, 1 << 20)


def test_of_many_starters_of_one_turn_exactly_one_wins(stage: Stage) -> None:
    async def scene() -> None:
        order, daemons = stage.order(T1, Script(says=("ran",), code=3)), [stage.open() for _ in range(4)]
        await asyncio.gather(*(asyncio.to_thread(one.start, order) for one in daemons))
        ends = [await end_of(one, T1) for one in daemons]
        assert len(set(ends)) == 1
        daemons[0].start(order)
        assert said(daemons[0], T1) == "ran\n", "it ran once"
        assert daemons[0].observe(T1) == ends[0], "starting what has ended starts nothing"

    stage.play(scene)


def test_a_turn_outlives_its_starter_and_another_sees_its_end_with_its_status(stage: Stage) -> None:
    async def scene() -> None:
        first, second = stage.open(), stage.open()
        await start(stage, first, T1, Script(says=("one", "two"), code=7))
        first.close()
        state = await end_of(second, T1)
        assert isinstance(state, Exited)
        assert (state.code, state.signal) == (7, None)
        assert state.started_at <= state.at

    stage.play(scene)


def test_the_end_wakes_whoever_follows_and_then_nothing_does(stage: Stage) -> None:
    async def scene() -> None:
        sessions, wakes = stage.open(), [0]
        await start(stage, sessions, T1, Script())
        await end_of(sessions, T1)
        sessions.follow(T1, lambda: wakes.append(1))
        await asyncio.sleep(1.5)
        assert wakes == [0, 1], "the end is told once, also if it is past"

    stage.play(scene)


def test_the_output_is_complete_and_each_line_is_read_once(stage: Stage) -> None:
    async def scene() -> None:
        sessions, lines = stage.open(), tuple(f"line {number}" for number in range(300))
        await start(stage, sessions, T1, Script(says=lines))
        reader = sessions.output(T1, Stream.STDOUT)
        read = [line.text for line in reader.read()]
        await end_of(sessions, T1)
        while (more := reader.read()) or not reader.at_end:
            read += [line.text for line in more]
        assert tuple(read) == lines
        assert reader.size() == reader.offset == sum(len(line) + 1 for line in lines)
        streams = [stream for stream, _ in sessions.outputs(T1)]
        assert streams[:2] == [Stream.STDOUT, Stream.STDERR]

    stage.play(scene)


def test_a_reader_resumes_at_the_offset_another_has_come_to(stage: Stage) -> None:
    async def scene() -> None:
        sessions = stage.open()
        await start(stage, sessions, T1, Script(says=("one", "two", "three")))
        await end_of(sessions, T1)
        whole = sessions.output(T1, Stream.STDOUT).read()
        rest = stage.open().output(T1, Stream.STDOUT, whole[1].offset).read()
        assert [line.text for line in rest] == ["two", "three"]
        assert rest == whole[1:]

    stage.play(scene)


def test_letters_reach_a_running_turn_once_whoever_posts_them(stage: Stage) -> None:
    async def scene() -> None:
        first, second = stage.open(), stage.open()
        order = stage.listener(T1, first.mailbox(T1))
        await asyncio.to_thread(first.start, order)
        first.post(T1, Letter(3, "three"))
        await follow(first, T1, 1)
        second.post(T1, Letter(3, "three"))
        second.post(T1, Letter(5, "five"))
        await follow(second, T1, 2)
        first.post(T1, Letter(9, "nine"))
        assert isinstance(await end_of(second, T1), Exited)
        assert said(second, T1).split() == ["3", "5", "9"]

    stage.play(scene)


def test_stopping_ends_everything_of_its_owner_and_nobody_else(stage: Stage) -> None:
    async def scene() -> None:
        sessions = stage.open()
        await start(stage, sessions, T1, Script(says=("up",), hangs=True, leaves=True))
        await start(stage, sessions, T2, HANGS)
        for turn in (T1, T2):
            await follow(sessions, turn, lines=1)
        forced = await sessions.stop(T1, 20.0)
        assert not forced
        state = sessions.observe(T1)
        assert isinstance(state, Exited)
        assert state.signal == signal.SIGTERM
        assert {process.owner for process in sessions.find()} == {"t2.1"}
        assert isinstance(sessions.observe(T2), Running)

    stage.play(scene)


def test_who_does_not_hear_is_ended_by_force_when_the_grace_is_over(stage: Stage) -> None:
    async def scene() -> None:
        sessions = stage.open()
        await start(stage, sessions, T1, Script(says=("up",), hangs=True, deaf=True))
        await follow(sessions, T1, lines=1)
        assert await sessions.stop(T1, 0.2)
        state = sessions.observe(T1)
        assert isinstance(state, Exited)
        assert state.signal == signal.SIGKILL

    stage.play(scene)


def test_a_sweep_ends_what_a_turn_left_and_touches_nothing_it_was_not_asked_for(stage: Stage) -> None:
    async def scene() -> None:
        sessions = stage.open()
        await start(stage, sessions, T1, Script(leaves=True))
        await start(stage, sessions, T2, HANGS)
        await end_of(sessions, T1)
        await follow(sessions, T2, lines=1)
        assert sessions.sweep(()).ended == ()
        assert sessions.sweep({"t9.9"}).ended == ()
        swept = await asyncio.to_thread(sessions.sweep, {"t1.1"})
        assert {process.owner for process in swept.ended} == {"t1.1"} or stage.ends_with_its_command
        assert swept.survivors == ()
        assert isinstance(sessions.observe(T2), Running)
        assert {process.owner for process in sessions.find()} == {"t2.1"}

    stage.play(scene)


def test_a_turn_that_nobody_started_has_nothing(stage: Stage) -> None:
    async def scene() -> None:
        sessions = stage.open()
        assert sessions.observe(T1) == NeverStarted()
        assert said(sessions, T1) == ""
        assert [reader.read() for _, reader in sessions.outputs(T1)] == [[], []]
        assert not await sessions.stop(T1, 1.0)
        sessions.follow(T1, lambda: pytest.fail("nothing has happened"))
        sessions.forget(T1)

    stage.play(scene)


def test_a_turn_that_cannot_start_says_why_and_has_never_been_started(stage: Stage) -> None:
    async def scene() -> None:
        sessions = stage.open()
        with pytest.raises(PaddockError, match="cannot start"):
            sessions.start(stage.impossible(T1))
        assert sessions.observe(T1) == NeverStarted()

    stage.play(scene)


def test_it_reaches_where_it_starts_and_not_just_any_place(stage: Stage) -> None:
    sessions = stage.open()
    assert sessions.reaches(sessions.host)
    assert not sessions.reaches(Host("another place", "of another id"))
