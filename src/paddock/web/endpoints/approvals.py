"""What can be decided about changes: approve and reject them, or land branches."""

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from paddock.core.board import DAEMON_LEASE
from paddock.core.errors import PaddockError
from paddock.core.ids import parse_task
from paddock.core.intent.landing import reject_task
from paddock.core.intent.selection import Bulk, Selection, require_convoy
from paddock.core.review.waiting import waiting_changes
from paddock.fleet.landing.approval import ApprovalRequest, Approved, approve
from paddock.fleet.landing.entrance import branch_head
from paddock.fleet.landing.sheet import make_sheet
from paddock.fleet.workspace import Workspace
from paddock.views.document import Document
from paddock.views.tasks.sheet import WaitingView, view_sheet
from paddock.web.endpoint import Asked, FilterText, NoBody, NoQuery, Visit
from paddock.web.endpoints.answers import (
    MOST_TASKS,
    BulkAnswer,
    RefusedView,
    TaskName,
    Text,
    chosen_tasks,
    record_for_each,
    refusal_of_one,
    view_refused,
    where_in,
)

Head = Annotated[str, Meta(pattern="^[0-9a-fA-F]{4,64}$")]


class QueuedView(msgspec.Struct, frozen=True):
    id: str
    version: int
    head: str
    waits_on: Sequence[str]
    concerns: Sequence[str]
    undoes: Sequence[str]


class ApprovalAnswer(Document, frozen=True, kw_only=True):
    """`is_up`: a daemon is running that tests and lands what is queued. `would` is what a dry run would queue."""

    done: list[QueuedView]
    refused: list[RefusedView]
    is_up: bool
    would: Sequence[str] = ()


class SeenTask(Asked, frozen=True):
    """`head` is the version that was seen, or the beginning of it: another one is refused as outdated."""

    id: TaskName
    head: Head | None = None


class ApproveBody(Asked, frozen=True):
    """Instead of `tasks`, `all`, a `convoy` or a filter `where` means every task that waits for approval; a `dry_run`
    tells which, and changes nothing. `after` are queued changes that these wait for. What is a `repair` of main is
    tested although main is red; with `undo` it may take landed work back."""

    tasks: Annotated[tuple[SeenTask, ...], Meta(max_length=MOST_TASKS)] = ()
    all: bool = False
    convoy: str | None = None
    dry_run: bool = False
    message: Text = ""
    after: tuple[str, ...] = ()
    repair: bool = False
    undo: bool = False
    where: FilterText | None = None


def approve_tasks(visit: Visit[NoQuery, ApproveBody]) -> ApprovalAnswer:
    workspace, body = visit.workspace, visit.body
    heads = {parse_task(one.id): one.head for one in body.tasks}
    wanted = Selection(tuple(heads), body.all, body.convoy, where=where_in(workspace, body.where))
    names = chosen_tasks(workspace, wanted, Bulk.LAND)
    if body.dry_run or not names:
        return _planned(workspace, names)
    seen = {name: head for name, head in heads.items() if head is not None}
    request = ApprovalRequest(names, (), body.message, body.repair, body.after, body.undo, seen)
    try:
        done = approve(workspace, request)
    except PaddockError as error:
        return ApprovalAnswer(done=[], refused=refusal_of_one(names, error), is_up=_is_up(workspace))
    return _approved(done)


def _is_up(workspace: Workspace) -> bool:
    return DAEMON_LEASE in workspace.board().leases.held


def _planned(workspace: Workspace, names: Sequence[str]) -> ApprovalAnswer:
    return ApprovalAnswer(done=[], refused=[], is_up=_is_up(workspace), would=names)


class LandBody(Asked, frozen=True):
    """`after` are queued changes that these wait for. One that is a `repair` of main is tested although main is red;
    with `undo` it may take landed work back. A `dry_run` looks at the branches, and changes nothing."""

    branches: Annotated[list[Annotated[str, Meta(min_length=1, max_length=250)]], Meta(min_length=1, max_length=100)]
    message: Text = ""
    after: tuple[str, ...] = ()
    repair: bool = False
    undo: bool = False
    dry_run: bool = False


def land_branches(visit: Visit[NoQuery, LandBody]) -> ApprovalAnswer:
    workspace, body = visit.workspace, visit.body
    if body.dry_run:
        for branch in body.branches:
            branch_head(workspace.site, branch)
        return _planned(workspace, body.branches)
    request = ApprovalRequest((), tuple(body.branches), body.message, body.repair, body.after, body.undo)
    return _approved(approve(workspace, request))


def _approved(done: Approved) -> ApprovalAnswer:
    return ApprovalAnswer(done=view_queued(done), refused=view_refused(done.refused), is_up=done.is_up)


def view_queued(done: Approved) -> list[QueuedView]:
    waits = done.waits_on
    return [
        QueuedView(one.id, one.version, one.head, waits.get(one.id, ()), one.concerns, one.undoes)
        for one in done.changes
    ]


class ReviewQuery(Asked, frozen=True):
    """Only tasks of this convoy."""

    convoy: str | None = None


def read_waiting(visit: Visit[ReviewQuery, NoBody]) -> WaitingView:
    workspace, convoy = visit.workspace, visit.query.convoy
    board = workspace.board()
    if convoy is not None:
        require_convoy(board, convoy)
    names = [one.task for one in waiting_changes(board, convoy)]
    return WaitingView(waiting=[view_sheet(make_sheet(workspace, board, board.task(name))) for name in names])


class RejectBody(Asked, frozen=True):
    """`message` is for the agents; without one a new attempt starts."""

    tasks: Annotated[list[SeenTask], Meta(min_length=1, max_length=MOST_TASKS)]
    message: Text = ""


def reject_tasks(visit: Visit[NoQuery, RejectBody]) -> BulkAnswer:
    heads = {parse_task(one.id): one.head for one in visit.body.tasks}
    message = visit.body.message
    return record_for_each(
        visit.workspace, list(heads), lambda board, name: reject_task(board, name, message, heads[name])
    )
