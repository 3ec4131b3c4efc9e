"""What the Python API returns beside the views that every edge has. Fields are only ever added."""

from typing import Any

import msgspec

from paddock.core.events import Record
from paddock.views.log.records import view_record


class LoggedEvent(msgspec.Struct, frozen=True):
    """A record of the log; docs/reference/events.md tells what `body` holds for each `kind`."""

    seq: int
    at: str
    actor: str
    kind: str
    task: str | None
    attempt: str | None
    body: dict[str, Any]


class Queued(msgspec.Struct, frozen=True):
    """A change that was put into the merge queue."""

    id: str
    version: int
    head: str
    waits_on: tuple[str, ...]


def tell_event(record: Record) -> LoggedEvent:
    shown = view_record(record)
    body = msgspec.json.decode(bytes(shown.body), type=dict[str, Any])
    return LoggedEvent(shown.seq, shown.at, shown.actor, shown.kind, shown.task, shown.attempt, body)
