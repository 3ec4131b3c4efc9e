"""Runs from files, folders and pipes, whatever format they are in.

What cannot be read is told with its place and does not keep anything else from being read.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path, PurePath
from typing import TypeAlias

from msgspec.structs import replace

from paddock.insight.formats.decode import PLAIN_BYTES, NotJson, decode_bounded, decode_json, split_documents
from paddock.insight.formats.detection import AUTO, FORMATS, PACKED, Format, detect, detect_within, records_in
from paddock.insight.formats.lines import LONGEST_LINE, NotReadable, RawLine, open_bytes, split_lines
from paddock.insight.formats.packed import looks_packed
from paddock.insight.formats.reader import NotARun, OfLine, Record, RunReader
from paddock.insight.formats.unreadable import Shortened, Unreadable
from paddock.insight.trace import Trace

GARBAGE_LINES = 1_000
"""A file that begins with as many lines without JSON is taken to have none."""
LONG = f"is longer than {PLAIN_BYTES >> 20} MB: the middle of long texts, or the end of long lists, was left out"
UNKNOWN_RECORDS = 1_000
LONGEST_SEQUENCE = LONGEST_LINE // 4
"""Of documents that stand one after the other, which have to be read twice."""
MOST_FILES = 200_000
EMPTY = "is empty"
DEEPEST = 24
_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson", ".traj", ".jsonlines"})

Found: TypeAlias = "FoundRun | Unreadable | Shortened"


@dataclass(frozen=True, slots=True)
class FoundRun:
    """`format` is what it was taken as."""

    trace: Trace
    format: str


def find_files(path: Path) -> Iterator[Path | Unreadable]:
    """The file itself, or those of a folder and the folders in it whose names are those of transcripts, in the order of
    their names. Links to folders are not followed, so nothing is met twice."""
    if not path.is_dir():
        yield path
        return
    count = 0
    for found in _walk(path, 0):
        count += not isinstance(found, Unreadable)
        if count > MOST_FILES:
            yield Unreadable(str(path), f"has more than {MOST_FILES:,} files: the rest was left out")
            return
        yield found


def _walk(folder: Path, depth: int) -> Iterator[Path | Unreadable]:
    if depth > DEEPEST:
        yield Unreadable(str(folder), f"is more than {DEEPEST} folders deep")
        return
    try:
        with os.scandir(folder) as entries:
            held = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        yield Unreadable(str(folder), _words(error))
        return
    for entry in held:
        try:
            if entry.is_dir(follow_symlinks=False):
                yield from _walk(Path(entry.path), depth + 1)
            elif is_transcript_name(entry.name) and not entry.is_dir():
                if entry.is_file():
                    yield Path(entry.path)
                else:
                    yield Unreadable(entry.path, "is not a file")
        except OSError as error:
            yield Unreadable(entry.path, _words(error))


def is_transcript_name(name: str) -> bool:
    return PurePath(name.removesuffix(".gz")).suffix.lower() in _SUFFIXES


def read_file(path: Path, format: str = AUTO, parts: Sequence[Path] = ()) -> Iterator[Found]:
    """`format` is a name of FORMATS, or AUTO. `parts` are files that go on where this one ends."""
    pieces = chain(open_bytes(path), *((chain((b"\n",), open_bytes(part))) for part in parts))
    try:
        yield from read_bytes(pieces, str(path), path.name, format)
    except OSError as error:
        yield Unreadable(str(path), _words(error))


def read_bytes(pieces: Iterator[bytes], place: str, name: str, format: str = AUTO) -> Iterator[Found]:
    """`name` is what its run is called where nothing in it has a name."""
    file = _File(place, name, format)
    try:
        yield from file.read(split_lines(pieces))
    except NotReadable as problem:
        yield Unreadable(place, str(problem))
    yield from file.close()


class _File:
    def __init__(self, place: str, name: str, format: str) -> None:
        self._place = place
        self._name = name
        self._fixed = None if format == AUTO else FORMATS[format]
        self._readers: dict[str, tuple[Format, RunReader]] = {}
        self._stream: Format | None = self._fixed
        self._unknown: list[tuple[Record, int]] = []
        self._decoded = 0

    def read(self, lines: Iterator[RawLine]) -> Iterator[Found]:
        first = next(lines, None)
        if first is None:
            yield Unreadable(self._place, EMPTY)
            return
        try:
            second = next(lines, None)
        except NotReadable:
            yield from self._read_lines(iter([first]))
            raise
        rest = chain([line for line in (first, second) if line is not None], lines)
        if _begins_document(first, second):
            yield from self._read_document(rest)
        else:
            yield from self._read_lines(rest)

    def close(self) -> Iterator[Found]:
        for format, reader in self._readers.values():
            yield from self._guarded(reader.close, format, None)
        for _, number in self._unknown:
            yield Unreadable(f"{self._place}:{number}", "is in no format that is known")
        self._unknown = []

    def _read_lines(self, lines: Iterator[RawLine]) -> Iterator[Found]:
        garbage = 0
        for line in lines:
            place = f"{self._place}:{line.number}"
            if line.data is None:
                yield Unreadable(place, f"is longer than {LONGEST_LINE >> 20} MB")
                continue
            try:
                value, is_whole = decode_bounded(line.data)
            except NotJson as problem:
                yield Unreadable(place, str(problem))
                garbage += 1
                if garbage >= GARBAGE_LINES and not self._decoded:
                    yield Unreadable(
                        self._place, f"begins with {garbage:,} lines that are not JSON: the rest was left out"
                    )
                    return
                continue
            self._decoded += 1
            if not is_whole:
                yield Shortened(place, LONG)
            yield from self._take(value, line.number)

    def _read_document(self, lines: Iterator[RawLine]) -> Iterator[Found]:
        held: list[bytes] = []
        length = 0
        for line in lines:
            length += len(line.data) + 1 if line.data is not None else LONGEST_LINE
            if length > LONGEST_LINE or line.data is None:
                yield Unreadable(self._place, f"is longer than {LONGEST_LINE >> 20} MB in one piece of JSON")
                return
            held.append(line.data)
        document = b"\n".join(held)
        del held
        try:
            value, is_whole = decode_bounded(document)
        except NotJson as problem:
            if problem.goes_on and length <= LONGEST_SEQUENCE:
                yield from self._read_sequence(document)
            else:
                yield Unreadable(self._place, str(problem))
            return
        if not is_whole:
            yield Shortened(self._place, LONG)
        yield from self._take(value, 1)

    def _read_sequence(self, documents: bytes) -> Iterator[Found]:
        for piece, number in split_documents(documents):
            try:
                value, is_whole = decode_bounded(piece)
            except NotJson as problem:
                yield Unreadable(f"{self._place}:{number}", str(problem))
                return
            if not is_whole:
                yield Shortened(f"{self._place}:{number}", LONG)
            yield from self._take(value, number)

    def _take(self, value: object, number: int) -> Iterator[Found]:
        if isinstance(value, list):
            for one in value:
                if isinstance(one, Mapping):
                    yield from self._take_record(one, number)
            if not any(isinstance(one, Mapping) for one in value):
                yield Unreadable(f"{self._place}:{number}", "is a list without records")
        elif isinstance(value, Mapping):
            yield from self._take_record(value, number)
        else:
            yield Unreadable(f"{self._place}:{number}", "is JSON, but no record")

    def _take_record(self, record: Record, number: int) -> Iterator[Found]:
        format = self._format_of(record)
        if format is not None and format.is_stream and looks_packed(record) and not format.looks_so(record):
            format = PACKED
        if format is None or (self._fixed is not None and not format.looks_so(record)):
            inner = records_in(record)
            if inner is not None:
                for one in inner:
                    yield from self._take_record(one, number)
                return
        if format is None:
            self._unknown.append((record, number))
            if len(self._unknown) > UNKNOWN_RECORDS:
                _, first = self._unknown.pop(0)
                yield Unreadable(f"{self._place}:{first}", "is in no format that is known")
            return
        if format.is_stream:
            # What came before its first message belongs to the conversation too.
            self._stream = format
            earlier, self._unknown = self._unknown, []
            for one, at in earlier:
                yield from self._feed(one, at, format)
        yield from self._feed(record, number, format)

    def _format_of(self, record: Record) -> Format | None:
        """Records of several streams may come mixed."""
        if self._fixed is not None:
            return self._fixed
        return detect(record) if self._stream is None else detect_within(self._stream, record)

    def _feed(self, record: Record, number: int, format: Format) -> Iterator[Found]:
        if format.name not in self._readers:
            self._readers[format.name] = format, format.reader(self._name)
        reader = self._readers[format.name][1]
        yield from self._guarded(lambda: reader.take(record, number), format, number)

    def _guarded(
        self, read: Callable[[], Iterable[Trace | OfLine]], format: Format, number: int | None
    ) -> Iterator[Found]:
        place = self._at(number)
        try:
            for run in read():
                trace, at = (run.trace, self._at(run.number)) if isinstance(run, OfLine) else (run, place)
                name = format.name if format.name in FORMATS else trace.engine
                yield FoundRun(trace if trace.source else replace(trace, source=at), name)
        except NotARun as problem:
            yield Unreadable(place, str(problem))
        except RecursionError:
            yield Unreadable(place, "is nested too deeply")

    def _at(self, number: int | None) -> str:
        return self._place if number is None else f"{self._place}:{number}"


def _begins_document(first: RawLine, second: RawLine | None) -> bool:
    """Whether JSON begins that goes on over several lines."""
    if second is None or first.data is None or first.data[:1] not in (b"{", b"["):
        return False
    if first.data in (b"{", b"["):
        return True
    if second.data is not None and second.data[:1] == b"{" and not first.data.endswith((b"[", b",", b":")):
        return False
    try:
        decode_json(first.data)
    except NotJson:
        return not first.data.endswith(b"}")
    return False


def _words(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
