"""What can be decided about changes: approve and reject them, or land branches."""

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from paddock.core.board import DAEMON_LEASE
from paddock.core.errors import PaddockError
from paddock.core.ids import parse_task
from paddock.core.intent.landing import reject_task
from paddock.fleet.landing.approval import ApprovalRequest, Approved, approve
from paddock.views.document import Document
from paddock.web.endpoint import Asked, NoQuery, Visit
from paddock.web.endpoints.answers import (
    MOST_TASKS,
    BulkAnswer,
    RefusedView,
    TaskName,
    Text,
    record_for_each,
    refusal_of_one,
    view_refused,
)

Head = Annotated[str, Meta(pattern="^[0-9a-f]{40,64}$")]


class QueuedView(msgspec.Struct, frozen=True):
    id: str
    version: int
    head: str
    waits_on: Sequence[str]
    concerns: Sequence[str]
    undoes: Sequence[str]


class ApprovalAnswer(Document, frozen=True, kw_only=True):
    """`is_up`: a daemon is running that tests and lands what is queued."""

    done: list[QueuedView]
    refused: list[RefusedView]
    is_up: bool


class SeenTask(Asked, frozen=True):
    """`head` is the version that was seen: another one is refused as outdated."""

    id: TaskName
    head: Head | None = None


class ApproveBody(Asked, frozen=True):
    tasks: Annotated[list[SeenTask], Meta(min_length=1, max_length=MOST_TASKS)]
    message: Text = ""
    undo: bool = False


def approve_tasks(visit: Visit[NoQuery, ApproveBody]) -> ApprovalAnswer:
    body = visit.body
    heads = {parse_task(one.id): one.head for one in body.tasks}
    seen = {name: head for name, head in heads.items() if head is not None}
    request = ApprovalRequest(tuple(heads), message=body.message, undo=body.undo, expected=seen)
    try:
        done = approve(visit.workspace, request)
    except PaddockError as error:
        is_up = DAEMON_LEASE in visit.workspace.board().leases.held
        return ApprovalAnswer(done=[], refused=refusal_of_one(tuple(heads), error), is_up=is_up)
    return _approved(done)


class LandBody(Asked, frozen=True):
    """`after` are queued changes that these wait for. One that is a `repair` of main is tested although main is red;
    with `undo` it may take landed work back."""

    branches: Annotated[list[Annotated[str, Meta(min_length=1, max_length=250)]], Meta(min_length=1, max_length=100)]
    message: Text = ""
    after: tuple[str, ...] = ()
    repair: bool = False
    undo: bool = False


def land_branches(visit: Visit[NoQuery, LandBody]) -> ApprovalAnswer:
    body = visit.body
    request = ApprovalRequest((), tuple(body.branches), body.message, body.repair, body.after, body.undo)
    return _approved(approve(visit.workspace, request))


def _approved(done: Approved) -> ApprovalAnswer:
    waits = done.waits_on
    queued = [
        QueuedView(one.id, one.version, one.head, waits.get(one.id, ()), one.concerns, one.undoes)
        for one in done.changes
    ]
    return ApprovalAnswer(done=queued, refused=view_refused(done.refused), is_up=done.is_up)


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
