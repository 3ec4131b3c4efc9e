"""What reads one format: records go in, runs come out."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol, TypeAlias

from paddock.insight.trace import Trace

Record: TypeAlias = Mapping[str, object]


class OfLine(NamedTuple):
    """A run that is all of an earlier line."""

    trace: Trace
    number: int


class RunReader(Protocol):
    """Made for one file. `name` is the file's, which may be the only name that its run has."""

    def take(self, record: Record, number: int) -> Iterable[Trace | OfLine]:
        """The runs that are complete with this record; `number` is its line's. Raises NotARun."""
        ...

    def close(self) -> Iterable[Trace | OfLine]:
        """What the file's end completes."""
        ...


class ConversationReader(Protocol):
    """One of those whose records are no runs: what it gives is of many lines."""

    def take(self, record: Record, number: int) -> Iterable[Trace]: ...

    def close(self) -> Iterable[Trace]: ...


class NotARun(Exception):
    """Why a record is none."""
