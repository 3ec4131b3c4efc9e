"""Runs of a batch that share a name: `NAME`, `NAME (2)` and so on."""

import re
from collections.abc import Iterator

import apsw

from paddock.insight.dataset.rows import decode_kept
from paddock.insight.dataset.trouble import Explained

_NUMBERED = re.compile(r".* \(\d+\)", re.DOTALL)


class Namesakes:
    def __init__(self, connection: apsw.Connection, explained: Explained) -> None:
        self._db = connection
        self._explained = explained

    def of(self, label: str, name: str) -> Iterator[tuple[str, float | None]]:
        """Those with a number, and when each began."""
        with self._explained:
            sql = "SELECT run, kept FROM run WHERE label=? AND run>=? AND run<? ORDER BY key"
            for run, blob in self._db.execute(sql, (label, f"{name} (", f"{name} )")):
                if _NUMBERED.fullmatch(run):
                    yield run, decode_kept(blob, None).trace.started
