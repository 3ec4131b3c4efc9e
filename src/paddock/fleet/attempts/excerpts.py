"""Parts of a turn's transcript, from either end of an output of any length, without reading the rest of it.

An entry's number is its place: the offset of its line in the turn's output, and which of that line's entries it is. So
whoever has seen one can ask for what came before it or after it, also from another process, and nobody keeps an index.
Reading begins somewhat before the first entry that is wanted, because the formats of engines have a little memory.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from paddock.core import trace
from paddock.core.tasks.task import Attempt
from paddock.engines.bridge_lines import reading_parser
from paddock.engines.protocol import Parser, Source
from paddock.fleet.attempts.preparation import SETUP_OUTPUT
from paddock.fleet.raw_output import RawPart, read_file_end, read_part
from paddock.fleet.site import Site
from paddock.sessions.protocol import Line, OutputReader, Stream, Turn

ENTRIES_PER_LINE = 256
MOST_ENTRIES = 1_000
FIRST_WINDOW_BYTES = 256 * 1024
LAST_WINDOW_BYTES = 16 * 1024 * 1024
WARM_UP_BYTES = 64 * 1024
FORWARD_BYTES = 4 * 1024 * 1024
ASIDE_BYTES = 64 * 1024
ASIDE_ENTRIES = 20
UNFINISHED_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class PlacedEntry:
    """`at` is when it was written, None if nobody noted it."""

    number: int
    at: float | None
    entry: trace.TraceEntry


@dataclass(frozen=True, slots=True)
class Excerpt:
    """`first` and `last` bound what was looked at, entries or none: ask for what is before the one, after the other.

    `more_before` and `more_after`: there is more to read. `unfinished` is the answer that is being written. `aside` is
    what standard error and other logs of the turn tell, from their ends.
    """

    entries: tuple[PlacedEntry, ...]
    first: int
    last: int
    more_before: bool
    more_after: bool
    unfinished: str = ""
    aside: tuple[trace.TraceEntry, ...] = ()


def read_end(site: Site, attempt: Attempt, turn: int, most: int, before: int | None = None) -> Excerpt:
    """The last entries of a turn, or the last before the one with that number."""
    most = max(1, min(most, MOST_ENTRIES))
    output = _Output(site, attempt, turn)
    end = output.size() if before is None else before // ENTRIES_PER_LINE + 1
    window = FIRST_WINDOW_BYTES
    while True:
        start = max(0, end - window)
        scan = _Scan(output.parser(), start, most, until=before)
        scan.read(output.reader(start), output.is_over, end if before is not None else None)
        if start == 0 or len(scan.found) >= most or window >= LAST_WINDOW_BYTES:
            break
        window *= 4
    first = scan.found[0].number if scan.found else start * ENTRIES_PER_LINE
    more = start > 0 or scan.has_dropped
    aside = output.aside() if before is None else ()
    return Excerpt(tuple(scan.found), first, max(first - 1, scan.last), more, False, scan.unfinished, aside)


def read_on(site: Site, attempt: Attempt, turn: int, most: int, after: int) -> Excerpt:
    """The first entries after the one with that number."""
    most = max(1, min(most, MOST_ENTRIES))
    output = _Output(site, attempt, turn)
    start = max(0, after // ENTRIES_PER_LINE - WARM_UP_BYTES)
    scan = _Scan(output.parser(), start, most, after=after)
    at_end = scan.read(output.reader(start), output.is_over, most_bytes=WARM_UP_BYTES + FORWARD_BYTES)
    first = scan.found[0].number if scan.found else after + 1
    aside = output.aside()
    return Excerpt(tuple(scan.found), first, max(after, scan.last), after >= 0, not at_end, scan.unfinished, aside)


def output_size(site: Site, attempt: Attempt, turn: int) -> int:
    """In bytes: it tells that there is more to read."""
    return _Output(site, attempt, turn).size()


class _Output:
    """What a turn writes, to be read from anywhere."""

    def __init__(self, site: Site, attempt: Attempt, turn: int) -> None:
        self._site, self._attempt, self._turn = site, attempt, Turn(attempt.id, turn)
        self.is_over = not (attempt.live and attempt.turn == turn and attempt.turn_open)

    def parser(self) -> Parser:
        return reading_parser(self._site.engine(self._attempt.engine))

    def reader(self, offset: int = 0) -> OutputReader:
        return self._site.sessions.output(self._turn, Stream.STDOUT, offset)

    def size(self) -> int:
        return self.reader().size()

    def aside(self) -> tuple[trace.TraceEntry, ...]:
        found: deque[trace.TraceEntry] = deque(maxlen=ASIDE_ENTRIES)
        parser = self.parser()
        for stream, reader in self._site.sessions.outputs(self._turn):
            if stream is Stream.STDOUT:
                continue
            for line in _tail(reader, ASIDE_BYTES):
                entries = parser.feed(line.text.encode("utf-8", "surrogateescape"), Source(stream.value))
                found.extend(entry for entry in entries if is_shown(entry))
        return tuple(found)


@dataclass(slots=True)
class _Scan:
    """Entries of a part of the output that begins at `start`. With `after` the first ones beyond that number are kept,
    otherwise the last ones, before the number `until` if there is one."""

    parser: Parser
    start: int
    most: int
    after: int | None = None
    until: int | None = None
    found: deque[PlacedEntry] = field(default_factory=deque)
    has_dropped: bool = False
    last: int = -1
    unfinished: str = ""

    def read(self, reader: OutputReader, is_over: bool, end: int | None = None, most_bytes: int | None = None) -> bool:
        """Up to the line at `end`. Whether that was all there is. Where it `is_over`, the last line needs no end."""
        while (lines := reader.read()) or not reader.at_end:
            for line in lines:
                is_full = self.after is not None and len(self.found) >= self.most
                if is_full or (end is not None and line.offset >= end):
                    return False
                self._take(line, reader)
            if most_bytes is not None and reader.offset > self.start + most_bytes and not reader.at_end:
                return False
        if is_over and end is None:
            for line in reader.finish():
                self._take(line, reader)
            self._place(reader.size(), None, self.parser.close())
        return True

    def _take(self, line: Line, reader: OutputReader) -> None:
        entries = self.parser.feed(line.text.encode("utf-8", "surrogateescape"), Source.STDOUT)
        self._place(line.offset, reader.written_at(line.offset), entries)

    def _place(self, offset: int, at: float | None, entries: Iterable[trace.TraceEntry]) -> None:
        number = offset * ENTRIES_PER_LINE
        self.last = number + ENTRIES_PER_LINE - 1
        for entry in entries:
            if isinstance(entry, trace.Partial):
                self.unfinished = f"{self.unfinished}{entry.text}"[-UNFINISHED_CHARS:]
            elif self._is_wanted(entry) and number < self.last:
                self._keep(PlacedEntry(number, at, entry))
                number += 1

    def _is_wanted(self, entry: trace.TraceEntry) -> bool:
        """Whoever begins in the middle believes that the conversation began there."""
        return is_shown(entry) and not (isinstance(entry, trace.SessionStarted) and self.start > 0)

    def _keep(self, placed: PlacedEntry) -> None:
        self.unfinished = ""
        if (self.after is not None and placed.number <= self.after) or (
            self.until is not None and placed.number >= self.until
        ):
            return
        self.found.append(placed)
        if self.after is None and len(self.found) > self.most:
            self.found.popleft()
            self.has_dropped = True


def is_shown(entry: trace.TraceEntry) -> bool:
    """Not what only counts, or only shows that the agent is alive."""
    if isinstance(entry, trace.Usage):
        return entry.scope is not trace.UsageScope.DELTA or entry.tokens.cost_usd is not None
    return not isinstance(entry, trace.Partial | trace.Progress | trace.WindowsTold)


def _tail(reader: OutputReader, most_bytes: int) -> Iterator[Line]:
    reader.skip_to_tail(most_bytes)
    while (lines := reader.read()) or not reader.at_end:
        yield from lines


def read_raw(site: Site, attempt: Attempt, turn: int, start: int | None = None, before: int | None = None) -> RawPart:
    """From an offset that another part ended at; without one, the end of the output, or of what is `before` another
    part. Before its first turn an attempt has only what the set-up of its worktree printed."""
    if not turn:
        return read_file_end(site.attempt_folder(attempt.id) / SETUP_OUTPUT)
    output = _Output(site, attempt, turn)
    return read_part(output.reader, start, is_over=output.is_over, before=before)
