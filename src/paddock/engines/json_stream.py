"""Output of one JSON object a line, as most agent CLIs print it."""

from abc import ABC, abstractmethod
from collections.abc import Iterator

from paddock.core.trace import Progress, TraceEntry
from paddock.engines.jsonline import Node, read_object
from paddock.engines.protocol import Source
from paddock.engines.trouble import read_complaint


class JsonStream(ABC):
    """A parser that is asked about each object; lines of other kinds it may leave as they are read here."""

    def feed(self, line: bytes, source: Source = Source.STDOUT) -> Iterator[TraceEntry]:
        if source is Source.LOG:
            yield from self.read_log(line)
        elif source is Source.STDERR:
            yield from self.read_complaint(line)
        elif (event := read_object(line)) is not None:
            yield from self.read_event(event)
        elif line.strip():
            yield Progress("unreadable line")

    def close(self) -> Iterator[TraceEntry]:
        return iter(())

    @abstractmethod
    def read_event(self, event: Node) -> Iterator[TraceEntry]: ...

    def read_complaint(self, line: bytes) -> Iterator[TraceEntry]:
        return read_complaint(line)

    def read_log(self, line: bytes) -> Iterator[TraceEntry]:
        """A line of a file that the CLI keeps."""
        return self.read_complaint(line)
