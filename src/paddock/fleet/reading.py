"""Following a turn's output: lines to trace entries to a summary, in constant memory."""

import asyncio
import time
from collections.abc import Iterable
from pathlib import Path

from paddock.core.trace import TraceEntry, TurnSummary, observe
from paddock.engines.protocol import Engine, Source
from paddock.sessions.local import TurnFiles
from paddock.sessions.output import LineReader, bound_output


class TurnReader:
    """Reads what a turn has written so far, each line once. `last_event_at` is wall-clock time."""

    def __init__(self, engine: Engine, files: TurnFiles, logs: Iterable[Path]) -> None:
        self.summary = TurnSummary()
        self.last_event_at: float | None = None
        self._files = files
        self._parser = engine.parser()
        self._readers = [
            (LineReader(files.out), Source.STDOUT),
            (LineReader(files.err), Source.STDERR),
            *((LineReader(path), Source.LOG) for path in logs),
        ]

    async def read(self) -> None:
        """What is new. Lets the loop breathe between megabytes."""
        for reader, source in self._readers:
            while lines := reader.read():
                for line in lines:
                    self._take(self._parser.feed(line.text.encode("utf-8", "surrogateescape"), source))
                await asyncio.sleep(0)

    async def finish(self) -> TurnSummary:
        """The whole turn, once its process has ended."""
        await self.read()
        for reader, source in self._readers:
            for line in reader.finish():
                self._take(self._parser.feed(line.text.encode("utf-8", "surrogateescape"), source))
        self._take(self._parser.close())
        return self.summary

    def bound(self, limit_bytes: int) -> bool:
        """Keeps the output's head and tail within the limit. False if this file system cannot."""
        return all(
            bound_output(path, limit_bytes).supported for path in (self._files.out, self._files.err) if path.exists()
        )

    def _take(self, entries: Iterable[TraceEntry]) -> None:
        for entry in entries:
            self.summary = observe(self.summary, entry)
            self.last_event_at = time.time()
