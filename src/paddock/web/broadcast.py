"""What every open page is told, made once for all of them: records of the log as they come, and live views.

Lives in the event loop's thread, with one log that stays open. It is woken by commits, and does nothing while nobody
watches. Streams have no buffers of their own: each has a place in what is kept here, and one that falls behind reads
the log again.
"""

import asyncio
import sys
import time
import traceback
from bisect import bisect_right
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import MappingProxyType
from typing import Protocol, TypeVar

import msgspec

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import Record
from paddock.fleet.service.presence import look_for_daemon
from paddock.fleet.workspace import Workspace
from paddock.store.protocol import Listener, LogUnusable, Query, Store
from paddock.views.document import iso, to_json_line
from paddock.views.log.records import in_brief, tell_record
from paddock.views.sight import LiveView, Sight, sight_of
from paddock.web.channels import Channel, Channels, view_named

KEPT_RECORDS = 2_000
LOOK_SECONDS = 0.1
"""At least this long between two looks, however many commits wake us."""
TICK_SECONDS = 1.0
RESTS = 8
"""After a look that failed, so many times as long as that took: every page of the server waits meanwhile."""
PATIENCE_SECONDS = 0.2
"""With a log that another program has locked: every page waits meanwhile, and it is looked at again soon."""


class PulseView(msgspec.Struct, frozen=True):
    """`seq` is the newest record; `daemon` is running, silent, gone or none; `log` is why the log cannot be read.
    `log_hint` is what helps then. `identity` is another one where another log is in its place; empty while none was
    read."""

    now: str
    seq: int
    daemon: str
    log: str = ""
    log_hint: str = ""
    identity: str = ""


class ToldLine:
    """A record, encoded once for all streams."""

    __slots__ = ("_brief", "_full", "_view", "seq")

    def __init__(self, record: Record, board: Board) -> None:
        self.seq = record.seq
        self._view = tell_record(record, board)
        self._full = self._brief = b""

    def encode(self, *, brief: bool) -> bytes:
        if brief:
            self._brief = self._brief or _event(self.seq, in_brief(self._view))
            return self._brief
        self._full = self._full or _event(self.seq, self._view)
        return self._full


def _event(seq: int, view: msgspec.Struct) -> bytes:
    return b"id: %d\ndata: %s\n\n" % (seq, to_json_line(view))


def lines_of(records: Iterable[Record], board: Board) -> list[ToldLine]:
    return [ToldLine(record, board) for record in records]


T = TypeVar("T")


class ReadLog(Protocol):
    """Has a thread read the log."""

    def __call__(self, use: Callable[[Store], T], /) -> Awaitable[T]: ...


