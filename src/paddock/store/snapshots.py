"""The board kept in a file beside the log, so that opening a long log folds only its tail.

The file is derived and never trusted: it counts only if its checksum holds and the record it was taken
at is still in the log with the same hash. One that is damaged, of another layout or of another history
is passed over and the log is folded from the beginning. It is renamed into place unsynced: after a
crash it may be old or torn, which costs time and nothing else. It is written after the commit, so a record that it
tells of and the log does not have was lost.
"""

import mmap
import os
import struct
import zlib
from contextlib import suppress
from pathlib import Path

import msgspec

from paddock import __version__
from paddock.core.board import Convoy
from paddock.core.snapshot import LAYOUT, BoardState, decode_board, encode_board
from paddock.core.tasks.task import Attempt, Task
from paddock.store.fold import Fold

_MAGIC = b"Padkboard"
_HEAD = struct.Struct(f">{len(_MAGIC)}sIQI20s")  # magic, layout, seq, checksum, hash of the record


def layout() -> int:
    """Another number for another version or another set of fields: such a snapshot is not read."""
    shapes = [kind.__struct_fields__ for kind in (BoardState, Convoy, Task, Attempt)]
    return zlib.crc32(repr((LAYOUT, __version__, shapes)).encode())


def snapshot_path(log: Path) -> Path:
    return log.with_suffix(".board")


def _at_once(path: str, flags: int) -> int:
    """Whatever is in its place: nobody waits at a pipe."""
    return os.open(path, flags | os.O_NONBLOCK)


def load_snapshot(log: Path, *, mapped: bool) -> Fold | None:
    """Call it before the transaction it is used in: its record is then visible there. A `mapped` file is not
    copied, for those who look once and go: whoever cut it short would end a process that stays.
    """
    try:
        with open(snapshot_path(log), "rb", opener=_at_once) as file:
            return unpack(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if mapped else file.read())
    except (OSError, ValueError):
        return None


def unpack(content: bytes | mmap.mmap) -> Fold | None:
    try:
        magic, shape, seq, checksum, tip = _HEAD.unpack_from(content)
    except struct.error:
        return None
    encoded = memoryview(content)[_HEAD.size :]
    if magic != _MAGIC or shape != layout() or zlib.crc32(encoded) != checksum:
        return None
    try:
        board = decode_board(encoded)
    except msgspec.DecodeError:
        return None
    return Fold(board, tip) if board.seq == seq else None


def pack(fold: Fold) -> bytes:
    encoded = encode_board(fold.board)
    return _HEAD.pack(_MAGIC, layout(), fold.board.seq, zlib.crc32(encoded), fold.tip) + encoded


def write_snapshot(log: Path, fold: Fold) -> None:
    """Best effort: without a snapshot the log is slow, not wrong. Hold the writers' lock."""
    draft = snapshot_path(log).with_suffix(".board.new")
    content = pack(fold)
    try:
        draft.write_bytes(content)
        os.replace(draft, snapshot_path(log))
    except OSError:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def drop_snapshot(log: Path) -> None:
    snapshot_path(log).unlink(missing_ok=True)


def newest_snapshot(log: Path) -> int:
    """The record the snapshot was taken at, 0 without one: a log that ends before it has lost its end."""
    try:
        with open(snapshot_path(log), "rb", opener=_at_once) as file:
            magic, _, seq, _, _ = _HEAD.unpack(file.read(_HEAD.size))
    except (OSError, struct.error):
        return 0
    return int(seq) if magic == _MAGIC else 0


def snapshot_distance(tasks: int) -> int:
    """How many records may follow a snapshot: more on a large board, whose snapshots cost more to write."""
    return 300 + tasks // 7
