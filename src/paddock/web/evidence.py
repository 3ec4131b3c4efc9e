"""What can be read up on: the log, the stories of changes and CI runs, what agents and CI printed, what was changed."""

from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Annotated

import msgspec
from msgspec import Meta

from paddock.core.errors import Misuse, NotFound
from paddock.core.events import Record
from paddock.core.ids import is_run, parse_run, parse_task, task_of
from paddock.core.intent.queue import change_named
from paddock.core.intent.selection import attempt_named
from paddock.core.tasks.task import Attempt
from paddock.fleet.attempts.excerpts import MOST_ENTRIES
from paddock.fleet.landing.ci_output import last_lines, steps_of
from paddock.fleet.landing.conflicts import both_sides
from paddock.sessions.protocol import Stream
from paddock.store.protocol import Query
from paddock.views.board.page import LiveBoard
from paddock.views.board.rows import TaskRow
from paddock.views.board.search import search_rows
from paddock.views.document import SCHEMA, Document, to_json_line
from paddock.views.fleet.page import MOST_HOURS, FleetDocument, LiveFleet
from paddock.views.log.narration import describe
from paddock.views.log.records import view_record
from paddock.views.queue import history, stories
from paddock.views.queue.picture import MOST_MINUTES, SHOWN_MINUTES, LiveQueue, Picture
from paddock.views.queue.run_log import RunLogView, view_run_log
from paddock.views.tasks.diff import view_task_diff, view_versions_diff
from paddock.views.tasks.page import LiveTask
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
from paddock.web.channels import sight_of
from paddock.web.exchange import Asked, NoBody, NoQuery, Printed, Visit
from paddock.web.live import ToldRecord, in_brief, told

Count = Annotated[int, Meta(ge=0, le=2**53)]
MOST_RECORDS = 1_000
SEARCHED_RECORDS = 200_000
"""Records that one search looks through, from where it begins."""


class LogQuery(Asked, frozen=True):
    """Records after `after` or before `before`; `newest` gives the last ones of these. `text` is looked for in
    words and body, without regard to case."""

    after: Count = 0
    before: Count | None = None
    task: str | None = None
    kind: Annotated[str, Meta(max_length=80)] | None = None
    text: Annotated[str, Meta(max_length=200)] | None = None
    limit: Annotated[int, Meta(ge=1, le=MOST_RECORDS)] = 100
    newest: bool = False
    brief: bool = False


class LogPage(Document, frozen=True, kw_only=True):
    """`more`: there are more in the direction that was asked for. `seq` is the newest record of all."""

    seq: int
    records: list[ToldRecord]
    more: bool


def read_log(visit: Visit[LogQuery, NoBody]) -> LogPage:
    store, query = visit.store, visit.query
    board = store.board()
    until = board.seq if query.before is None else min(board.seq, query.before - 1)
    asked = Query(
        after=query.after,
        until=until,
        task=parse_task(query.task) if query.task else None,
        kind=query.kind or None,
    )
    backwards = query.newest or query.before is not None
    if backwards and not query.text and asked.task is None and asked.kind is None:
        # Numbers may be missing where records were lost, so a little more is read than is wanted.
        asked = msgspec.structs.replace(asked, after=max(query.after, until - query.limit - 1))
    found = _matching(islice(store.records(asked), SEARCHED_RECORDS), query.text or "", visit)
    wanted = query.limit + 1
    shown = list(deque(found, maxlen=wanted) if backwards else islice(found, wanted))
    more = len(shown) > query.limit or (backwards and asked.after > query.after)
    part = shown[-query.limit :] if backwards else shown[: query.limit]
    lines = [_told(visit, record, brief=query.brief) for record in part]
    return LogPage(seq=board.seq, records=lines, more=more)


def _matching(records: Iterator[Record], text: str, visit: Visit[LogQuery, NoBody]) -> Iterator[Record]:
    if not text:
        yield from records
        return
    wanted, board = text.casefold(), visit.store.known()
    for record in records:
        shown = view_record(record)
        body = bytes(shown.body).decode("utf-8", "replace")
        words = (shown.kind, shown.actor, shown.task or "", body, describe(record, board))
        if any(wanted in word.casefold() for word in words):
            yield record


def _told(visit: Visit[LogQuery, NoBody], record: Record, *, brief: bool) -> ToldRecord:
    shown = told(record, visit.store.known())
    return in_brief(shown) if brief else shown


def read_record(visit: Visit[NoQuery, NoBody]) -> ToldRecord:
    said = visit.path["seq"]
    number = int(said) if said.isascii() and said.isdecimal() and len(said) < 16 else 0
    board = visit.board
    found = next(iter(visit.store.records(Query(after=number - 1, until=number))), None) if number else None
    if found is None:
        raise NotFound(f"there is no record `{said[:20]}`: the newest is {board.seq}", "`paddock log` lists them")
    return told(found, board)


