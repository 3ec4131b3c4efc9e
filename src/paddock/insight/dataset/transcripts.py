"""Following what a turn writes, for its trace: the part that is new, in bounded pieces."""

import re
from collections.abc import Iterable

from paddock.core.errors import PaddockError
from paddock.core.ids import AttemptId
from paddock.engines.bridge_lines import reading_parser
from paddock.engines.protocol import Source
from paddock.fleet.site import Site
from paddock.insight.dataset.histories import AttemptHistory, TurnHistory
from paddock.insight.dataset.tally import TurnTally
from paddock.sessions.protocol import Line, OutputReader, Stream, Turn

PIECE_BYTES = 8 * 1024 * 1024
"""As much is read of a turn before others have their turn."""
FLOOD_LINES = 400_000
FLOOD_TAIL_BYTES = 1 << 20
VERSION_LINES = 20
_VERSION = re.compile(r'"(?:claude_code_version|cli_version|cliVersion|engine_version)" ?: ?"([^"\s]{1,40})"')


class TurnFeed:
    """Reads each line once. `engine_version` is what the engine says of itself at the beginning."""

    def __init__(self, site: Site, attempt: AttemptHistory, turn: TurnHistory, worktree: str) -> None:
        engine = site.engine(attempt.started.engine)
        self.number = turn.number
        self.engine_version = ""
        self.tally = TurnTally(turn.number, worktree, engine.capabilities.tool_starts)
        self._parser = reading_parser(engine)
        self._readers = list(site.sessions.outputs(Turn(attempt.id, turn.number)))
        self._lines = 0
        self._is_over = False

    def size(self) -> int:
        return sum(reader.size() for _, reader in self._readers)

    def read(self, now: float | None = None) -> bool:
        """Whether there is more to read at once. `now` is the time of lines of which nobody has noted it yet."""
        left = PIECE_BYTES
        for stream, reader in self._readers:
            while left > 0:
                before = reader.offset
                lines = reader.read()
                self._feed(stream, reader, lines, now)
                left -= max(reader.offset - before, 1)
                if reader.at_end:
                    break
                if self._lines > FLOOD_LINES:
                    reader.skip_to_tail(FLOOD_TAIL_BYTES)
        return left <= 0

    def finish(self, at: float | None) -> None:
        """What has no end of a line, once the turn has ended at `at`. Call it when there is no more to read."""
        if self._is_over:
            return
        self._is_over = True
        for stream, reader in self._readers:
            self._feed(stream, reader, reader.finish(), at)
        for entry in self._parser.close():
            self.tally.take(entry, at)
        self.tally.close(at)

    def _feed(self, stream: Stream, reader: OutputReader, lines: Iterable[Line], now: float | None) -> None:
        source, times = Source(stream.value), _Times(reader, now)
        for line in lines:
            self._lines += 1
            if self._lines <= VERSION_LINES and not self.engine_version:
                self._look_for_version(line.text)
            if stream is Stream.STDERR:
                self.tally.hear(line.text)
            for entry in self._parser.feed(line.text.encode("utf-8", "surrogateescape"), source):
                self.tally.take(entry, times.of(line))

    def _look_for_version(self, text: str) -> None:
        if text.startswith("{") and (found := _VERSION.search(text[:20_000])):
            self.engine_version = found[1]


class _Times:
    """When lines of one piece were written. Once one of them is later than what was noted, so are all that follow."""

    def __init__(self, reader: OutputReader, now: float | None) -> None:
        self._reader = reader
        self._now = now
        self._offset = -1
        self._at: float | None = None
        self._is_noted = True

    def of(self, line: Line) -> float | None:
        if line.offset != self._offset:
            self._offset = line.offset
            if self._is_noted:
                self._at = self._reader.written_at(line.offset)
                self._is_noted = self._at is not None
            if not self._is_noted:
                self._at = self._now
        return self._at


def open_feed(site: Site, attempt: AttemptHistory, turn: TurnHistory, worktree: str) -> TurnFeed | None:
    """None where its engine is not there any more, or where a person sat in its terminal: that leaves no output."""
    if turn.interactive:
        return None
    try:
        return TurnFeed(site, attempt, turn, worktree)
    except PaddockError:
        return None


def has_output(site: Site, attempt: AttemptId) -> bool:
    """Whether anything is left of what it wrote."""
    return site.attempt_folder(attempt).is_dir()
