import asyncio
from collections.abc import Awaitable, Callable

import pytest

from paddock.sessions.local import TurnFiles, start_turn
from paddock.sessions.process import block_until_exit, same_process
from paddock.sessions.watch import TurnNews, TurnWatch
from tests.sessions.conftest import PATIENCE_SECONDS, Workshop, returned

TICK_SECONDS = 0.02


def watching(scene: Callable[[TurnWatch], Awaitable[None]], tick_seconds: float = TICK_SECONDS) -> None:
    async def play() -> None:
        watch = TurnWatch(tick_seconds)
        try:
            await scene(watch)
        finally:
            watch.close()

    asyncio.run(play())


async def until_ended(watch: TurnWatch) -> tuple[frozenset[TurnFiles], frozenset[TurnFiles]]:
    grown: frozenset[TurnFiles] = frozenset()
    while True:
        news = await watch.news(PATIENCE_SECONDS)
        assert news != TurnNews()
        grown |= news.grown
        if news.ended:
            return news.ended, grown


@pytest.mark.usefixtures("any_system")
def test_the_end_of_a_turn_and_its_last_words_are_news(workshop: Workshop) -> None:
    async def scene(watch: TurnWatch) -> None:
        watch.follow(workshop.files(), start_turn(workshop.shell("echo bye; exit 5")))
        assert await until_ended(watch) == (frozenset([workshop.files()]), frozenset([workshop.files()]))
        assert returned(workshop.state()) == 5
        assert await watch.news(timeout_seconds=3 * TICK_SECONDS) == TurnNews()

    watching(scene)


def test_an_end_wakes_at_once_however_long_the_tick(workshop: Workshop) -> None:
    release = workshop.fifo("release")

    async def scene(watch: TurnWatch) -> None:
        watch.follow(workshop.files(), start_turn(workshop.shell('read _ <"$ROOT/release"')))
        waiting = asyncio.create_task(until_ended(watch))
        await asyncio.sleep(0)
        release.write_text("go\n")
        await waiting

    watching(scene, tick_seconds=10_000)


def test_output_is_news_once_per_growth(workshop: Workshop) -> None:
    more = workshop.fifo("more")

    async def scene(watch: TurnWatch) -> None:
        script = 'echo one; read _ <"$ROOT/more"; echo two >&2; exec sleep 600'
        watch.follow(workshop.files(), start_turn(workshop.shell(script)))
        assert (await watch.news(PATIENCE_SECONDS)).grown == {workshop.files()}
        assert await watch.news(3 * TICK_SECONDS) == TurnNews()
        more.write_text("\n")
        assert (await watch.news(PATIENCE_SECONDS)).grown == {workshop.files()}
        assert workshop.files().err.read_text() == "two\n"

    watching(scene)


@pytest.mark.usefixtures("any_system")
def test_a_turn_that_ended_before_it_was_followed_is_news(workshop: Workshop) -> None:
    shim = start_turn(workshop.shell(":"))
    assert block_until_exit(shim, PATIENCE_SECONDS)

    async def scene(watch: TurnWatch) -> None:
        watch.follow(workshop.files(), shim)
        assert (await until_ended(watch))[0] == {workshop.files()}

    watching(scene)


def test_a_forgotten_turn_is_no_news(workshop: Workshop) -> None:
    async def scene(watch: TurnWatch) -> None:
        kept, dropped = workshop.files(1), workshop.files(2)
        watch.follow(dropped, start_turn(workshop.shell("echo noise", turn=2)))
        watch.forget(dropped)
        watch.follow(kept, start_turn(workshop.shell("echo signal", turn=1)))
        assert await until_ended(watch) == (frozenset([kept]), frozenset([kept]))

    watching(scene)


def test_every_one_of_many_ends_is_news_exactly_once(workshop: Workshop) -> None:
    async def scene(watch: TurnWatch) -> None:
        expected = [workshop.files(turn) for turn in range(1, 41)]
        for turn, files in enumerate(expected, start=1):
            watch.follow(files, start_turn(workshop.shell(":", turn)))
        named: list[TurnFiles] = []
        while len(named) < len(expected):
            named.extend((await until_ended(watch))[0])
        assert sorted(named, key=str) == sorted(expected, key=str)

    watching(scene)


def test_closing_the_watch_leaves_the_turns_running(workshop: Workshop) -> None:
    shim = workshop.start_blocked()

    async def scene(watch: TurnWatch) -> None:
        watch.follow(workshop.files(), shim)

    watching(scene)
    assert same_process(shim)