class Broadcast:
    """`workspace_of` gives the workspace as it is configured now."""

    def __init__(self, workspace_of: Callable[[], Workspace]) -> None:
        self._workspace_of = workspace_of
        self._store: Store | None = None
        self._listener: Listener | None = None
        self._lines: deque[ToldLine] = deque(maxlen=KEPT_RECORDS)
        self._floor = 0
        """The record before the first that is kept."""
        self._seq = 0
        self.identity = ""
        """Of the log that was read last: another one is in its place where this differs."""
        self._looked_at = self._rest_until = 0.0
        self._due: asyncio.TimerHandle | None = None
        self._ticking: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self.trouble = ""
        """Why the log cannot be read; empty if it can."""
        self.trouble_hint = ""
        self._channels = Channels()
        self._first_looks: dict[str, asyncio.Task[LiveView]] = {}
        self.streams = 0
        self.closed = False

    async def prepare(self, views: Sequence[str], read: ReadLog) -> dict[str, LiveView]:
        """Those that nobody has watched yet, each looked at once by a thread: a first look reads much of a long log,
        and other streams must not wait for it. Raises PaddockError: NotFound for an unknown one."""
        made: dict[str, LiveView] = {}
        for name in views:
            if name not in self._channels:
                if name not in self._first_looks:
                    self._first_looks[name] = asyncio.ensure_future(self._look_first(name, read))
                made[name] = await asyncio.shield(self._first_looks[name])
        return made

    async def _look_first(self, name: str, read: ReadLog) -> LiveView:
        def look(store: Store) -> None:
            view.look(sight_of(self._workspace_of(), store, time.time()))

        try:
            view = view_named(name)
            try:
                await read(look)
            except Exception:  # whoever watches it looks again, and tells what is wrong
                return view_named(name)
            return view
        finally:
            del self._first_looks[name]

    @contextmanager
    def watched(
        self, views: Sequence[str] = (), prepared: Mapping[str, LiveView] = MappingProxyType({})
    ) -> Iterator[list[Channel]]:
        """As long as a stream is open that shows these views. Raises PaddockError: NotFound for an unknown one."""
        self.streams += 1
        if self._ticking is None:
            self._look()
            self._ticking = asyncio.get_running_loop().create_task(self._tick())
        channels: list[Channel] = []
        try:
            for name in views:
                channels.append(self._channels.open(name, self._sight, prepared.get(name)))
                channels[-1].watchers += 1
            yield channels
        finally:
            for channel in channels:
                channel.watchers -= 1
            self.streams -= 1
            if self.streams == 0 and self._ticking is not None:
                self._ticking.cancel()
                self._ticking = None

    @property
    def changed(self) -> asyncio.Event:
        """Set at the next change; ask for it before looking for what is there."""
        return self._changed

    @property
    def seq(self) -> int:
        return self._seq

    def catch_up(self) -> None:
        """Now, without being woken."""
        self._look()

    def lines_after(self, seq: int) -> list[ToldLine] | None:
        """None if they are not kept here any more: then the log has them."""
        if seq < self._floor:
            return None
        kept = self._lines
        if not kept or seq >= kept[-1].seq:
            return []
        first = bisect_right(kept, seq, key=lambda line: line.seq)
        return [kept[index] for index in range(first, len(kept))]

    def pulse(self) -> PulseView:
        now = time.time()
        daemon = look_for_daemon(self._store.known(), now).presence.value if self._store is not None else "none"
        return PulseView(iso(now), self._seq, daemon, self.trouble, self.trouble_hint, self.identity)

    def close(self) -> None:
        """Every stream ends now."""
        self.closed = True
        self._tell()
        if self._ticking is not None:
            self._ticking.cancel()
        if self._due is not None:
            self._due.cancel()
        self._let_go()

    def _heard(self) -> None:
        """After a commit. The first of several is answered at once, the others together a little later."""
        if not self.streams or self._due is not None or self.closed:
            return
        loop = asyncio.get_running_loop()
        wait = max(0.0, self._looked_at + LOOK_SECONDS - loop.time())
        self._due = loop.call_later(wait, self._look)

    async def _tick(self) -> None:
        """A wake-up may be lost, and some of what is shown depends on the time."""
        while True:
            await asyncio.sleep(TICK_SECONDS)
            self._look()

    def _look(self) -> None:
        """Also answers the wake-up that is due: left to come, it would have this look twice as often from then on."""
        if self._due is not None:
            self._due.cancel()
            self._due = None
        loop = asyncio.get_running_loop()
        self._looked_at = loop.time()
        if self._looked_at < self._rest_until:
            return
        try:
            moved = self._read()
        except Exception as error:  # whatever it is, streams go on, and the next look may find it gone
            self._let_go()
            words = str(error) or type(error).__name__
            if words != self.trouble and not isinstance(error, (PaddockError, OSError)):
                traceback.print_exc(file=sys.stderr)
            moved, self.trouble = True, words
            self.trouble_hint = (error.hint or "") if isinstance(error, PaddockError) else ""
            self._rest_until = loop.time() + RESTS * (loop.time() - self._looked_at)
        if moved:
            self._tell()

    def _read(self) -> bool:
        """Whether there is anything new."""
        store = self._open()
        if not store.exists():
            raise LogUnusable("the log was removed, or another one is in its place")
        was_troubled, self.trouble, self.trouble_hint = self.trouble, "", ""
        moved = store.head() != self._seq and self._read_records(store)
        seen = self._channels.is_watched and self._channels.look(self._sight())
        return moved or seen or bool(was_troubled)

    def _sight(self) -> Sight:
        return self._channels.sight(self._workspace_of(), self._open(), time.time())

    def _read_records(self, store: Store) -> bool:
        board = store.board()
        if not self.identity:
            self._identify(store, board)
        if board.seq < self._seq or board.seq - self._seq > KEPT_RECORDS:
            self._lines.clear()
            self._floor = self._seq = board.seq
            return True
        fresh = lines_of(store.records(Query(after=self._seq, until=board.seq)), board)
        for line in fresh:
            if len(self._lines) == KEPT_RECORDS:
                self._floor = self._lines[0].seq
            self._lines.append(line)
        self._seq = board.seq
        return True

    def _open(self) -> Store:
        if self._store is None:
            self._store = self._workspace_of().read(PATIENCE_SECONDS)
            self._listener = self._store.listen()
            self._listener.tell(self._heard)
            board = self._store.board()
            self._identify(self._store, board)
            self._lines.clear()
            self._floor = self._seq = board.seq
        return self._store

    def _identify(self, store: Store, board: Board) -> None:
        self.identity = store.record(1).hash.hex()[:16] if board.seq else ""

    def _let_go(self) -> None:
        store, listener, self._store, self._listener = self._store, self._listener, None, None
        self._channels.forget()
        with suppress(PaddockError, OSError):
            if listener is not None:
                listener.close()
            if store is not None:
                store.close()

    def _tell(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
