"""How far the fleet's log has been taken into the dataset, and by whom."""

from collections.abc import Mapping

import apsw
import msgspec

CLAIM_SECONDS = 30.0
_NAME = "fleet"


class Progress(msgspec.Struct, frozen=True):
    """`log` is the log's own mark, `position` the last of its records that was taken in. `live` are attempts that were
    not over, with the bytes of their output that were read. `writer` is whoever has written this: what another keeps
    in mind of attempts that grow is out of date. `looked_at` is when anybody last looked, `kept` whether that was a
    daemon, which looks again soon. Until `claimed_until` the writer is in the middle of it, and others leave it alone,
    unless it has not been heard of for too long."""

    log: str = ""
    position: int = 0
    live: Mapping[str, int] = {}
    writer: str = ""
    looked_at: float = 0.0
    kept: bool = False
    claimed_until: float = 0.0

    def is_claimed(self, me: str, now: float) -> bool:
        """By another than me."""
        return self.writer != me and 0.0 < self.claimed_until - now <= CLAIM_SECONDS


def read_progress(connection: apsw.Connection) -> Progress:
    """That of a dataset which has not begun, where what is noted cannot be read: all is taken in again."""
    for (value,) in connection.execute("SELECT value FROM progress WHERE name=?", (_NAME,)):
        try:
            return msgspec.json.decode(value, type=Progress)
        except msgspec.MsgspecError:
            break
    return Progress()


def write_progress(connection: apsw.Connection, progress: Progress) -> None:
    row = (_NAME, msgspec.json.encode(progress).decode())
    connection.execute("INSERT OR REPLACE INTO progress(name, value) VALUES(?,?)", row)
