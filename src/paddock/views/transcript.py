"""What an agent said and did in a turn, a page at a time, as JSON."""

from collections.abc import Callable
from typing import Any

import msgspec

from paddock.core.ids import harmless
from paddock.core.tasks.task import Attempt
from paddock.core.trace import TraceEntry
from paddock.fleet.attempts.excerpts import Excerpt, PlacedEntry, RawPart
from paddock.fleet.attempts.openings import Opening
from paddock.views.attempts import OpeningView, view_opening
from paddock.views.document import Document, iso_or_none

PAGE_ENTRIES = 200


class TranscriptView(Document, frozen=True, kw_only=True):
    """`entries` are of core/trace, each with `n`, its number, and `at`. `opening` is what the turn began with, told
    with its first page. `live`: more will come."""

    attempt: str
    turn: int
    entries: list[dict[str, object]]
    first: int
    last: int
    more_before: bool
    more_after: bool
    live: bool
    unfinished: str
    aside: list[dict[str, object]]
    opening: OpeningView | None


class RawView(Document, frozen=True, kw_only=True):
    """A part of the output as it is, apart from what could do harm: ask for what follows with `after` = `end`."""

    attempt: str
    turn: int
    text: str
    start: int
    end: int
    size: int
    live: bool


def is_live(attempt: Attempt, turn: int) -> bool:
    return attempt.live and attempt.turn == turn and attempt.turn_open


def view_transcript(attempt: Attempt, turn: int, part: Excerpt, opening: Opening | None) -> TranscriptView:
    return TranscriptView(
        attempt=attempt.id,
        turn=turn,
        entries=[view_placed(one) for one in part.entries],
        first=part.first,
        last=part.last,
        more_before=part.more_before,
        more_after=part.more_after,
        live=is_live(attempt, turn),
        unfinished=harmless(part.unfinished),
        aside=[_inert(entry) for entry in part.aside],
        opening=None if opening is None or part.more_before else view_opening(opening),
    )


def view_placed(placed: PlacedEntry) -> dict[str, object]:
    return {"n": placed.number, "at": iso_or_none(placed.at), **_inert(placed.entry)}


def view_raw(attempt: Attempt, turn: int, part: RawPart) -> RawView:
    return RawView(
        attempt=attempt.id,
        turn=turn,
        text=part.text,
        start=part.start,
        end=part.end,
        size=part.size,
        live=is_live(attempt, turn),
    )


def _inert(entry: TraceEntry) -> dict[str, object]:
    """Agents write these: nothing in them may do anything to whoever shows it."""
    told: dict[str, object] = _each_text(msgspec.to_builtins(entry), harmless)
    return told


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {name: _each_text(one, change) for name, one in value.items()}
    return [_each_text(one, change) for one in value] if isinstance(value, list) else value
