"""Bytes from anywhere as lines with a bound: files, compressed ones, pipes.

A line that is too long is passed over without being held, and what expands without end is given up.
"""

import os
import select
import stat
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

LONGEST_LINE = 128 * 1024 * 1024
PIECE_BYTES = 1 << 20
PIPE_SECONDS = 10.0
GZIP = b"\x1f\x8b"
_OTHERS = (
    (b"SQLite format 3\0", "is a database: export its conversations first, those of opencode with `opencode export`"),
    (b"PK\x03\x04", "is a ZIP archive: unpack it first"),
    (b"\x28\xb5\x2f\xfd", "is compressed with zstd: unpack it first"),
    (b"\xfd7zXZ", "is compressed with xz: unpack it first"),
    (b"BZh", "is compressed with bzip2: unpack it first"),
    (b"\xff\xfe", "is written in UTF-16: convert it to UTF-8 first"),
    (b"\xfe\xff", "is written in UTF-16: convert it to UTF-8 first"),
    (b"PAR1", "is a Parquet file: convert it to JSON lines first"),
)
# Transcripts shrink to a thirtieth at best; what was made to fill a disk shrinks a thousandfold.
BOMB_RATIO = 250
BOMB_BYTES = 256 * 1024 * 1024
_NOISE = b"\0\xef\xbb\xbf \t\r\n"


class NotReadable(Exception):
    """Why nothing, or nothing more, can be read of a file."""


class RawLine(NamedTuple):
    """`data` is None where the line was too long to be kept. `number` counts from 1."""

    number: int
    data: bytes | None


def open_bytes(path: Path) -> Iterator[bytes]:
    """Its pieces, those of a gzip file uncompressed. Raises NotReadable and OSError, also while it is read."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        kind = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(kind):
            raise NotReadable("is a folder")
        if stat.S_ISFIFO(kind):
            _await_writer(descriptor)
        elif not stat.S_ISREG(kind):
            raise NotReadable("is not a file")
        os.set_blocking(descriptor, True)
        yield from _uncompressed(_pieces(file))


def standard_input() -> Iterator[bytes]:
    yield from _uncompressed(_pieces(sys.stdin.buffer.raw if hasattr(sys.stdin.buffer, "raw") else sys.stdin.buffer))


def _await_writer(descriptor: int) -> None:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    if not poll.poll(PIPE_SECONDS * 1000):
        raise NotReadable(f"is a pipe into which nobody wrote for {PIPE_SECONDS:.0f}s")


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    while piece := file.read(PIECE_BYTES):
        yield piece


def _uncompressed(pieces: Iterator[bytes]) -> Iterator[bytes]:
    first = next(pieces, b"")
    for magic, what in _OTHERS:
        if first.startswith(magic):
            raise NotReadable(what)
    if not first.startswith(GZIP):
        yield first
        yield from pieces
        return
    yield from _expanded(first, pieces)


def _expanded(first: bytes, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Several members in a row are one file; a cut one gives what was there."""
    taken = given = 0
    reader, is_open = zlib.decompressobj(wbits=31), False
    piece = first
    while piece:
        taken += len(piece)
        while piece:
            is_open = True
            try:
                expanded = reader.decompress(piece, PIECE_BYTES)
            except zlib.error as error:
                raise NotReadable(f"is damaged: {error}") from None
            given += len(expanded)
            if given > BOMB_BYTES and given > BOMB_RATIO * taken:
                raise NotReadable(f"expands to more than {BOMB_RATIO} times its size: it is not a transcript")
            yield expanded
            piece = reader.unconsumed_tail
            if reader.eof:
                piece = reader.unused_data.lstrip(b"\0")
                reader, is_open = zlib.decompressobj(wbits=31), False
        piece = next(pieces, b"")
    if is_open:
        raise NotReadable("ends in the middle: it was cut")


def split_lines(pieces: Iterator[bytes], longest: int = LONGEST_LINE) -> Iterator[RawLine]:
    """Without white space, byte-order marks and the NULs of a torn write around them; blank ones are left out. Raises
    NotReadable where the pieces end so, after the last line."""
    held: list[bytes] = []
    length = number = 0
    problem: NotReadable | None = None
    while True:
        try:
            piece = next(pieces, None)
        except NotReadable as met:
            problem, piece = met, None
        if piece is None:
            break
        parts = piece.split(b"\n")
        for part in parts[:-1]:
            number += 1
            if length + len(part) > longest:
                yield RawLine(number, None)
            elif data := (b"".join((*held, part)) if held else part).strip(_NOISE):
                yield RawLine(number, data)
            held, length = [], 0
        rest = parts[-1]
        length += len(rest)
        if length > longest:
            held = []
        elif rest:
            held.append(rest)
    if length > longest:
        yield RawLine(number + 1, None)
    elif data := b"".join(held).strip(_NOISE):
        yield RawLine(number + 1, data)
    if problem is not None:
        raise problem
