"""What takes long has threads of its own: nobody who reads or writes waits for it, and nobody waits for it for ever."""

import asyncio
import threading

import pytest

from paddock.fleet.workspace import Workspace
from paddock.git.repo import discover
from paddock.web import log_threads
from paddock.web.log_threads import LABOURERS, LogThreads, Unfinished
from tests.fleet.yard import Yard


@pytest.fixture
def threads(yard: Yard) -> LogThreads:
    workspace = Workspace(discover(yard.top))
    return LogThreads(lambda: workspace)


def test_what_takes_too_long_is_told_so_and_goes_on_while_others_are_answered(
    threads: LogThreads, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_threads, "LONGEST_SECONDS", 1.0)
    go, done = threading.Event(), threading.Semaphore(0)

    def work() -> None:
        go.wait()
        done.release()

    async def ask() -> None:
        begun = [threads.labour("gc", work) for _ in range(LABOURERS)]
        told = await asyncio.gather(*begun, threads.labour("sync", work), return_exceptions=True)
        assert await threads.read(lambda store: store.head()) == 1
        assert await threads.write("freeze", lambda: "written") == "written"
        *slow, never = (str(one) for one in told if isinstance(one, Unfinished))
        assert slow == ["`gc` is not done after 1 s: it goes on by itself"] * LABOURERS
        assert never.startswith("`sync` is not done after 1 s: others that take long come first")

    asyncio.run(ask())
    go.set()
    for _ in range(LABOURERS):
        assert done.acquire(timeout=60)
    threads.close()
    assert not done.acquire(blocking=False), "what had not begun is dropped"


def test_a_timeout_of_the_work_itself_is_no_answer_that_it_goes_on(threads: LogThreads) -> None:
    def work() -> None:
        raise TimeoutError("of a socket")

    with pytest.raises(TimeoutError, match="of a socket"):
        asyncio.run(threads.labour("sync", work))
    threads.close()
