"""What reads one format: records go in, runs come out."""

from collections.abc import Iterable, Mapping
from typing import Protocol, TypeAlias

from paddock.insight.trace import Trace

Record: TypeAlias = Mapping[str, object]


class Place(Protocol):
    """Where a record was read."""


class RunReader(Protocol):
    """Made for one file. `name` is the file's, which may be the only name that its run has."""

    def take(self, record: Record, number: int) -> Iterable[Trace]:
        """The runs that are complete with this record; `number` is its line's. Raises NotARun."""
        ...

    def close(self) -> Iterable[Trace]:
        """What the file's end completes."""
        ...


class NotARun(Exception):
    """Why a record is none."""
