"""What an agent was told, said, did and changed."""

from typing import Annotated

import msgspec
from msgspec import Meta

from paddock.core.errors import Misuse, NotFound
from paddock.core.ids import parse_task, task_of
from paddock.core.intent.selection import attempt_named
from paddock.core.tasks.task import Attempt
from paddock.fleet.attempts.excerpts import MOST_ENTRIES
from paddock.views.tasks.diff import view_task_diff, view_versions_diff
from paddock.views.tasks.patch import DiffView
from paddock.views.tasks.transcript import (
    PAGE_ENTRIES,
    PageRequest,
    PromptView,
    RawView,
    TranscriptView,
    view_page,
    view_prompt,
    view_raw_page,
)
from paddock.web.endpoint import Asked, Count, NoBody, NoQuery, Visit


class TranscriptQuery(Asked, frozen=True):
    """The last entries of a turn, those before the one numbered `before`, or those after `after`. Without `attempt` and
    `turn`, the last ones."""

    attempt: str | None = None
    turn: Annotated[int, Meta(ge=1, le=10**6)] | None = None
    before: Count | None = None
    after: Count | None = None
    limit: Annotated[int, Meta(ge=1, le=MOST_ENTRIES)] = PAGE_ENTRIES


def read_transcript(visit: Visit[TranscriptQuery, NoBody]) -> TranscriptView:
    query = visit.query
    if query.before is not None and query.after is not None:
        raise Misuse("`before` and `after` cannot be used together", "use one or the other")
    attempt, turn = _turn(visit, query.attempt, query.turn)
    task = visit.board.task(task_of(attempt.id))
    asked = PageRequest(before=query.before, after=query.after, limit=query.limit)
    return view_page(visit.workspace.site, visit.store, task, attempt, turn, asked)


class RawQuery(Asked, frozen=True):
    """`after` is the `end` of the part before, `before` the `start` of the part after; without them, the end of the
    output is given."""

    attempt: str | None = None
    turn: Annotated[int, Meta(ge=1, le=10**6)] | None = None
    after: Count | None = None
    before: Count | None = None


def read_raw_output(visit: Visit[RawQuery, NoBody]) -> RawView:
    attempt, turn = _turn(visit, visit.query.attempt, visit.query.turn)
    return view_raw_page(visit.workspace.site, attempt, turn, visit.query.after, visit.query.before)


def _turn(
    visit: Visit[TranscriptQuery, NoBody] | Visit[RawQuery, NoBody], said: str | None, turn: int | None
) -> tuple[Attempt, int]:
    task = parse_task(visit.path["id"])
    attempt = attempt_named(visit.board, said or task)
    if task_of(attempt.id) != task:
        raise NotFound(f"`{attempt.id}` is no attempt of `{task}`", f"ask for `tasks/{task_of(attempt.id)}`")
    return attempt, attempt.turn if turn is None else turn


def read_prompt(visit: Visit[NoQuery, NoBody]) -> PromptView:
    task = visit.board.task(parse_task(visit.path["id"]))
    return view_prompt(visit.workspace.site, visit.store, task)


class DiffQuery(Asked, frozen=True):
    """What would land now; with `own`, what the agents did since they started; with `from` and `to`, the difference of
    two versions. `path` is one file of it, with more of its lines."""

    own: bool = False
    from_: Annotated[str, Meta(pattern="^[0-9a-f]{4,64}$")] | None = msgspec.field(default=None, name="from")
    to: Annotated[str, Meta(pattern="^[0-9a-f]{4,64}$")] | None = None
    path: Annotated[str, Meta(max_length=8_000)] | None = None


def read_diff(visit: Visit[DiffQuery, NoBody]) -> DiffView:
    query, site, board = visit.query, visit.workspace.site, visit.board
    task = board.task(parse_task(visit.path["id"]))
    if (query.from_ is None) != (query.to is None):
        raise Misuse("`from` and `to` belong together", "give both commits, or none")
    if query.from_ is not None and query.to is not None:
        return view_versions_diff(site, task, query.from_, query.to, query.path)
    return view_task_diff(site, board, task, own=query.own, path=query.path)
