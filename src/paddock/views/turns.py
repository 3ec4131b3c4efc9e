"""What started a turn and what happened in it, one JSON object per line."""

import msgspec

from paddock.core.ids import harmless
from paddock.core.trace import TraceEntry
from paddock.fleet.attempts.openings import Opening, TurnInput
from paddock.views.document import SCHEMA, iso


class OpeningView(msgspec.Struct, frozen=True, tag_field="type", tag="turn"):
    turn: int
    at: str
    said: list[TurnInput]
    schema: int = SCHEMA


def view_opening(opening: Opening) -> OpeningView:
    said = [TurnInput(one.by, one.what, harmless(one.text)) for one in opening.said]
    return OpeningView(opening.turn, iso(opening.at), said)


def view_entry(entry: TraceEntry, at: float | None) -> dict[str, object]:
    """`at` is None if unknown."""
    known = {"at": iso(at)} if at is not None else {}
    return {**msgspec.to_builtins(entry), **known, "schema": SCHEMA}
