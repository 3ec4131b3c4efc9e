"""Records of the log as JSON."""

import msgspec

from paddock.core.events import Record, Unknown
from paddock.store.codec import body_of, kind_of
from paddock.views.document import SCHEMA, iso


class RecordView(msgspec.Struct, frozen=True):
    seq: int
    at: str
    actor: str
    generation: int
    kind: str
    task: str | None
    attempt: str | None
    body: msgspec.Raw
    hash: str
    schema: int = SCHEMA


def view_record(record: Record) -> RecordView:
    event = record.event
    return RecordView(
        seq=record.seq,
        at=iso(record.at),
        actor=record.actor,
        generation=record.generation,
        kind=kind_of(event),
        task=record.task,
        attempt=record.attempt,
        body=msgspec.Raw(event.body if isinstance(event, Unknown) else body_of(event)),
        hash=record.hash.hex(),
    )
