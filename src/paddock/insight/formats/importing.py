"""Runs from elsewhere into the dataset: named, labelled, and remembered with where they are from.

What was imported is read again from there by `reimport.py`. Nothing of an earlier import of the same is replaced before
the first run of the new one was read.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

import msgspec
from msgspec.structs import replace

from paddock.core.money.prices import PriceBook
from paddock.core.trace import clip
from paddock.insight.dataset.headers import FLEET
from paddock.insight.dataset.writer import DatasetWriter
from paddock.insight.formats.bounds import bounded_usage
from paddock.insight.formats.detection import AUTO
from paddock.insight.formats.import_tally import ImportTally
from paddock.insight.formats.kept_input import KeptInput
from paddock.insight.formats.lines import standard_input
from paddock.insight.formats.sources import Found, FoundRun, find_files, read_bytes, read_file
from paddock.insight.formats.sub_agents import SubAgentFiles
from paddock.insight.formats.unreadable import Unreadable
from paddock.insight.step_facts import with_step_facts
from paddock.insight.trace import NAME_CHARS, KeptTrace, Trace

COMMIT_STEPS = 100_000
COMMIT_RUNS = 5_000
STDIN = "-"
UNNAMED = "imported"
_SUFFIXES = frozenset({".gz", ".json", ".jsonl", ".ndjson", ".traj", ".jsonlines", ".log", ".txt"})

Hear = Callable[[ImportTally], None]


class Origin(msgspec.Struct, frozen=True):
    """What somebody imported, and how: enough to do it again. `path` is absolute; `label` is empty where the runs have
    their own. `named` is what its runs are labelled as where neither they nor anybody else says so."""

    path: str
    format: str = AUTO
    label: str = ""
    named: str = UNNAMED


def origin_of(path: Path | None, format: str, label: str) -> Origin:
    """`path` is None for standard input."""
    if path is None:
        return Origin(STDIN, format, label, label or UNNAMED)
    whole = path.absolute()
    return Origin(str(whole), format, label, label_of(whole))


def label_of(path: Path) -> str:
    """A file's name without what says how it is written, or a folder's."""
    name = PurePath(path.resolve().name)
    while name.suffix in _SUFFIXES:
        name = name.with_suffix("")
    return clip(name.name, NAME_CHARS).strip(". ") or UNNAMED


def read_origin(origin: Origin, tally: ImportTally, kept: KeptInput | None = None) -> Iterator[Found]:
    """What is at its place now. `kept` gets a copy of what comes through standard input."""
    if origin.path == STDIN:
        tally.files += 1
        pieces = standard_input()
        yield from read_bytes(kept.copying(pieces) if kept is not None else pieces, "standard input", "", origin.format)
        return
    sub_agents = SubAgentFiles()
    for found in find_files(Path(origin.path)):
        if isinstance(found, Unreadable):
            yield found
        elif found == Path(origin.path) or not sub_agents.is_part(found):
            tally.files += 1
            yield from read_file(found, origin.format, sub_agents.parts_of(found))


@dataclass
class Importer:
    """One import, of one or several origins. `writer` is None to only look. Runs that would be labelled as one of
    `forgotten` are left out."""

    writer: DatasetWriter | None
    prices: PriceBook
    hear: Hear | None = None
    forgotten: Sequence[str] = ()

    def __post_init__(self) -> None:
        self.tally = ImportTally()
        self._names = _Names()
        self._steps = 0
        self._runs = 0

    def take(self, origin: Origin, kept: KeptInput | None = None) -> int:
        """How many runs were found there."""
        before = self.tally.runs
        source: int | None = None
        for found in read_origin(origin, self.tally, kept):
            if isinstance(found, Unreadable):
                self.tally.skip(found)
            elif (trace := self._named(found, origin)) is not None:
                if self.writer is not None:
                    source = self._begin(origin, kept) if source is None else source
                    trace = self._apart(self.writer, trace)
                    self._write(self.writer, trace, source)
                self.tally.count(trace, found.format, self.prices)
            if self.hear is not None:
                self.hear(self.tally)
        if self.writer is not None:
            if source is not None:
                self.writer.enter()
                self.writer.imports.end(source)
            self.writer.commit()
        return self.tally.runs - before

    def _begin(self, origin: Origin, kept: KeptInput | None) -> int:
        assert self.writer is not None
        if kept is not None:
            origin = replace(origin, path=str(kept.path))
        batch = msgspec.json.encode(origin).decode()
        return self.writer.begin_source(batch, origin.path, origin.label, time.time(), self.forgotten)

    def _write(self, writer: DatasetWriter, trace: Trace, source: int) -> None:
        writer.add(trace, source)
        self._steps += len(trace.steps)
        self._runs += 1
        if self._steps >= COMMIT_STEPS or self._runs >= COMMIT_RUNS:
            # Others who write wait for the end of a batch.
            writer.commit()
            self._steps = self._runs = 0

    def _apart(self, writer: DatasetWriter, trace: Trace) -> Trace:
        """With a number in its name where the batch has another run of that name from elsewhere. What there was of the
        same path has gone by now."""
        name = trace.run
        while (known := writer.kept(trace.label, name)) is not None and not _is_same(known.kept, trace):
            name = self._names.numbered(trace.label, trace.run)
        self.tally.renamed += name != trace.run
        return replace(trace, run=name)

    def _named(self, found: FoundRun, origin: Origin) -> Trace | None:
        """With a label and a name of its own; None for one that is there already, or that was forgotten."""
        trace = with_step_facts(found.trace)
        own = trace.label.strip()
        label = origin.label or (own if own != FLEET else "") or origin.named
        if label in self.forgotten:
            return None
        attributes = trace.attributes
        if own and own != label:
            attributes = {**attributes, "label": own}
        name = self._names.give(label, trace)
        if name is None:
            self.tally.doubled += 1
            return None
        if name != trace.run:
            self.tally.renamed += 1
        return replace(trace, label=label, run=name, attributes=attributes, usage=bounded_usage(trace.usage))


class _Names:
    """Names that were given in one import, what has them, and the highest number behind each: as hashes."""

    def __init__(self) -> None:
        self._given: set[int] = set()
        self._told: set[int] = set()
        self._numbers: dict[int, int] = {}

    def give(self, label: str, trace: Trace) -> str | None:
        """Its own name, or one with a number where another run has that. None where the same run has it."""
        content, own = _digest(trace), trace.run or "run"
        if hash((label, own, content)) in self._told:
            return None
        name = own
        while hash((label, name)) in self._given:
            name = self.numbered(label, own)
        self._given.add(hash((label, name)))
        self._told.update((hash((label, own, content)), hash((label, name, content))))
        return name

    def numbered(self, label: str, name: str) -> str:
        """Another number each time: those that were tried once are not tried again for every run of a name."""
        stem = name[: NAME_CHARS - 12]
        place = hash((label, stem))
        number = self._numbers[place] = self._numbers.get(place, 1) + 1
        return f"{stem} ({number})"


def _is_same(known: KeptTrace, trace: Trace) -> bool:
    """One that began when the other did is the same run, of which more may be told by now."""
    told = known.trace
    if trace.started is not None:
        return (told.task, told.started) == (trace.task, trace.started)
    ends = (told.task, told.started, told.ended, told.outcome, told.error, told.usage, known.step_count)
    return ends == (trace.task, None, trace.ended, trace.outcome, trace.error, trace.usage, len(trace.steps))


def _digest(trace: Trace) -> int:
    last = trace.steps[-1] if trace.steps else None
    told = (trace.task, trace.started, trace.ended, trace.outcome, trace.error, trace.usage, len(trace.steps))
    return hash((told, last, trace.tail))
