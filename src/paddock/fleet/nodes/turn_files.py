"""What turns have written on a node, in bounded parts, for whoever keeps a copy: each part names its offset, so a copy
goes on where it ended, however often either side is restarted.

A file that was given a hole in its middle keeps its offsets in the copy. Small files that are written once, such as
how a turn ended, go over as a whole.
"""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from paddock.fleet.nodes.messages import Chunk, FileAt, ReadAnswer, ReadWish
from paddock.sessions.regular import open_regular

PART_BYTES = 1 << 18
GROWING = (".out", ".err", ".times")
SMALL = (".exit", ".stop", ".step", ".timeout", "setup.log")
MOST_SMALL_BYTES = 1 << 16
FOLDER = Callable[[str], Path]


def read_turns(folder_of: FOLDER, wish: ReadWish) -> ReadAnswer:
    """`folder_of` says where an owner's turns are."""
    have = {(one.owner, one.name): one.offset for one in wish.have}
    chunks: list[Chunk] = []
    gone: list[str] = []
    left = wish.most_bytes
    for owner in wish.owners:
        folder = folder_of(owner)
        if not folder.is_dir():
            gone.append(owner)
            continue
        for chunk in _news_of(owner, folder, have):
            if left <= 0:
                return ReadAnswer(tuple(chunks), more=True, gone=tuple(gone))
            left -= max(len(chunk.content), 64)
            chunks.append(chunk)
    return ReadAnswer(tuple(chunks), more=False, gone=tuple(gone))


def _news_of(owner: str, folder: Path, have: dict[tuple[str, str], int]) -> Iterator[Chunk]:
    for path in sorted(folder.iterdir()):
        offset = have.get((owner, path.name), 0)
        with suppress(OSError):
            if path.name.endswith(GROWING):
                yield from _parts(owner, path, offset)
            elif path.name.endswith(SMALL):
                content = _head(path)
                if len(content) != offset:
                    yield Chunk(owner, path.name, len(content), content, whole=True)


def _parts(owner: str, path: Path, offset: int) -> Iterator[Chunk]:
    descriptor = open_regular(path, os.O_RDONLY)
    try:
        while (offset := _next_data(descriptor, offset)) >= 0:
            content = os.pread(descriptor, PART_BYTES, offset)
            if not content:
                return
            yield Chunk(owner, path.name, offset, content)
            offset += len(content)
    finally:
        os.close(descriptor)


def _next_data(descriptor: int, offset: int) -> int:
    """-1 at the end of the file."""
    try:
        return os.lseek(descriptor, offset, os.SEEK_DATA)
    except OSError as error:
        return -1 if error.errno == errno.ENXIO else offset


def _head(path: Path) -> bytes:
    descriptor = open_regular(path, os.O_RDONLY)
    try:
        return os.read(descriptor, MOST_SMALL_BYTES)
    finally:
        os.close(descriptor)


def sizes_of(owner: str, folder: Path) -> Iterator[FileAt]:
    """How much of each file a copy has."""
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        if path.name.endswith((*GROWING, *SMALL)):
            with suppress(OSError):
                yield FileAt(owner, path.name, path.stat().st_size)


def keep_chunk(folder: Path, chunk: Chunk) -> None:
    """Raises OSError. A name that is not one of a turn's files, or leads elsewhere, is passed over."""
    if "/" in chunk.name or not chunk.name.endswith((*GROWING, *SMALL)):
        return
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / chunk.name
    if chunk.whole:
        draft = folder / f".{chunk.name}.new"
        draft.write_bytes(chunk.content)
        os.replace(draft, path)
        return
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        os.pwrite(descriptor, chunk.content, chunk.offset)
    finally:
        os.close(descriptor)
