"""Logs and writers for tests that break a server."""

import os
import subprocess
import sys
from pathlib import Path
from typing import IO

from paddock.core import events as ev
from paddock.store.place import LogPlace
from paddock.store.postgres import PostgresStore
from paddock.store.protocol import Query

TOP = Path(__file__).parent.parent.parent
Acknowledged = dict[str, tuple[int, str]]
"""By title: the number and the hash of the record that a writer was told."""


def new_place(folder: Path, url: str) -> LogPlace:
    return LogPlace(folder / "paddock" / "shared", url, f"log_{os.urandom(5).hex()}")


def new_log(folder: Path, url: str) -> LogPlace:
    place = new_place(folder, url)
    PostgresStore(place, create=True).close()
    return place


class Writer:
    """A process of `tests.store.postgres_writer`, as on a machine of its own: it shares nothing but the log."""

    def __init__(self, mode: str, place: LogPlace, folder: Path, *more: str) -> None:
        folder.mkdir(parents=True)
        file = folder / "paddock" / "shared"
        argv = (sys.executable, "-m", "tests.store.postgres_writer", mode, str(file), place.url, place.schema, *more)
        self.process = subprocess.Popen(argv, cwd=TOP, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self._told: list[str] = []
        assert self._out.readline() == "ready\n", self.process.stderr and self.process.stderr.read()

    @property
    def _out(self) -> IO[str]:
        assert self.process.stdout is not None
        return self.process.stdout

    def hear(self, lines: int) -> None:
        """Returns once it has said that many more."""
        for _ in range(lines):
            line = self._out.readline()
            assert line, self.process.stderr and self.process.stderr.read()
            self._told.append(line)

    def end(self) -> Acknowledged:
        """Kills it. What it was told by then; a last line that was cut off was not."""
        self.process.kill()
        self._told += self._out.readlines()
        self.process.communicate()
        told: Acknowledged = {}
        for line in self._told:
            if line.endswith("\n"):
                title, seq, digest = line.rsplit(" ", 2)
                told[title] = (int(seq), digest.strip())
        return told

    def finish(self) -> None:
        _, errors = self.process.communicate(timeout=120)
        assert (self.process.returncode, errors) == (0, ""), "a broken connection is no news for a terminal"


def assert_kept(place: LogPlace, acknowledged: Acknowledged) -> None:
    """Every record that a writer was told of is there as it was told, and no decision was written twice."""
    store = PostgresStore(place, read_only=True)
    try:
        verified = store.verify()
        assert verified.bad is None
        found: Acknowledged = {}
        for record in store.records(Query(kind="task.added")):
            assert isinstance(record.event, ev.TaskAdded)
            assert record.event.title not in found, "written twice"
            found[record.event.title] = (record.seq, record.hash.hex())
        assert acknowledged.items() <= found.items()
        assert store.board().seq == verified.records == store.head()
    finally:
        store.close()
