"""Requests about several tasks: which are meant, what was done, and each refusal with its reason."""

import time
from collections.abc import Callable, Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from paddock.core.board import Board
from paddock.core.errors import Misuse, PaddockError
from paddock.core.events import Draft, Record
from paddock.core.filter.tasks import TaskFilter
from paddock.core.ids import TaskId, parse_task_range
from paddock.core.intent.selection import Bulk, RefusedTask, Selection, select_tasks
from paddock.core.intent.workers import NotForWorkers
from paddock.fleet.bulk import record_each
from paddock.fleet.task_filter import read_filter
from paddock.fleet.workspace import Workspace
from paddock.store.protocol import LogUnusable
from paddock.views.document import Document
from paddock.web.endpoint import Asked, FilterText
from paddock.web.problems import complaint_about

MOST_TASKS = 1_000
Text = Annotated[str, Meta(max_length=200_000)]
TaskName = Annotated[str, Meta(min_length=1, max_length=40)]


class ManyBody(Asked, frozen=True):
    """`tasks` are ids or ranges such as `t3-t7`; instead of them `all`, a `convoy` or a filter `where` means every task
    that qualifies. A `dry_run` tells which, and changes nothing."""

    tasks: Annotated[tuple[TaskName, ...], Meta(max_length=MOST_TASKS)] = ()
    all: bool = False
    convoy: str | None = None
    dry_run: bool = False
    where: FilterText | None = None

    def selection(self, workspace: Workspace) -> Selection:
        return Selection(tuple(names_in(self.tasks)), self.all, self.convoy, where=where_in(workspace, self.where))


def where_in(workspace: Workspace, text: str | None) -> TaskFilter | None:
    """Raises FilterError."""
    return read_filter(workspace, text, time.time()) if text is not None else None


class DoneView(msgspec.Struct, frozen=True):
    id: str


class RefusedView(msgspec.Struct, frozen=True, omit_defaults=True):
    """`seen` and `now` are the versions, where the one that was seen is outdated."""

    id: str
    code: str
    message: str
    hint: str | None = None
    seen: str | None = None
    now: str | None = None


class BulkAnswer(Document, frozen=True, kw_only=True):
    """`seq` is the newest record of what was done, 0 if nothing was. On a `dry_run`, `done` is what would be."""

    done: list[DoneView]
    refused: list[RefusedView]
    seq: int = 0
    dry_run: bool = False


def names_in(said: Sequence[str]) -> list[TaskId]:
    """Each once. Raises Misuse."""
    names = list(dict.fromkeys(name for one in said for name in parse_task_range(one)))
    if len(names) > MOST_TASKS:
        raise Misuse(f"{len(names):,} tasks are too many for one request", f"name {MOST_TASKS:,} at most")
    return names


def chosen_tasks(workspace: Workspace, wanted: Selection, request: Bulk) -> list[TaskId]:
    """Raises Misuse where nothing is named, or tasks beside what names all of them."""
    if wanted.named and wanted.in_bulk:
        raise Misuse("`tasks` cannot be combined with what names many of them", "give one or the other")
    if wanted.in_bulk:
        return select_tasks(workspace.board(), wanted, request)
    if not wanted.named:
        raise Misuse(
            "no task was named", "name some in `tasks`, or all of a `convoy` or `where`; `GET /tasks` lists them"
        )
    return list(wanted.named)


def record_for_chosen(
    workspace: Workspace, body: ManyBody, request: Bulk, decide: Callable[[Board, TaskId], Sequence[Draft]]
) -> BulkAnswer:
    names = chosen_tasks(workspace, body.selection(workspace), request)
    if body.dry_run:
        return BulkAnswer(done=[DoneView(name) for name in names], refused=[], dry_run=True)
    return record_for_each(workspace, names, decide) if names else BulkAnswer(done=[], refused=[])


def record_for_each(
    workspace: Workspace, names: Sequence[TaskId], decide: Callable[[Board, TaskId], Sequence[Draft]]
) -> BulkAnswer:
    try:
        records, refused = record_each(workspace, names, decide)
    except PaddockError as error:
        return BulkAnswer(done=[], refused=refusal_of_one(names, error))
    return done_answer(names, records, refused)


def refusal_of_one(names: Sequence[TaskId], error: PaddockError) -> list[RefusedView]:
    """With one task its refusal is an error: here it becomes an answer like those of many. Raises any other error."""
    if len(names) != 1 or isinstance(error, Misuse | LogUnusable | NotForWorkers):
        raise error
    return view_refused([RefusedTask(names[0], error)])


def done_answer(names: Sequence[TaskId], records: Sequence[Record], refused: Sequence[RefusedTask] = ()) -> BulkAnswer:
    not_done = {one.task for one in refused}
    return BulkAnswer(
        done=[DoneView(name) for name in names if name not in not_done],
        refused=view_refused(refused),
        seq=records[-1].seq if records else 0,
    )


def view_refused(refused: Sequence[RefusedTask]) -> list[RefusedView]:
    return [RefusedView(one.task, **msgspec.structs.asdict(complaint_about(one.error))) for one in refused]
