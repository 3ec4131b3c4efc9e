"""A writer as a process of its own: `python -m tests.store.postgres_writer MODE FILE URL SCHEMA [COUNT]`.

`add` adds tasks; `acknowledge` adds them for ever, and says which once append has returned: a title, a sequence number
and a hash. What it is not told whether it was written, it asks again until it knows. `freeze` stops itself inside of a
transaction.
"""

import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.events import Record
from paddock.core.ids import task_id
from paddock.store.place import LogPlace
from paddock.store.postgres import PostgresStore
from paddock.store.protocol import Author, Decide, LogUnavailable

GIVE_UP_SECONDS = 120.0


def main() -> None:
    mode, file, url, schema = sys.argv[1:5]
    store = PostgresStore(LogPlace(Path(file), url, schema), lock_timeout_seconds=60.0)
    author = Author(f"writer-{os.getpid()}")
    say("ready")
    if mode == "add":
        for number in range(int(sys.argv[5])):
            store.append(adding(f"{author.name} {number}"), author)
    elif mode == "freeze":
        store.append(freezing(), author)
    else:
        for number in range(1_000_000):
            title = f"{author.name} {number}"
            (record,) = append_at_last(store, adding(title), author)
            say(f"{title} {record.seq} {record.hash.hex()}")


def append_at_last(store: PostgresStore, decide: Decide, author: Author) -> list[Record]:
    give_up_at = time.monotonic() + GIVE_UP_SECONDS
    while True:
        try:
            return store.append(decide, author)
        except LogUnavailable:
            if time.monotonic() > give_up_at:
                raise
            time.sleep(0.05)


def adding(title: str) -> Decide:
    return lambda board: [ev.Draft(ev.TaskAdded(title, "x" * 100), task=task_id(board.next_task))]


def freezing() -> Decide:
    """Once: it is asked again after its transaction was ended."""
    signals = [signal.SIGSTOP]

    def decide(board: Board) -> Sequence[ev.Draft]:
        if signals:
            say("stopping")
            os.kill(os.getpid(), signals.pop())
        return adding("too late")(board)

    return decide


def say(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
