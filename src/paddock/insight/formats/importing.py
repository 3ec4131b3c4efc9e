"""Runs from elsewhere into the dataset: named, labelled, and remembered with where they are from.

What was imported is read again from there by `reimport.py`. Nothing of an earlier import of the same is replaced before
the first run of the new one was read. Several records may tell of one run: it is then what all of them tell.
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
from paddock.insight.formats.run_names import RunNames
from paddock.insight.formats.sources import Found, FoundRun, find_files, read_bytes, read_file
from paddock.insight.formats.sub_agents import SubAgentFiles
from paddock.insight.formats.unreadable import Shortened, Unreadable
from paddock.insight.merging import UNNAMED_RUN
from paddock.insight.step_facts import with_step_facts
from paddock.insight.trace import NAME_CHARS, Trace

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
    """One import, of one or several origins. Runs that would be labelled as one of `forgotten` are left out."""

    writer: DatasetWriter
    prices: PriceBook
    hear: Hear | None = None
    forgotten: Sequence[str] = ()

    def __post_init__(self) -> None:
        self.tally = ImportTally()
        self._names = RunNames(self.writer)
        self._given: dict[int, int] = {}
        self._steps = 0
        self._runs = 0

    def take(self, origin: Origin, kept: KeptInput | None = None) -> int:
        """How many records were found there that tell of a run."""
        count = 0
        source: int | None = None
        for found in read_origin(origin, self.tally, kept):
            if isinstance(found, Unreadable):
                self.tally.skip(found)
            elif isinstance(found, Shortened):
                self.tally.shorten(found)
            elif (trace := self._labelled(found, origin)) is not None:
                count += 1
                source = self._begin(origin, kept) if source is None else source
                self._keep(trace, found.format, source)
            if self.hear is not None:
                self.hear(self.tally)
        if source is not None:
            self.writer.enter()
            self.writer.imports.end(source)
        self.writer.commit()
        return count

    def _begin(self, origin: Origin, kept: KeptInput | None) -> int:
        if kept is not None:
            origin = replace(origin, path=str(kept.path))
        batch = msgspec.json.encode(origin).decode()
        return self.writer.begin_source(batch, origin.path, origin.label, time.time(), self.forgotten)

    def _keep(self, trace: Trace, format: str, source: int) -> None:
        """As a run of its own, or as more of one that is there."""
        file = self.tally.files
        name, known = self._names.find(trace, lambda name: self._given.get(hash((trace.label, name))) == file)
        own, renamed = trace.run, replace(trace, run=name)
        before, now = None, renamed
        if known is None:
            self.writer.add(renamed, source)
        else:
            before, now = self.writer.join(known, renamed, source)
        place = hash((trace.label, name))
        is_new = before is None or place not in self._given
        self._given[place] = file
        if is_new or before is None:
            self.tally.renamed += name != own
            self.tally.count(now, format, self.prices)
        elif now == before:
            self.tally.doubled += 1
        else:
            self.tally.count_merged(before, now, self.prices)
        self._commit_in_parts(len(trace.steps))

    def _commit_in_parts(self, steps: int) -> None:
        self._steps += steps
        self._runs += 1
        if self._steps >= COMMIT_STEPS or self._runs >= COMMIT_RUNS:
            # Others who write wait for the end of a batch.
            self.writer.commit()
            self._steps = self._runs = 0

    def _labelled(self, found: FoundRun, origin: Origin) -> Trace | None:
        """With a label and a name; None for one that was forgotten."""
        trace = with_step_facts(found.trace)
        own = trace.label.strip()
        label = origin.label or (own if own != FLEET else "") or origin.named
        if label in self.forgotten:
            return None
        attributes = trace.attributes
        if own and own != label:
            attributes = {**attributes, "label": own}
        run = trace.run or UNNAMED_RUN
        return replace(trace, label=label, run=run, attributes=attributes, usage=bounded_usage(trace.usage))
