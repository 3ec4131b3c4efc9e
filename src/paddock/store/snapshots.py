"""Boards kept beside the events, so that opening a long log folds only its tail.

A snapshot counts only if its checksum ties it to the record it was taken at: one that is damaged, of
another layout or of another history is passed over, and the log is folded from an older one or from
the beginning.
"""

from dataclasses import dataclass
from hashlib import blake2b

import apsw
import msgspec

from paddock.core.board import LAYOUT, Board, decode_board, encode_board
from paddock.store.codec import GENESIS, HASH_BYTES

KEPT = 2


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A board and the hash of the record it stands at."""

    board: Board
    tip: bytes


def load_snapshot(connection: apsw.Connection) -> Snapshot:
    """The newest sound snapshot, or an empty board."""
    found = connection.execute(
        "SELECT s.board, s.hash, e.hash FROM snapshots s JOIN events e ON e.seq = s.seq "
        "WHERE s.layout = ? ORDER BY s.seq DESC",
        (LAYOUT,),
    )
    for encoded, checksum, tip in found:
        if not isinstance(encoded, bytes) or not isinstance(tip, bytes) or _checksum(tip, encoded) != checksum:
            continue
        try:
            return Snapshot(decode_board(encoded), tip)
        except msgspec.DecodeError:
            continue
    return Snapshot(Board(), GENESIS)


def write_snapshot(connection: apsw.Connection, board: Board, tip: bytes) -> None:
    if board.seq == 0:
        return
    encoded = encode_board(board)
    connection.execute(
        "INSERT OR REPLACE INTO snapshots(seq, layout, hash, board) VALUES(?,?,?,?)",
        (board.seq, LAYOUT, _checksum(tip, encoded), encoded),
    )
    connection.execute(
        "DELETE FROM snapshots WHERE seq NOT IN (SELECT seq FROM snapshots ORDER BY seq DESC LIMIT ?)", (KEPT,)
    )


def drop_snapshots(connection: apsw.Connection) -> None:
    connection.execute("DELETE FROM snapshots")


def newest_snapshot_seq(connection: apsw.Connection) -> int:
    """Also of a snapshot that is not sound: a log that ends before it has lost its end."""
    for (seq,) in connection.execute("SELECT coalesce(max(seq), 0) FROM snapshots"):
        assert isinstance(seq, int)
        return seq
    return 0


def snapshot_distance(board: Board) -> int:
    """How many records may follow a snapshot: more on a large board, whose snapshots cost more to write."""
    return 1000 + len(board.tasks) // 5


def _checksum(tip: bytes, encoded: bytes) -> bytes:
    checksum = blake2b(tip, digest_size=HASH_BYTES)
    checksum.update(encoded)
    return checksum.digest()
