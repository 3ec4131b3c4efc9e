"""Following a turn's output: lines to trace entries to a summary, in constant memory."""

import asyncio
import glob
from collections.abc import Callable, Iterable

from paddock.core.money.startup import Startup
from paddock.core.summary import TurnSummary, observe
from paddock.core.tasks.edits import EditTally, count_edits
from paddock.core.tasks.repetition import ToolUse, follow
from paddock.core.trace import Partial, Text, TokenUsage, ToolCall, TraceEntry, Usage, UsageScope
from paddock.engines.bridge_lines import reading_parser
from paddock.engines.protocol import Engine, Source
from paddock.fleet.clock import SYSTEM_CLOCK, WallClock
from paddock.sessions.protocol import Line, Running, Sessions, Turn

BREATH_SECONDS = 0.02  # the longest that reading one turn holds up the rest of the fleet
FLOOD_LINES = 200_000  # no CLI says so much in a turn: from here on only what came last is read
FLOOD_TAIL_BYTES = 1 << 16
LAST_TAIL_BYTES = 1 << 20
SESSION_LOG_TRIES = 20  # an engine may begin its file of a conversation some time after it has told the id

Heard = Callable[[TraceEntry, bool], None]
"""Called for every entry as it is read; the flag marks the turn's first use of tokens."""


def nobody(_entry: TraceEntry, _is_first: bool) -> None:
    """A listener that ignores everything."""


def fill_in_session(pattern: str, session: str) -> str:
    return pattern.replace("{session}", glob.escape(session.replace("/", "")))


class TurnReader:
    """Reads what a turn has written so far, each line once.

    `first_step_at` is when the first text or tool call was read, by the wall clock, `step_at` when the latest was;
    `last_event` is when anything was, by the event loop's. `startup` counts calls, if the engine reports them.
    `heard` is told what is new to the fleet, `witness` all of it.
    """

    def __init__(
        self,
        engine: Engine,
        sessions: Sessions,
        turn: Turn,
        heard: Heard = nobody,
        clock: WallClock = SYSTEM_CLOCK,
        session_log: str = "",
        witness: Callable[[TraceEntry], None] = lambda _entry: None,
    ) -> None:
        self.summary = TurnSummary()
        self.tools = ToolUse()
        self.edits = EditTally()
        self.last_event: float | None = None
        self.first_step_at: float | None = None
        self.step_at: float | None = None
        self.startup = Startup()
        self._clock = clock
        self._heard = heard
        self._witness = witness
        self._lines = 0
        self._sessions = sessions
        self._turn = turn
        self._session_log = session_log
        self._session_log_tries = SESSION_LOG_TRIES
        self._parser = reading_parser(engine)
        self._readers = [(reader, Source(stream.value)) for stream, reader in sessions.outputs(turn)]

    async def read(self) -> bool:
        """Reads part of what is new; returns whether the caller should ask for more at once."""
        is_flood = self._lines > FLOOD_LINES
        for reader, source in self._readers:
            if is_flood:
                reader.skip_to_tail(FLOOD_TAIL_BYTES)
            await self._feed(reader.read(), source)
        await asyncio.sleep(0)
        found = await self._find_session_log()
        return found or (not is_flood and not all(reader.at_end for reader, _ in self._readers))

    async def _find_session_log(self) -> bool:
        """Whether the engine's own file of the conversation was just found; for an old one, its end is enough."""
        session = self.summary.session_id
        if not self._session_log or not session or self._session_log_tries <= 0:
            return False
        self._session_log_tries -= 1
        pattern = fill_in_session(self._session_log, session)
        reader = await asyncio.to_thread(self._sessions.find_log, self._turn, pattern)
        if reader is None:
            return False
        reader.skip_to_tail(FLOOD_TAIL_BYTES)
        self._readers.append((reader, Source.LOG))
        self._session_log = ""
        return True

    async def catch_up(self) -> None:
        """What was written under an earlier daemon, which has already reported it."""
        heard, self._heard = self._heard, nobody
        while await self.read():
            pass
        self._heard = heard
        state = self._sessions.observe(self._turn)
        if self.step_at is not None and isinstance(state, Running):
            self.step_at = state.last_output_at

    async def finish(self) -> TurnSummary:
        """The whole turn, once its process has ended."""
        while await self.read():
            pass
        for reader, source in self._readers:
            reader.skip_to_tail(LAST_TAIL_BYTES)
            await self._feed(reader.read(), source)
            while not reader.at_end:
                await self._feed(reader.read(), source)
            await self._feed(reader.finish(), source)
        self._take(self._parser.close())
        return self.summary

    async def _feed(self, lines: Iterable[Line], source: Source) -> None:
        """Yields to the event loop: a megabyte may be half a million lines."""
        loop = asyncio.get_running_loop()
        breath_at = loop.time() + BREATH_SECONDS
        for line in lines:
            self._lines += self._take(self._parser.feed(line.text.encode("utf-8", "surrogateescape"), source))
            if loop.time() > breath_at:
                await asyncio.sleep(0)
                breath_at = loop.time() + BREATH_SECONDS

    def _take(self, entries: Iterable[TraceEntry]) -> int:
        """1 for a line that counts towards a flood: pieces of answers are many and small, and no reason to skip."""
        counts = 1
        for entry in entries:
            self.last_event = asyncio.get_running_loop().time()
            if isinstance(entry, Partial):
                counts = 0
                continue
            self.summary = observe(self.summary, entry)
            self.tools = follow(self.tools, entry)
            self.edits = count_edits(self.edits, entry)
            is_first = self._count_call(entry)
            if isinstance(entry, Text | ToolCall):
                self.step_at = self._clock.now()
                self.first_step_at = self.first_step_at or self.step_at
            self._heard(entry, is_first)
            self._witness(entry)
        return counts

    def _count_call(self, entry: TraceEntry) -> bool:
        """Whether this is the first call that the engine tells the use of. Totals tell of no single call."""
        if not isinstance(entry, Usage) or entry.scope is not UsageScope.DELTA or not entry.tokens.input_total:
            return False
        is_first = not self.startup.calls
        first: TokenUsage = entry.tokens if is_first else self.startup.first
        self.startup = Startup(first, self.startup.calls + 1)
        return is_first
