"""What a log has without its write-ahead log: all of that is in the database too, a second later.

A write-ahead log that is cut short or damaged makes SQLite read pages of older times over newer ones.
"""

from pathlib import Path

import apsw

from paddock.store.protocol import Query
from paddock.store.rows import select_rows
from paddock.store.trouble import quote
from paddock.store.verification import verify_rows
from paddock.store.witness import read_witness


def hint_without_wal(path: Path, head: int = 0) -> str:
    """What to run where the database alone has more than `head` records; empty where that would not help.

    Takes its time: every record is looked at, for whoever is about to give up.
    """
    if not Path(f"{path}-wal").exists():
        return ""
    try:
        witness, records = read_witness(path), _count(path)
    except (OSError, ValueError, apsw.Error):
        return ""
    if records <= head:
        return ""
    known = witness.seq if witness is not None else records
    has = f"all {records:,} records" if records >= known else f"{records:,} of {known:,} records"
    folder = quote(path.parent)
    return (
        f"the database has {has} without its write-ahead log: end whatever uses the log, then "
        f"`mkdir -p {folder}/bad && mv {quote(path)}-* {folder}/bad`"
    )


def _count(path: Path) -> int:
    """How many records the database alone has; 0 if one of them is bad. SQLite's locks on it may go with this look."""
    escaped = str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(f"file:{escaped}?immutable=1", flags=flags)
    try:
        found = verify_rows(select_rows(connection, Query()))
    finally:
        connection.close()
    return found.records if found.bad is None else 0
