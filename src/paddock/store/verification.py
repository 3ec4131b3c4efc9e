"""Walking the hash chain and naming the first record it does not hold for; and what such a walk cannot see."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from paddock.store.codec import GENESIS, Row, follows
from paddock.store.fold import Fold
from paddock.store.snapshots import newest_snapshot
from paddock.store.trouble import Explained, damaged
from paddock.store.witness import Witness, read_witness


@dataclass(frozen=True, slots=True)
class BadRecord:
    """The first record the hash chain does not hold for."""

    seq: int
    problem: str


@dataclass(frozen=True, slots=True)
class Verification:
    """`records` is how many hold, from the first on. `unseen` says what could not be checked, and why."""

    records: int
    bad: BadRecord | None
    unseen: tuple[str, ...] = ()


def verify_rows(rows: Iterable[Row], at_least: int = 0, witness: Witness | None = None) -> Verification:
    """`at_least` is how many records there are known to have been: a chain does not show that its end is cut off."""
    tip, expected = GENESIS, 1
    for row in rows:
        if row[0] != expected:
            return Verification(expected - 1, BadRecord(expected, f"it is missing; the next is record {row[0]}"))
        if not follows(tip, row):
            return Verification(expected - 1, BadRecord(expected, "its hash does not match its content"))
        tip, expected = row[-1], expected + 1
        if witness is not None and row[0] == witness.seq and tip != witness.tip:
            return Verification(row[0] - 1, BadRecord(row[0], "it is not the one that was acknowledged"))
    at_least = max(at_least, witness.seq if witness is not None else 0)
    if expected <= at_least:
        return Verification(expected - 1, BadRecord(expected, f"it and all up to {at_least} are missing"))
    return Verification(expected - 1, None)


def verify_log(path: Path, rows: Iterable[Row]) -> Verification:
    """Of SQLite's files."""
    unseen = []
    if not Path(f"{path}-wal").exists():
        unseen.append("the write-ahead log is missing, so what was only there cannot be seen")
    return verify_kept(path, rows, unseen)


def verify_kept(path: Path, rows: Iterable[Row], unseen: Sequence[str] = ()) -> Verification:
    """Against what is kept beside `path`, which is looked at before the rows are: what it tells of must be there."""
    witness, snapshot = read_witness(path), newest_snapshot(path)
    if witness is None:
        unseen = ("the log has no witness, so records missing at its end might not be noticed", *unseen)
    found = verify_rows(rows, at_least=snapshot, witness=witness)
    return Verification(found.records, found.bad, tuple(unseen))


def require_on_disk(path: Path, after: int, fold: Fold) -> None:
    """Raises LogUnusable unless the records after `after` are on disk as they were folded, up to the last."""
    from paddock.store.protocol import Query
    from paddock.store.rows import select_rows
    from paddock.store.schema import connect

    with Explained(path):
        connection = connect(path, read_only=True, busy_seconds=1.0)
        try:
            rows = list(select_rows(connection, Query(after=max(after, 1) - 1, until=fold.board.seq)))
        finally:
            connection.close()
    chained = all(follows(one[-1], next_) for one, next_ in pairwise(rows))
    if not rows or not chained or (rows[-1][0], rows[-1][-1]) != (fold.board.seq, fold.tip):
        raise damaged(path, f"records {after + 1} to {fold.board.seq} cannot be read back as they were written")
