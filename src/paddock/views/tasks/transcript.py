"""What an agent said and did in a turn, a page at a time, as JSON."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from paddock.core.errors import PaddockError
from paddock.core.ids import harmless, task_of
from paddock.core.tasks.task import Attempt, Task
from paddock.core.trace import TraceEntry
from paddock.fleet.attempts.excerpts import Excerpt, PlacedEntry, read_end, read_on, read_raw
from paddock.fleet.attempts.openings import Opening, find_opening
from paddock.fleet.attempts.reading import preview_prompt
from paddock.fleet.raw_output import RawPart
from paddock.fleet.site import Site
from paddock.store.protocol import Store
from paddock.views.document import Document, iso_or_none
from paddock.views.tasks.details import OpeningView, view_opening

PAGE_ENTRIES = 200


@dataclass(frozen=True, slots=True)
class PageRequest:
    """The last entries, or those before or after one."""

    before: int | None = None
    after: int | None = None
    limit: int = PAGE_ENTRIES


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
    """A part of the output as it is, apart from what could do harm: ask for what follows with `after` = `end`, for what
    precedes it with `before` = `start`."""

    attempt: str
    turn: int
    text: str
    start: int
    end: int
    size: int
    live: bool


class PromptView(Document, frozen=True, kw_only=True):
    """What a first turn at the task is told, the brief included."""

    task: str
    text: str


def view_page(site: Site, store: Store, task: Task, attempt: Attempt, turn: int, asked: PageRequest) -> TranscriptView:
    """A page of one turn. Raises NotFound if the attempt has had no such turn."""
    _require_turn(attempt, turn)
    if asked.after is not None:
        part = read_on(site, attempt, turn, asked.limit, asked.after)
    else:
        part = read_end(site, attempt, turn, asked.limit, asked.before)
    opening = None if part.more_before else find_opening(store, task, attempt, turn)
    return view_transcript(attempt, turn, part, opening)


def view_raw_page(site: Site, attempt: Attempt, turn: int, after: int | None, before: int | None = None) -> RawView:
    """Of turn 0 what the set-up of its worktree printed, where no agent has run."""
    if turn or attempt.turn:
        _require_turn(attempt, turn)
    return view_raw(attempt, turn, read_raw(site, attempt, turn, after, before))


def _require_turn(attempt: Attempt, turn: int) -> None:
    if not 1 <= turn <= attempt.turn:
        had = f"it has had {attempt.turn}" if attempt.turn else "it has had none"
        raise PaddockError(f"`{attempt.id}` has no turn {turn}: {had}", f"`paddock show {task_of(attempt.id)}`")


def view_prompt(site: Site, store: Store, task: Task) -> PromptView:
    return PromptView(task=task.id, text=harmless(preview_prompt(site, store, task)))


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
