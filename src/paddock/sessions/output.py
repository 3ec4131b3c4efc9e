"""A turn's output on disk: read line by line as it grows, and kept from growing without end.

Commands append to plain files that nobody else writes, so they go on while no daemon runs. A file over its limit
gets a hole punched into its middle: the first quarter and the last half of the limit stay, the bytes between them
go back to the disk, and every offset stays true, for the command that appends and for whoever reads.
File systems without holes keep everything; `bound_output` says so, and the caller ends the turn instead.

While no daemon runs nobody punches. RLIMIT_FSIZE would bound that too, but it counts the apparent size of every file
the command and its tools write: a sparse disk image or a memory-mapped database dies of it for no visible reason,
while a flood during the seconds without a daemon is punched as soon as one is back.
"""

import ctypes
import errno
import os
import struct
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from paddock.sessions.moments import Moments
from paddock.sessions.protocol import Line
from paddock.sessions.regular import open_regular, stat_regular

CHUNK_BYTES = 1 << 16
BATCH_BYTES = 1 << 20
BATCH_LINES = 8192
LINE_BYTES = 1 << 20
LINUX_PUNCH_HOLE_KEEP_SIZE = 0x02 | 0x01
MACOS_F_PUNCHHOLE = 99


class LineReader:
    """Reads the lines of a growing file, each once, in constant memory; holds no descriptor between calls.

    `offset` is the start of the first line not handed out yet: a later reader may start from there.
    `at_end` says that the last `read` has seen all there was: without it, no lines only means that none has come to
    its end yet.
    """

    def __init__(self, path: Path, offset: int = 0, line_bytes: int = LINE_BYTES) -> None:
        self.path = path
        self.offset = offset
        self.at_end = False
        self._line_bytes = line_bytes
        self._position = offset
        self._kept = bytearray()
        self._in_torn_line = False
        self._start_is_checked = offset == 0
        self._moments = Moments(path)

    def read(self) -> list[Line]:
        """The next complete lines, from about a megabyte at most, so that no flood holds up who else is waiting."""
        lines: list[Line] = []
        self.at_end = True
        try:
            descriptor = open_regular(self.path, os.O_RDONLY)
        except FileNotFoundError:
            return lines
        try:
            self._check_start(descriptor)
            taken = 0
            while chunk := self._next_chunk(descriptor):
                taken += len(chunk)
                lines.extend(self._split(chunk))
                if taken >= BATCH_BYTES or len(lines) >= BATCH_LINES:
                    self.at_end = self._position >= os.fstat(descriptor).st_size
                    break
        finally:
            os.close(descriptor)
        return lines

    def skip_to_tail(self, keep_bytes: int) -> None:
        """Go on with the last `keep_bytes` if there is more than that to read."""
        size = self.size()
        if size - self._position > keep_bytes:
            self._jump(size - keep_bytes)

    def size(self) -> int:
        found = stat_regular(self.path)
        return found.st_size if found is not None else 0

    def written_at(self, offset: int) -> float | None:
        """When the byte at `offset` was there; None when nobody has noted it."""
        return self._moments.at(offset)

    def finish(self) -> list[Line]:
        """A last line that has no end. Call after the writer has ended and `read` has come to the end."""
        if self._position == self.offset:
            return []
        line = self._end_line(self._position)
        return [line] if line is not None else []

    def _check_start(self, descriptor: int) -> None:
        """A start that does not follow a line's end lies in a torn line."""
        if not self._start_is_checked:
            self._start_is_checked = True
            self._in_torn_line = os.pread(descriptor, 1, self.offset - 1) != b"\n"

    def _next_chunk(self, descriptor: int) -> bytes:
        size = os.fstat(descriptor).st_size
        if self._position >= size:
            return b""
        data_at = _data_from(descriptor, self._position, size)
        if data_at > self._position:
            self._jump(data_at)
        hole_at = _hole_from(descriptor, self._position, size)
        chunk = os.pread(descriptor, min(CHUNK_BYTES, hole_at - self._position), self._position)
        self._position += len(chunk)
        return chunk

    def _jump(self, position: int) -> None:
        """Into the middle of a line, as far as anybody knows."""
        self._kept.clear()
        self._in_torn_line = True
        self._start_is_checked = True
        self._position = self.offset = position

    def _split(self, chunk: bytes) -> Iterator[Line]:
        chunk_at = self._position - len(chunk)
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            self._keep(chunk[start:end])
            start = end + 1
            line = self._end_line(chunk_at + start)
            if line is not None:
                yield line
        self._keep(chunk[start:])

    def _keep(self, piece: bytes) -> None:
        if not self._in_torn_line:
            self._kept += piece[: self._line_bytes - len(self._kept)]

    def _end_line(self, next_offset: int) -> Line | None:
        offset, kept, torn = self.offset, bytes(self._kept), self._in_torn_line
        self.offset = next_offset
        self._kept.clear()
        self._in_torn_line = False
        return None if torn else Line(offset, kept.decode("utf-8", "replace"))


def _data_from(descriptor: int, position: int, size: int) -> int:
    try:
        return os.lseek(descriptor, position, os.SEEK_DATA)
    except OSError as error:
        return size if error.errno == errno.ENXIO else position


def _hole_from(descriptor: int, position: int, size: int) -> int:
    try:
        return os.lseek(descriptor, position, os.SEEK_HOLE)
    except OSError:
        return size


def read_tail(path: Path, most_bytes: int) -> str:
    try:
        with open(path, "rb", opener=open_regular) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - most_bytes))
            return file.read(most_bytes).decode("utf-8", "replace")
    except FileNotFoundError:
        return ""


def bound_output(path: Path, limit_bytes: int) -> bool:
    """Give the middle of a file that takes more than `limit_bytes` back to the disk. False: it is and stays over.

    Safe while the command appends. The file takes at most the limit plus what is written until the next call.
    """
    try:
        descriptor = open_regular(path, os.O_RDWR)
    except FileNotFoundError:
        return True
    try:
        before = os.fstat(descriptor)
        block = max(4096, before.st_blksize)
        # Whole blocks only: the kernel fills a block that is punched in part with zeros, which would read as data.
        start = _blocks_up(limit_bytes // 4, block)
        end = (before.st_size - _blocks_up(limit_bytes // 2, block)) // block * block
        if before.st_blocks * 512 <= limit_bytes or end <= start:
            return True
        return _punch_hole(descriptor, start, end - start)
    finally:
        os.close(descriptor)


def _blocks_up(size: int, block: int) -> int:
    return max(1, -(-size // block)) * block


def _punch_hole(descriptor: int, start: int, length: int) -> bool:
    if sys.platform == "darwin":
        import fcntl

        try:
            # struct fpunchhole of <sys/fcntl.h>: flags, reserved, offset, length.
            fcntl.fcntl(descriptor, MACOS_F_PUNCHHOLE, struct.pack("IIqq", 0, 0, start, length))
        except OSError:
            return False
        return True
    fallocate = _find_fallocate()
    return fallocate is not None and fallocate(descriptor, LINUX_PUNCH_HOLE_KEEP_SIZE, start, length) == 0


@cache
def _find_fallocate() -> "ctypes._NamedFuncPointer | None":
    libc = ctypes.CDLL(None)
    function = getattr(libc, "fallocate64", None) or getattr(libc, "fallocate", None)
    if function is not None:
        function.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
    return function
