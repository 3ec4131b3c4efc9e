"""Following what a turn writes, for its trace: the part that is new, in bounded pieces."""

import re
from collections import deque
from collections.abc import Iterable

from paddock.core.errors import PaddockError
from paddock.core.ids import AttemptId
from paddock.engines.bridge_lines import reading_parser
from paddock.engines.protocol import Source
from paddock.fleet.site import Site
from paddock.insight.dataset.histories import AttemptHistory, TurnHistory
from paddock.insight.dataset.tally import TurnTally
from paddock.sessions.protocol import Line, Stream, Turn

PIECE_BYTES = 8 * 1024 * 1024
"""As much is read of a turn before others have their turn."""
WAITING_SECONDS = 20.0
MOST_WAITING_CHARS = 4 << 20
"""Lines of which nobody notes the time wait no longer, and no more of them."""
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
        self._waiting: deque[Line] = deque()
        self._waiting_chars = 0
        self._waits_since: float | None = None
        self._is_over = False

    def size(self) -> int:
        return sum(reader.size() for _, reader in self._readers)

    def read(self, now: float | None = None) -> bool:
        """Whether there is more to read at once. For who reads on, `now` is the time of lines of which nobody notes it;
        without it these have none."""
        left = PIECE_BYTES
        for stream, reader in self._readers:
            while left > 0:
                before = reader.offset
                self._take(stream, reader.read())
                left -= max(reader.offset - before, 1)
                if reader.at_end:
                    break
                if self._lines > FLOOD_LINES:
                    reader.skip_to_tail(FLOOD_TAIL_BYTES)
        self._release(now)
        return left <= 0

    def finish(self, at: float | None) -> None:
        """What has no end of a line, once the turn has ended at `at`. Call it when there is no more to read."""
        if self._is_over:
            return
        self._is_over = True
        for stream, reader in self._readers:
            self._take(stream, reader.finish())
        self._release(None)
        for entry in self._parser.close():
            self.tally.take(entry, at)
        self.tally.close(at)

    def _take(self, stream: Stream, lines: Iterable[Line]) -> None:
        """Lines of standard output wait until it is noted when they were written, so that it does not matter when they
        are read. Of the others nobody notes that."""
        for line in lines:
            self._lines += 1
            if stream is Stream.STDOUT:
                self._waiting.append(line)
                self._waiting_chars += len(line.text)
                if self._waiting_chars > MOST_WAITING_CHARS:
                    self._release(None)
                continue
            if stream is Stream.STDERR:
                self.tally.hear(line.text)
            self._feed(stream, line, None)

    def _release(self, now: float | None) -> None:
        output = self._readers[0][1]
        at: float | None = None
        offset = -1
        while self._waiting:
            line = self._waiting[0]
            if line.offset != offset:
                offset, at = line.offset, output.written_at(line.offset)
            if at is not None:
                self._waits_since = None
            elif not self._waits_no_longer(now):
                return
            self._waiting.popleft()
            self._waiting_chars -= len(line.text)
            self._feed(Stream.STDOUT, line, now if at is None else at)
        self._waits_since = None

    def _waits_no_longer(self, now: float | None) -> bool:
        if now is None:
            return True
        if self._waits_since is None:
            self._waits_since = now
        return not 0 <= now - self._waits_since < WAITING_SECONDS

    def _feed(self, stream: Stream, line: Line, at: float | None) -> None:
        if self._lines <= VERSION_LINES and not self.engine_version:
            self._look_for_version(line.text)
        heard = stream is Stream.STDERR
        for entry in self._parser.feed(line.text.encode("utf-8", "surrogateescape"), Source(stream.value)):
            self.tally.take(entry, at, heard=heard)

    def _look_for_version(self, text: str) -> None:
        if text.startswith("{") and (found := _VERSION.search(text[:20_000])):
            self.engine_version = found[1]


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
