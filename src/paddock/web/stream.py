"""`GET /api/v1/events`: server-sent events for one page, from the record it names for as long as it reads."""

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from itertools import islice
from typing import Annotated

from msgspec import Meta
from starlette.types import Receive, Scope, Send

from paddock.core.errors import PaddockError
from paddock.store.protocol import Query, Store
from paddock.views.document import to_json_line
from paddock.web.broadcast import Broadcast, ReadLog, ToldLine, lines_of
from paddock.web.channels import Channel
from paddock.web.endpoint import Asked

PULSE_SECONDS = 5.0
PIECE = 200
"""Records in one piece."""
RETRY = b"retry: 1000\n\n"


class StreamQuery(Asked, frozen=True):
    """`after` is the last record that is known already. `view` is what else to tell: each a live view, such as `board`;
    `have` is `VIEW:MARK` for what is known of one. With `brief`, records come without their bodies."""

    after: Annotated[int, Meta(ge=0)] | None = None
    view: Annotated[tuple[str, ...], Meta(max_length=4)] = ()
    have: Annotated[tuple[str, ...], Meta(max_length=4)] = ()
    brief: bool = False


class EventStream:
    """An answer that ends when the client leaves, the server ends, or the client is too slow."""

    def __init__(self, broadcast: Broadcast, read_log: ReadLog, query: StreamQuery, last_id: int | None) -> None:
        self._broadcast, self._read_log, self._query = broadcast, read_log, query
        self._at = last_id if last_id is not None else query.after
        self._identity = ""
        self._marks = dict(have.rpartition(":")[::2] for have in query.have)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises PaddockError, before anything is sent, for a view that does not exist."""
        views = tuple(dict.fromkeys(self._query.view))
        prepared = await self._broadcast.prepare(views, self._read_log)
        with self._broadcast.watched(views, prepared) as channels:
            await stream_while_read(receive, send, self._tell(send, channels))

    async def _tell(self, send: Send, channels: Sequence[Channel]) -> None:
        loop = asyncio.get_running_loop()
        if self._at is not None and self._at > self._broadcast.seq:
            self._broadcast.catch_up()  # a thread may have told it what nobody has looked at yet
        self._begin_in_log()
        await send_piece(send, RETRY + self._pulse())
        pulse_at, trouble = loop.time() + PULSE_SECONDS, self._broadcast.trouble
        while not self._broadcast.closed and self._is_true_still():
            changed = self._broadcast.changed
            if loop.time() >= pulse_at or trouble != self._broadcast.trouble:
                trouble = self._broadcast.trouble
                await send_piece(send, self._pulse())
                pulse_at = loop.time() + PULSE_SECONDS
            if piece := await self._next_records() + self._next_views(channels):
                await send_piece(send, piece)
                continue
            with suppress(TimeoutError):
                async with asyncio.timeout_at(pulse_at):
                    await changed.wait()

    def _begin_in_log(self) -> None:
        """Once there is one that can be read."""
        self._identity = self._broadcast.identity
        if self._identity and (self._at is None or self._at > self._broadcast.seq):
            self._at = self._broadcast.seq

    def _is_true_still(self) -> bool:
        """What the other end was told is not, if another log is in its place, or an older state of it."""
        if not self._identity:
            self._begin_in_log()
        same = self._identity == self._broadcast.identity
        return same and (not self._identity or self._at is None or self._at <= self._broadcast.seq)

    async def _next_records(self) -> bytes:
        """What comes next; empty if there is nothing yet."""
        if not self._identity or self._at is None:
            return b""
        lines = self._broadcast.lines_after(self._at)
        if lines is None:
            lines = await self._read_older(self._at)
        lines = lines[:PIECE]
        if lines:
            self._at = lines[-1].seq
        return b"".join(line.encode(brief=self._query.brief) for line in lines)

    def _next_views(self, channels: Sequence[Channel]) -> bytes:
        pieces: list[bytes] = []
        for channel in channels:
            pieces += channel.since(self._marks.get(channel.name))
            self._marks[channel.name] = channel.mark
        return b"".join(pieces)

    async def _read_older(self, after: int) -> list[ToldLine]:
        until = self._broadcast.seq  # whoever is ahead of it when they come again would be told the rest twice

        def read(store: Store) -> list[ToldLine]:
            return lines_of(islice(store.records(Query(after=after, until=until)), PIECE), store.board())

        try:
            return await self._read_log(read)
        except PaddockError:
            return []  # the pulse tells why

    def _pulse(self) -> bytes:
        return b"event: pulse\ndata: %s\n\n" % to_json_line(self._broadcast.pulse())


async def stream_while_read(receive: Receive, send: Send, telling: Coroutine[None, None, None]) -> None:
    """Until `telling` is over, or nobody reads any more."""
    await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
    told = asyncio.ensure_future(telling)
    leaving = asyncio.ensure_future(_until_gone(receive))
    await asyncio.wait({told, leaving}, return_when=asyncio.FIRST_COMPLETED)
    leaving.cancel()
    told.cancel()
    with suppress(asyncio.CancelledError, OSError):
        await told
    with suppress(OSError):
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def send_piece(send: Send, text: bytes) -> None:
    await send({"type": "http.response.body", "body": text, "more_body": True})


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def last_event_id(header: str | None) -> int | None:
    """What a browser that reconnects says it has seen; what is no number counts as nothing."""
    return int(header) if header is not None and header.isascii() and header.isdecimal() and len(header) < 19 else None


_HEADERS: list[tuple[bytes, bytes]] = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]
