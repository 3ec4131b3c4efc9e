"""What all pages are told is made once, and what takes long is made where nobody waits for it."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import pytest
from starlette.types import Message

from paddock.core.errors import NotFound
from paddock.core.events import Draft, TaskAdded, TaskEdited
from paddock.core.ids import task_id
from paddock.fleet.workspace import Workspace
from paddock.store.protocol import Author, Store
from paddock.store.sqlite import SqliteStore
from paddock.web.broadcast import Broadcast
from paddock.web.stream import EventStream, StreamQuery
from tests.views.eyes import workspace_in

T = TypeVar("T")
ANA = Author("ana@harbor")


class Threads:
    """Reads in a thread each, as the server's do."""

    def __init__(self, open_log: Callable[[], Store]) -> None:
        self._open_log = open_log
        self.used: list[int] = []

    def read(self, use: Callable[[Store], T], /) -> Awaitable[T]:
        return asyncio.to_thread(self._with_log, use)

    def _with_log(self, use: Callable[[Store], T]) -> T:
        self.used.append(threading.get_ident())
        with closing(self._open_log()) as store:
            return use(store)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    workspace = workspace_in(tmp_path)
    workspace.state_dir.mkdir(parents=True, exist_ok=True)
    with closing(SqliteStore(workspace.log.file, create=True)) as store:
        store.append(lambda _: [Draft(TaskAdded("Parse durations", "All of them."), task=task_id(1))], ANA)
    return workspace


@pytest.fixture
def broadcast(workspace: Workspace) -> Broadcast:
    return Broadcast(lambda: workspace)


def _first_whole(broadcast: Broadcast, threads: Threads, pages: int) -> list[bytes]:
    async def open_page() -> bytes:
        prepared = await broadcast.prepare(["board"], threads.read)
        with broadcast.watched(["board"], prepared) as [channel]:
            await asyncio.sleep(0)
            return channel.since(None)[0]

    async def open_all() -> list[bytes]:
        return await asyncio.gather(*(open_page() for _ in range(pages)))

    try:
        return asyncio.run(open_all())
    finally:
        broadcast.close()


def test_the_first_look_at_a_view_is_taken_once_by_a_thread_for_all_pages(
    broadcast: Broadcast, workspace: Workspace
) -> None:
    threads = Threads(workspace.read)
    wholes = _first_whole(broadcast, threads, pages=5)
    assert len(threads.used) == 1
    assert threads.used[0] != threading.get_ident()
    assert all(b"Parse durations" in whole for whole in wholes)


def test_a_page_is_told_what_came_between_the_first_look_and_its_stream(
    broadcast: Broadcast, workspace: Workspace
) -> None:
    async def open_page() -> bytes:
        prepared = await broadcast.prepare(["board"], threads.read)
        with closing(SqliteStore(workspace.log.file)) as store:
            store.append(lambda _: [Draft(TaskEdited(title="Parse dates"), task=task_id(1))], ANA)
        with broadcast.watched(["board"], prepared) as [channel]:
            return channel.since(None)[0]

    threads = Threads(workspace.read)
    whole = asyncio.run(open_page())
    broadcast.close()
    assert b"Parse dates" in whole
    assert b"Parse durations" not in whole


def test_a_first_look_that_fails_is_taken_again_by_the_stream(broadcast: Broadcast) -> None:
    def no_log() -> Store:
        raise OSError("no file can be opened")

    assert b"Parse durations" in _first_whole(broadcast, Threads(no_log), pages=1)[0]


def test_an_unknown_view_is_refused_before_anybody_looks(broadcast: Broadcast, workspace: Workspace) -> None:
    threads = Threads(workspace.read)
    with pytest.raises(NotFound):
        asyncio.run(broadcast.prepare(["weather"], threads.read))
    assert threads.used == []


def test_a_page_that_knows_more_than_was_looked_at_gets_no_record_twice(
    broadcast: Broadcast, workspace: Workspace
) -> None:
    """A thread may have read it to the page, which left and came back at once."""
    sent: list[bytes] = []
    news = asyncio.Event()

    def write(title: str) -> int:
        with closing(SqliteStore(workspace.log.file)) as store:
            store.append(lambda _: [Draft(TaskEdited(title=title), task=task_id(1))], ANA)
            return store.head()

    async def send(message: Message) -> None:
        sent.append(message.get("body", b""))
        news.set()

    async def told(text: bytes) -> None:
        while text not in b"".join(sent):
            news.clear()
            await news.wait()

    async def receive() -> Message:
        await told(b"event: pulse")
        await told(b"id: %d\n" % write("Parse years"))
        return {"type": "http.disconnect"}

    async def come_back() -> int:
        with broadcast.watched():
            known = write("Parse dates")
            stream = EventStream(broadcast, Threads(workspace.read).read, StreamQuery(after=known, brief=True), None)
            await stream({}, receive, send)
            return known

    known = asyncio.run(come_back())
    broadcast.close()
    assert b"id: %d\n" % known not in b"".join(sent)


def test_a_look_between_answers_the_wake_up_that_was_due(broadcast: Broadcast) -> None:
    """One that came all the same would start another, and all pages would be told twice as often from then on."""

    async def look_between() -> bool:
        with broadcast.watched(["board"]):
            broadcast._heard()
            due = broadcast._due
            broadcast.catch_up()
            return due is not None and due.cancelled() and broadcast._due is None

    try:
        assert asyncio.run(look_between())
    finally:
        broadcast.close()
