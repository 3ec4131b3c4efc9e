"""Records of the log as JSON, also with what they tell in words."""

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from paddock.core.board import Board
from paddock.core.events import Record, Unknown
from paddock.store.codec import body_of, kind_of
from paddock.views.document import SCHEMA, iso, view_of
from paddock.views.log.narration import describe


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


class ToldRecord(msgspec.Struct, frozen=True):
    """As `paddock log --json`, and in words, which are empty for what is not worth any. A brief one has neither body
    nor hash."""

    seq: int
    at: str
    actor: str
    generation: int
    kind: str
    task: str | None
    attempt: str | None
    words: str
    body: msgspec.Raw | UnsetType = UNSET
    hash: str | UnsetType = UNSET
    schema: int = SCHEMA


def tell_record(record: Record, board: Board) -> ToldRecord:
    """`board` has folded it already."""
    return view_of(ToldRecord, view_record(record), words=describe(record, board))


def in_brief(record: ToldRecord) -> ToldRecord:
    return replace(record, body=UNSET, hash=UNSET)
