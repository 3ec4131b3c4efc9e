"""The evidence an attempt left: the calls it made, the files it touched, the last lines of a failure."""

import contextlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from paddock.core.errors import PaddockError
from paddock.core.ids import recordable
from paddock.core.tasks.task import Attempt
from paddock.core.trace import Error, RateLimited, ToolCall, TraceEntry
from paddock.engines.bridge_lines import reading_parser
from paddock.engines.protocol import Engine, Source
from paddock.fleet.site import Site
from paddock.git.worktrees.delivery import Glimpse, glimpse
from paddock.git.worktrees.prepare import find
from paddock.sessions.protocol import Line, OutputReader, Stream, Turn

FILES_LIMIT = 1_000
STDERR_BYTES = 16 * 1024
STDERR_LINES = 10
# Only the end of a longer output is read, so that a person need not wait for it.
OUTPUT_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class TouchedFile:
    """`how` is git's letter: A added, M changed, D deleted, T another kind of file; `?` is not committed."""

    how: str
    path: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """`tools` counts calls by tool. `worktree` is where it works, or has worked as far as the log tells."""

    worktree: str = ""
    files: tuple[TouchedFile, ...] = ()
    tools: tuple[tuple[str, int], ...] = ()
    last_error: str = ""
    stderr: tuple[str, ...] = ()


def gather(site: Site, attempt: Attempt) -> Evidence:
    """Blocks on git and on files; skips what is gone."""
    tools: Counter[str] = Counter()
    last_error = ""
    for turn in range(1, attempt.turn + 1):
        for entry in turn_entries(site, attempt, turn):
            if isinstance(entry, ToolCall):
                tools[entry.tool] += 1
            elif isinstance(entry, Error | RateLimited) and entry.message:
                last_error = entry.message
    worktree = find(site.root, attempt.id)
    path = worktree.path if worktree is not None else None
    seen = _glimpse(site, attempt) if attempt.live else None
    return Evidence(
        worktree=str(path) if path is not None else attempt.worktree,
        files=_touched(site, attempt, seen),
        tools=tuple(tools.most_common()),
        last_error=last_error,
        stderr=_stderr(site, attempt),
    )


def turn_entries(site: Site, attempt: Attempt, turn: int, last_bytes: int = OUTPUT_BYTES) -> Iterator[TraceEntry]:
    """What a turn's output tells, of a long one from its end; nothing where its engine is gone."""
    try:
        engine: Engine = site.engine(attempt.engine)
    except PaddockError:
        return
    parser = reading_parser(engine)
    output = site.sessions.output(Turn(attempt.id, turn), Stream.STDOUT)
    for line in _lines(output, last_bytes):
        yield from parser.feed(line.text.encode("utf-8", "surrogateescape"), Source.STDOUT)


def _lines(reader: OutputReader, last_bytes: int) -> Iterator[Line]:
    reader.skip_to_tail(last_bytes)
    while (lines := reader.read()) or not reader.at_end:
        yield from lines
    yield from reader.finish()


def _glimpse(site: Site, attempt: Attempt) -> Glimpse | None:
    with contextlib.suppress(OSError, PaddockError):
        return glimpse(site.root, attempt.id)
    return None


def _touched(site: Site, attempt: Attempt, seen: Glimpse | None) -> tuple[TouchedFile, ...]:
    """What the attempt committed, then what is uncommitted in its worktree."""
    head = attempt.head or (seen.head if seen is not None else None)
    found: list[TouchedFile] = []
    if head is not None:
        words = ("diff-tree", "-r", "-z", "--name-status", "--no-renames", "--no-ext-diff", attempt.base, head)
        told = site.repo.git(*words, check=False)
        fields = told.records if told.ok else []
        found += [TouchedFile(how, recordable(path)) for how, path in zip(fields[::2], fields[1::2], strict=False)]
    if seen is not None:
        found += [TouchedFile("?", recordable(path)) for path in seen.dirty.paths]
    return tuple(found[:FILES_LIMIT])


def _stderr(site: Site, attempt: Attempt) -> tuple[str, ...]:
    """The last lines of the last turn's standard error."""
    if not attempt.turn:
        return ()
    errors = site.sessions.output(Turn(attempt.id, attempt.turn), Stream.STDERR)
    lines = [line.text for line in _lines(errors, STDERR_BYTES) if line.text.strip()]
    return tuple(lines[-STDERR_LINES:])
