"""A writer as a process of its own: `python -m tests.store.writer MODE LOG COUNT`.

`add` adds tasks and says how often it lost a race; `acknowledge` writes each sequence number to standard
output once append has returned, for ever.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.intent.tasks import Batch, Known, TaskSpec, add_tasks, cancel_tasks
from paddock.store.protocol import Author
from paddock.store.sqlite import SqliteStore


def main() -> None:
    mode, log, count = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    store = SqliteStore(log, lock_timeout_seconds=60.0)
    author = Author(f"writer-{os.getpid()}")
    if mode == "add":
        add_and_cancel(store, author, count)
    else:
        acknowledge(store, author)


def add_and_cancel(store: SqliteStore, author: Author, count: int) -> None:
    """Every decision depends on what it sees: the newest id, and whether the newest task is still open."""
    for number in range(count):
        batch = Batch((TaskSpec(f"work {number} of {author.name}"),))

        def decide(board: Board, batch: Batch = batch, number: int = number) -> Sequence[ev.Draft]:
            drafts = add_tasks(board, batch, Known())
            if number % 3 == 0 and board.open:
                drafts += cancel_tasks(board, [next(iter(board.open))], author.name)
            return drafts

        store.append(decide, author)


def acknowledge(store: SqliteStore, author: Author) -> None:
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        drafts = lambda board: add_tasks(board, Batch((TaskSpec("x" * 200), TaskSpec("y"))), Known())  # noqa: E731
        for record in store.append(drafts, author):
            sys.stdout.write(f"{record.seq} {record.hash.hex()}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
