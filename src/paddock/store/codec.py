"""Records as rows, and the hash that chains each to its predecessor.

The hash covers the bytes as stored, so it also holds for kinds this version does not know.
"""

from collections.abc import Callable
from functools import cache

import msgspec

from paddock.core.events import Event, Record, Unknown
from paddock.core.ids import AttemptId, TaskId
from paddock.core.kinds import event_class
from paddock.store.digest import blake2b

HASH_BYTES = 20
GENESIS = bytes(HASH_BYTES)

Row = tuple[int, int, str, int, str, str | None, str | None, bytes, bytes]
"""seq, at in microseconds, actor, generation, kind, task, attempt, body, hash"""

_encode = msgspec.json.Encoder(order=None).encode


@cache
def _decoder(kind: str) -> Callable[[bytes], Event] | None:
    event = event_class(kind)
    return msgspec.json.Decoder(event).decode if event is not None else None


def chain(previous: bytes, row: Row | tuple[int, int, str, int, str, str | None, str | None, bytes]) -> bytes:
    """Of a record that may have its own hash already. The head is a JSON array, which ends where it ends: no two
    records have the same bytes."""
    return blake2b(b"".join((previous, _encode(row[:7]), row[7])), digest_size=HASH_BYTES).digest()


def follows(previous: bytes, row: Row) -> bool:
    try:
        return chain(previous, row) == row[8]
    except TypeError:  # NULLs where a page of the database is damaged
        return False


def body_of(event: Event) -> bytes:
    return event.body if isinstance(event, Unknown) else _encode(event)


def kind_of(event: Event) -> str:
    return event.name if isinstance(event, Unknown) else event.kind


def decode_event(kind: str, body: bytes) -> Event:
    """Raises msgspec.DecodeError on a body that is not what its kind says."""
    decode = _decoder(kind)
    return decode(body) if decode is not None else Unknown(kind, body)


def decode_row(row: Row) -> Record:
    seq, at, actor, generation, kind, task, attempt, body, digest = row
    return Record(
        seq,
        at / 1_000_000,
        actor,
        generation,
        TaskId(task) if task is not None else None,
        AttemptId(attempt) if attempt is not None else None,
        decode_event(kind, body),
        digest,
    )
