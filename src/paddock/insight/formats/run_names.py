"""Which run of its batch a record tells of: one that is there already, or another one under a name of its own."""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import chain, islice

from paddock.insight.dataset.writer import DatasetWriter, KeptRow
from paddock.insight.merging import is_same_run
from paddock.insight.trace import NAME_CHARS, Trace

MOST_COMPARED = 50
"""So many runs of one name, the latest, are compared with a record of which nobody knows when its run began."""


@dataclass
class _Numbered:
    """Runs called `NAME (2)` and so on, by when they began. `number` is the highest that was tried."""

    number: int = 1
    at: dict[float, list[str]] = field(default_factory=dict)
    timeless: deque[str] = field(default_factory=lambda: deque(maxlen=MOST_COMPARED))
    latest: deque[str] = field(default_factory=lambda: deque(maxlen=MOST_COMPARED))

    def add(self, name: str, started: float | None) -> None:
        self.latest.append(name)
        if started is None:
            self.timeless.append(name)
        else:
            self.at.setdefault(started, []).append(name)

    def near(self, started: float | None) -> Iterable[str]:
        if started is None:
            return tuple(self.latest)
        return tuple(chain(islice(self.at.get(started, ()), MOST_COMPARED), self.timeless))


class RunNames:
    """Those of one import. Only names that several runs have are remembered."""

    def __init__(self, writer: DatasetWriter) -> None:
        self._writer = writer
        self._numbered: dict[tuple[str, str], _Numbered] = {}

    def find(self, trace: Trace, is_told_here: Callable[[str], bool]) -> tuple[str, KeptRow | None]:
        """The name of the run that the record tells of, and what is known of it; None for one that is new.
        `is_told_here` says whether the same file has told of a name before."""
        own = self._writer.kept(trace.label, trace.run)
        if own is not None and self._is_same(own, trace, is_told_here(trace.run)):
            return trace.run, own
        stem = trace.run[: NAME_CHARS - 12]
        numbered = self._numbered_as(trace.label, stem)
        for name in numbered.near(trace.started):
            known = self._writer.kept(trace.label, name)
            if known is not None and self._is_same(known, trace, is_told_here(name)):
                return name, known
        if own is None:
            return trace.run, None
        name = self._free_name(trace.label, stem, numbered)
        self._numbered[trace.label, stem] = numbered
        numbered.add(name, trace.started)
        return name, None

    def _is_same(self, known: KeptRow, trace: Trace, same_file: bool) -> bool:
        return is_same_run(known.kept, trace, self._writer.symbols, same_file=same_file)

    def _numbered_as(self, label: str, stem: str) -> _Numbered:
        found = self._numbered.get((label, stem))
        if found is None:
            found = _Numbered()
            for name, started in self._writer.namesakes.of(label, stem):
                found.add(name, started)
        return found

    def _free_name(self, label: str, stem: str, numbered: _Numbered) -> str:
        """Numbers that were tried once are not tried again for every run of a name."""
        while True:
            numbered.number += 1
            name = f"{stem} ({numbered.number})"
            if self._writer.kept(label, name) is None:
                return name
