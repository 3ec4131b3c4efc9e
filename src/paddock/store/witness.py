"""The log's witness: what was acknowledged, written down apart from the database that holds it.

A small file beside the log's folder, with the newest record's number and hash and the highest numbers given. A writer
writes it after each commit and before it acknowledges, so it never knows more than the log did, and knows of all that
was acknowledged; a log that has less has lost it. It is synced about once a second: a machine that loses power may
leave it a second behind, which is no harm as long as the log itself is whole.

It has two halves that are written in turn, so one is always whole. What must not survive is replaced by a new file.
"""

import os
import stat
import struct
import zlib
from contextlib import suppress
from pathlib import Path

import msgspec

from paddock.core.given import Given
from paddock.store.codec import HASH_BYTES

_MAGIC = b"Padkseen1"
_HALF = struct.Struct(f">{len(_MAGIC)}s16sQ{HASH_BYTES}sQ5Q")
_SUM = struct.Struct(">I")
_HALF_BYTES = 128
_PADDED = struct.Struct(f">{_HALF.size}sI{_HALF_BYTES - _HALF.size - _SUM.size}x")
FILE_BYTES = 2 * _HALF_BYTES


class Witness(msgspec.Struct, frozen=True):
    """Of the log `identity` the records up to `seq` were acknowledged; `tip` is that one's hash, `at` its time in
    microseconds, `given` the highest numbers given up to it."""

    identity: str
    seq: int
    tip: bytes
    at: int
    given: Given = Given()


def witness_path(log: Path) -> Path:
    """Outside of the log's own folder, which may be removed or put back from a copy as a whole."""
    return log.parent.parent / f"{log.parent.name}-{log.stem}.witness"


def pack_half(witness: Witness) -> bytes:
    given = witness.given
    half = _HALF.pack(
        _MAGIC, witness.identity.encode(), witness.seq, witness.tip, witness.at,
        given.tasks, given.attempts, given.runs, given.versions, given.generations,
    )  # fmt: skip
    return _PADDED.pack(half, zlib.crc32(half))


def unpack_half(content: bytes) -> Witness | None:
    """None for one that is torn, empty or not ours."""
    half, rest = content[: _HALF.size], content[_HALF.size : _HALF.size + _SUM.size]
    if len(rest) != _SUM.size or _SUM.unpack(rest)[0] != zlib.crc32(half):
        return None
    magic, identity, seq, tip, at, *numbers = _HALF.unpack(half)
    if magic != _MAGIC:
        return None
    return Witness(identity.rstrip(b"\0").decode(), seq, tip, at, Given(*numbers))


def unpack(content: bytes) -> tuple[Witness | None, int]:
    """The newer of both halves, and the place of the other, which is written next."""
    first, second = unpack_half(content[:_HALF_BYTES]), unpack_half(content[_HALF_BYTES:])
    if first is None or (second is not None and second.seq >= first.seq):
        return second, 0
    return first, _HALF_BYTES


def read_witness(log: Path) -> Witness | None:
    """None if there is none, or nothing of it can be read. Raises OSError where it may not be looked at."""
    try:
        descriptor = os.open(witness_path(log), os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    try:
        return unpack(_content(descriptor))[0]
    finally:
        os.close(descriptor)


def _content(descriptor: int) -> bytes:
    """Nothing where a pipe, a folder or a device is in its place."""
    return os.pread(descriptor, FILE_BYTES, 0) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""


class WitnessFile:
    """For the one who holds the writers' lock. Nothing here fails: what was to be recorded is recorded."""

    def __init__(self, log: Path) -> None:
        self._path = witness_path(log)
        self._descriptor = -1
        self._offset = 0
        self._noted: Witness | None = None
        self._unsynced = False

    def note(self, witness: Witness) -> None:
        """In place, where there is room even on a full disk."""
        self._noted, self._unsynced = witness, True
        try:
            if self._descriptor < 0 and not self._open():
                self.replace(witness)
                return
            os.pwrite(self._descriptor, pack_half(witness), self._offset)
            self._offset = _HALF_BYTES - self._offset
        except OSError:
            pass

    def replace(self, witness: Witness) -> None:
        """A new file, on disk when this returns: for what may be behind the one before."""
        self.close()
        self._noted, self._unsynced = witness, False
        draft = self._path.with_name(f".{self._path.name}.new")
        with suppress(OSError):
            descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
            try:
                os.pwrite(descriptor, pack_half(witness) * 2, 0)
                os.fsync(descriptor)
                os.rename(draft, self._path)
            except OSError:
                os.close(descriptor)
                raise
            self._descriptor, self._offset = descriptor, 0
            sync_folder(self._path.parent)

    def sync(self) -> None:
        """Puts back a file that was removed or replaced, and brings it to disk."""
        if self._noted is None:
            return
        if not self.is_in_place():
            self.replace(self._noted)
        elif self._unsynced:
            with suppress(OSError):
                os.fsync(self._descriptor)
                self._unsynced = False

    @property
    def has_noted(self) -> bool:
        return self._noted is not None

    def is_in_place(self) -> bool:
        """Whether the name still stands for the file that is written."""
        try:
            return self._descriptor >= 0 and os.path.samestat(os.fstat(self._descriptor), os.stat(self._path))
        except OSError:
            return False

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _open(self) -> bool:
        """Whether there is one that can go on being written."""
        try:
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError:
            return False
        found, self._offset = unpack(_content(self._descriptor))
        if found is None:
            self.close()
        return found is not None


def sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
