import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable

import pytest

from paddock.sessions.identity import ProcessIdentity, same_process
from paddock.sessions.local import TurnFiles
from paddock.sessions.process import block_until_exit
from paddock.sessions.protocol import Exited
from paddock.sessions.watch import TurnWatch
from tests.sessions.conftest import PATIENCE_SECONDS, Workshop, returned

TICK_SECONDS = 0.02


class Follower:
    """Counts how often each turn woke it."""

    def __init__(self, watch: TurnWatch) -> None:
        self._watch = watch
        self._woken = asyncio.Event()
        self.wakes: Counter[TurnFiles] = Counter()

    def follow(self, files: TurnFiles, identity: ProcessIdentity) -> None:
        def wake() -> None:
            self.wakes[files] += 1
            self._woken.set()

        self._watch.follow(files, identity, wake)

    def forget(self, files: TurnFiles) -> None:
        self._watch.forget(files)

    def expect_answer(self) -> None:
        self._watch.look_soon()

    async def woken(self) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await self._woken.wait()
        self._woken.clear()

    async def until(self, happened: Callable[[], bool]) -> None:
        while not happened():
            await self.woken()


def watching(scene: Callable[[Follower], Awaitable[None]], tick_seconds: float = TICK_SECONDS) -> None:
    async def play() -> None:
        watch = TurnWatch(tick_seconds)
        try:
            await scene(Follower(watch))
        finally:
            watch.close()

    asyncio.run(play())


def has_ended(workshop: Workshop, turn: int = 1) -> Callable[[], bool]:
    return lambda: isinstance(workshop.state(turn), Exited)


@pytest.mark.usefixtures("any_system")
def test_the_end_of_a_turn_wakes_once_and_its_last_words_are_there(workshop: Workshop) -> None:
    async def scene(follower: Follower) -> None:
        follower.follow(workshop.files(), workshop.start(workshop.shell("echo bye; exit 5")))
        await follower.until(has_ended(workshop))
        assert returned(workshop.state()) == 5
        assert workshop.files().out.read_text() == "bye\n"
        seen = follower.wakes.total()
        await asyncio.sleep(3 * TICK_SECONDS)
        assert follower.wakes.total() in (seen, seen + 1), "words may be seen before the end; nothing wakes after it"
        seen = follower.wakes.total()
        await asyncio.sleep(3 * TICK_SECONDS)
        assert follower.wakes.total() == seen

    watching(scene)


def test_an_end_wakes_at_once_however_long_the_tick(workshop: Workshop) -> None:
    release = workshop.fifo("release")

    async def scene(follower: Follower) -> None:
        follower.follow(workshop.files(), workshop.start(workshop.shell('read _ <"$ROOT/release"')))
        await asyncio.sleep(0)
        release.write_text("go\n")
        await follower.until(has_ended(workshop))

    watching(scene, tick_seconds=10_000)


def test_what_a_turn_answers_is_seen_soon_however_long_the_tick(workshop: Workshop) -> None:
    more = workshop.fifo("more")

    async def scene(follower: Follower) -> None:
        script = 'echo one; read _ <"$ROOT/more"; echo two; exec sleep 600'
        follower.follow(workshop.files(), workshop.start(workshop.shell(script)))
        await asyncio.sleep(0)
        follower.expect_answer()
        await follower.woken()
        more.write_text("\n")
        follower.expect_answer()
        await follower.woken()
        assert workshop.files().out.read_text() == "one\ntwo\n"

    watching(scene, tick_seconds=10_000)


def test_output_wakes_once_per_growth(workshop: Workshop) -> None:
    more = workshop.fifo("more")

    async def scene(follower: Follower) -> None:
        script = 'echo one; read _ <"$ROOT/more"; echo two >&2; exec sleep 600'
        follower.follow(workshop.files(), workshop.start(workshop.shell(script)))
        await follower.woken()
        await asyncio.sleep(3 * TICK_SECONDS)
        assert follower.wakes.total() == 1
        more.write_text("\n")
        await follower.woken()
        assert workshop.files().err.read_text() == "two\n"

    watching(scene)


@pytest.mark.usefixtures("any_system")
def test_a_turn_that_ended_before_it_was_followed_wakes_once(workshop: Workshop) -> None:
    shim = workshop.start(workshop.shell(":"))
    assert block_until_exit(shim, PATIENCE_SECONDS)

    async def scene(follower: Follower) -> None:
        follower.follow(workshop.files(), shim)
        await follower.woken()
        await asyncio.sleep(3 * TICK_SECONDS)
        assert follower.wakes == {workshop.files(): 1}

    watching(scene)


def test_a_forgotten_turn_wakes_nobody(workshop: Workshop) -> None:
    async def scene(follower: Follower) -> None:
        kept, dropped = workshop.files(1), workshop.files(2)
        follower.follow(dropped, workshop.start(workshop.shell("echo noise", turn=2)))
        follower.forget(dropped)
        follower.follow(kept, workshop.start(workshop.shell("echo signal", turn=1)))
        await follower.until(has_ended(workshop))
        assert set(follower.wakes) == {kept}

    watching(scene)


def test_every_one_of_many_ends_wakes_exactly_once(workshop: Workshop) -> None:
    async def scene(follower: Follower) -> None:
        expected = [workshop.files(turn) for turn in range(1, 41)]
        for turn, files in enumerate(expected, start=1):
            follower.follow(files, workshop.start(workshop.shell(":", turn)))
        await follower.until(lambda: len(follower.wakes) == len(expected))
        await asyncio.sleep(3 * TICK_SECONDS)
        assert follower.wakes == dict.fromkeys(expected, 1)

    watching(scene)


def test_closing_the_watch_leaves_the_turns_running(workshop: Workshop) -> None:
    shim = workshop.start_blocked()

    async def scene(follower: Follower) -> None:
        follower.follow(workshop.files(), shim)

    watching(scene)
    assert same_process(shim)