class WhyView(Document, frozen=True, kw_only=True):
    """The story of a change, of a CI run, or of main."""

    change: stories.ChangeStoryView | None = None
    run: stories.RunStoryView | None = None
    main: stories.MainStoryView | None = None


def read_why(visit: Visit[NoQuery, NoBody]) -> WhyView:
    workspace, board = visit.workspace, visit.board
    name = change_named(board, visit.path["change"])
    if name in ("main", workspace.config.landing_branch):
        return WhyView(main=_main_story(visit))
    if is_run(name):
        return WhyView(run=_run_story(visit, parse_run(name)))
    story = history.story_of_change(visit.store.records, name)
    conflict = history.open_conflict(story)
    sides = None if conflict is None else both_sides(workspace.site, conflict.head, conflict.base, conflict.paths)
    return WhyView(change=stories.view_change_story(name, story, conflict, sides))


def _main_story(visit: Visit[NoQuery, NoBody]) -> stories.MainStoryView:
    queue, site = visit.board.queue, visit.workspace.site
    story = history.story_of_main(visit.store.records)
    bad = [line.run for line in story if line.failed]
    red = queue.main is None or queue.main.verified_by is None or queue.halted is not None
    return stories.view_main_story(queue, story, last_lines(site, bad[-1]).splitlines() if bad and red else [])


def read_run(visit: Visit[NoQuery, NoBody]) -> stories.RunStoryView:
    return _run_story(visit, parse_run(visit.path["run"]))


def _run_story(visit: Visit[NoQuery, NoBody], run: str) -> stories.RunStoryView:
    story, site = history.story_of_run(visit.store.records, run), visit.workspace.site
    steps = [
        stories.StepView(step.turn.number, step.name, site.sessions.output(step.turn, Stream.STDOUT).size())
        for step in steps_of(site, run)
    ]
    return stories.view_run_story(story, str(site.run_folder(run)), steps, last_lines(site, run).splitlines())


class RunLogQuery(Asked, frozen=True):
    """`step` is a number of the run's steps, by default its last; `after` is the `end` of the part before. Without
    it, the end of the output is given."""

    step: Count | None = None
    after: Count | None = None


def read_run_log(visit: Visit[RunLogQuery, NoBody]) -> RunLogView:
    run, site = parse_run(visit.path["run"]), visit.workspace.site
    history.story_of_run(visit.store.records, run)  # or there is no such run
    is_live = run in visit.board.queue.running
    return view_run_log(site, run, visit.query.step, visit.query.after, is_live=is_live)


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
    """`after` is the `end` of the part before; without it, the end of the output is given."""

    attempt: str | None = None
    turn: Annotated[int, Meta(ge=1, le=10**6)] | None = None
    after: Count | None = None


def read_raw_output(visit: Visit[RawQuery, NoBody]) -> RawView:
    attempt, turn = _turn(visit, visit.query.attempt, visit.query.turn)
    return view_raw_page(visit.workspace.site, attempt, turn, visit.query.after)


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


def read_board(visit: Visit[NoQuery, NoBody]) -> Printed:
    return whole(LiveBoard().look(sight_of(visit.workspace, visit.store, visit.now)))


class SearchQuery(Asked, frozen=True):
    """As on the board: words, `phase:running`, `-word`."""

    text: Annotated[str, Meta(max_length=400)] = ""


class FoundView(Document, frozen=True, kw_only=True):
    seq: int
    tasks: list[TaskRow]


def search_tasks(visit: Visit[SearchQuery, NoBody]) -> FoundView:
    """Among what the board shows: all that is unfinished, and what finished last."""
    board = LiveBoard().look(sight_of(visit.workspace, visit.store, visit.now))
    return FoundView(seq=board.seq, tasks=search_rows(board.tasks.values(), visit.query.text))


class PictureQuery(Asked, frozen=True):
    minutes: Annotated[int, Meta(ge=1, le=MOST_MINUTES)] = SHOWN_MINUTES


def read_picture(visit: Visit[PictureQuery, NoBody]) -> Picture:
    sight = sight_of(visit.workspace, visit.store, visit.now)
    return LiveQueue().look(sight, visit.query.minutes)


class FleetQuery(Asked, frozen=True):
    hours: Annotated[float, Meta(gt=0, le=MOST_HOURS)] = 6.0


def read_fleet(visit: Visit[FleetQuery, NoBody]) -> FleetDocument:
    return LiveFleet().whole(sight_of(visit.workspace, visit.store, visit.now), visit.query.hours)


def read_task(visit: Visit[NoQuery, NoBody]) -> Printed:
    task = visit.board.task(parse_task(visit.path["id"])).id
    return whole(LiveTask(task).look(sight_of(visit.workspace, visit.store, visit.now)))


def whole(view: msgspec.Struct) -> Printed:
    """A live view as an answer of its own."""
    if isinstance(view, Document):
        return Printed(to_json_line(view))
    return Printed(b'{"schema":%d,' % SCHEMA + to_json_line(view)[1:])
