"""JSON as every edge gives it, schema 1: documented in docs/contracts.md and only ever extended."""

import time
from typing import Any, TypeVar

import msgspec

SCHEMA = 1
View = TypeVar("View", bound=msgspec.Struct)


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A whole document, printed or served."""

    schema: int = SCHEMA


def document(**fields: object) -> dict[str, object]:
    """The answer of a command that changed something."""
    return {"schema": SCHEMA, **fields}


def view_of(kind: type[View], model: object, /, **own: object) -> View:
    """A view with the fields it has in common with the model; `own` are the ones it tells in its own way."""
    shared = (name for name in kind.__struct_fields__ if name not in own and name != "schema")
    return kind(**{name: getattr(model, name) for name in shared}, **own)


def to_json(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2)


def to_json_line(value: Any) -> bytes:
    return msgspec.json.encode(value)


def iso(at: float) -> str:
    """UTC, to the millisecond."""
    whole = int(at)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)) + f".{int((at - whole) * 1000):03d}Z"


def iso_or_none(at: float | None) -> str | None:
    return None if at is None else iso(at)
