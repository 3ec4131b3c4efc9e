"""`python -m tests.histories.record NAME`: writes the story and what its status is, once and for all."""

import itertools
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from paddock.core.board import Board
from paddock.fleet.outlook import Outlook
from paddock.fleet.service.presence import look_for_daemon
from paddock.store.codec import Row
from paddock.store.protocol import Author
from paddock.store.sqlite import SqliteStore
from paddock.views.status import view_status
from tests.histories.story import story
from tests.views.eyes import Settings

FOLDER = Path(__file__).parent
OF_THE_MOMENT = ("today",)  # depends on the day one looks


class Line(msgspec.Struct, array_like=True):
    """A row as it is stored: the body stays byte for byte as it was written."""

    seq: int
    at: int
    actor: str
    generation: int
    kind: str
    task: str | None
    attempt: str | None
    body: msgspec.Raw
    hash: str

    def row(self) -> Row:
        head = (self.seq, self.at, self.actor, self.generation, self.kind, self.task, self.attempt)
        return (*head, bytes(self.body), bytes.fromhex(self.hash))


def line_of(row: Row) -> Line:
    return Line(*row[:7], msgspec.Raw(row[7]), row[8].hex())


def status_of(board: Board) -> dict[str, object]:
    now = time.time()
    view = view_status(Settings(), board, Outlook(now, look_for_daemon(board, now)))
    status = msgspec.json.decode(msgspec.json.encode(view), type=dict[str, object])
    return {name: value for name, value in status.items() if name not in OF_THE_MOMENT}


def record(name: str) -> None:
    path = FOLDER / f"{name}.jsonl"
    if path.exists():
        raise SystemExit(f"{path.name} is recorded already, and histories are never changed")
    minutes = itertools.count(1_800_000_000, 60)
    with TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "log.db", create=True, clock=lambda: float(next(minutes)))
        for draft in story():
            store.append(lambda _, draft=draft: [draft], Author("ana@host"))  # type: ignore[misc]
        lines = [msgspec.json.encode(line_of(row)) + b"\n" for row in store.rows()]
        status = msgspec.json.format(msgspec.json.encode(status_of(store.board())), indent=1)
        store.close()
    path.write_bytes(b"".join(lines))
    path.with_suffix(".status.json").write_bytes(status + b"\n")


if __name__ == "__main__":
    record(sys.argv[1])
