"""What can be asked for: the same requests as on the command line, each decided and recorded as there."""

from collections.abc import Callable, Sequence
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from paddock.core.board import DAEMON_LEASE, Board
from paddock.core.errors import Misuse, PaddockError
from paddock.core.events import Draft, Record, TaskAdded, TaskEdited
from paddock.core.ids import TaskId, parse_task
from paddock.core.intent.comments import CommentsRequest, comment_on
from paddock.core.intent.landing import reject_task
from paddock.core.intent.selection import RefusedTask
from paddock.core.intent.tasks import (
    Batch,
    TaskSpec,
    add_tasks,
    cancel_tasks,
    edit_task,
    retry_tasks,
    send_message,
    stop_tasks,
)
from paddock.core.intent.workers import NotForWorkers
from paddock.fleet.bulk import record_each
from paddock.fleet.landing.approval import ApprovalRequest, Approved, approve
from paddock.fleet.workspace import Workspace
from paddock.store.protocol import LogUnusable
from paddock.views.document import Document
from paddock.web.exchange import Asked, NoQuery, Visit, complaint_about

MOST_TASKS = 1_000
Text = Annotated[str, Meta(max_length=200_000)]
TaskName = Annotated[str, Meta(min_length=1, max_length=40)]
Head = Annotated[str, Meta(pattern="^[0-9a-f]{40,64}$")]


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
    """`seq` is the newest record of what was done, 0 if nothing was."""

    done: list[DoneView]
    refused: list[RefusedView]
    seq: int = 0


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
        return ApprovalAnswer(done=[], refused=_only(tuple(heads), error), is_up=is_up)
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
    return ApprovalAnswer(done=queued, refused=_refused(done.refused), is_up=done.is_up)


class RejectBody(Asked, frozen=True):
    """`message` is for the agents; without one a new attempt starts."""

    tasks: Annotated[list[SeenTask], Meta(min_length=1, max_length=MOST_TASKS)]
    message: Text = ""


def reject_tasks(visit: Visit[NoQuery, RejectBody]) -> BulkAnswer:
    heads = {parse_task(one.id): one.head for one in visit.body.tasks}
    message = visit.body.message
    return _each(visit.workspace, list(heads), lambda board, name: reject_task(board, name, message, heads[name]))


class TasksBody(Asked, frozen=True):
    """`message` is the reason, kept in the log."""

    tasks: Annotated[list[TaskName], Meta(min_length=1, max_length=MOST_TASKS)]
    message: Text = ""


class RetryBody(TasksBody, frozen=True):
    """`attempts` is how many more each gets."""

    attempts: Annotated[int, Meta(ge=1, le=100)] = 1


def retry(visit: Visit[NoQuery, RetryBody]) -> BulkAnswer:
    body = visit.body
    return _each(
        visit.workspace, _names(body.tasks), lambda b, name: retry_tasks(b, [name], body.attempts, body.message)
    )


def stop(visit: Visit[NoQuery, TasksBody]) -> BulkAnswer:
    body = visit.body
    return _each(visit.workspace, _names(body.tasks), lambda b, name: stop_tasks(b, [name], body.message))


def cancel(visit: Visit[NoQuery, TasksBody]) -> BulkAnswer:
    body = visit.body
    return _each(visit.workspace, _names(body.tasks), lambda b, name: cancel_tasks(b, [name], body.message))


class MessageBody(Asked, frozen=True):
    tasks: Annotated[list[TaskName], Meta(min_length=1, max_length=MOST_TASKS)]
    text: Text


def message(visit: Visit[NoQuery, MessageBody]) -> BulkAnswer:
    body = visit.body
    return _each(visit.workspace, _names(body.tasks), lambda b, name: send_message(b, [name], body.text))


class NewTask(Asked, frozen=True):
    """`after` names tasks, or the `key` of another of this request."""

    brief: Text
    title: Text | None = None
    key: Annotated[str, Meta(max_length=80)] | None = None
    agent: str | None = None
    engine: str | None = None
    after: tuple[str, ...] = ()
    priority: int = 0
    paths: tuple[str, ...] = ()
    attempts: int | None = None
    kind: str | None = None


class AddBody(Asked, frozen=True):
    """`title` is the convoy's."""

    tasks: Annotated[list[NewTask], Meta(min_length=1, max_length=MOST_TASKS)]
    convoy: str | None = None
    title: Text = ""


class AddedView(Document, frozen=True, kw_only=True):
    ids: list[str]
    convoy: str | None
    seq: int


def add(visit: Visit[NoQuery, AddBody]) -> AddedView:
    workspace, body = visit.workspace, visit.body
    usual, known = workspace.config.limits.attempts, workspace.known
    specs = tuple(_spec(one, usual) for one in body.tasks)
    batch = Batch(specs, body.convoy or None, body.title)
    records = workspace.record(lambda board: add_tasks(board, batch, known))
    ids = [str(record.task) for record in records if isinstance(record.event, TaskAdded)]
    return AddedView(ids=ids, convoy=batch.convoy, seq=records[-1].seq)


def _spec(new: NewTask, usual_attempts: int) -> TaskSpec:
    return TaskSpec(
        brief=new.brief,
        title=new.title or None,
        key=new.key or None,
        agent=new.agent or None,
        engine=new.engine or None,
        after=new.after,
        priority=new.priority,
        paths=new.paths,
        attempts=usual_attempts if new.attempts is None else new.attempts,
        kind=new.kind or None,
    )


class EditBody(Asked, frozen=True):
    """What is not named stays. An agent, engine or kind of null means none."""

    title: Text | UnsetType = UNSET
    brief: Text | UnsetType = UNSET
    agent: str | UnsetType | None = UNSET
    engine: str | UnsetType | None = UNSET
    kind: str | UnsetType | None = UNSET
    after: tuple[str, ...] | UnsetType = UNSET
    priority: int | UnsetType = UNSET
    paths: tuple[str, ...] | UnsetType = UNSET
    attempts: int | UnsetType = UNSET


def edit(visit: Visit[NoQuery, EditBody]) -> BulkAnswer:
    name, known, body = parse_task(visit.path["id"]), visit.workspace.known, visit.body
    wanted = TaskEdited(
        title=body.title,
        brief=body.brief,
        agent=body.agent or None if body.agent is not UNSET else UNSET,
        engine=body.engine or None if body.engine is not UNSET else UNSET,
        after=UNSET if body.after is UNSET else tuple(parse_task(one) for one in body.after),
        priority=body.priority,
        paths=body.paths,
        attempts=body.attempts,
        task_kind=body.kind or None if body.kind is not UNSET else UNSET,
    )
    records = visit.workspace.record(lambda board: edit_task(board, name, wanted, known))
    return _done([name], records)


def comment(visit: Visit[NoQuery, CommentsRequest]) -> BulkAnswer:
    """All of them are one message to the agent, or the reason of one rejection."""
    name = parse_task(visit.path["id"])
    return _each(visit.workspace, [name], lambda board, task: comment_on(board, task, visit.body))


def _names(said: Sequence[str]) -> list[TaskId]:
    return list(dict.fromkeys(parse_task(one) for one in said))


def _each(
    workspace: Workspace, names: Sequence[TaskId], decide: Callable[[Board, TaskId], Sequence[Draft]]
) -> BulkAnswer:
    try:
        records, refused = record_each(workspace, names, decide)
    except PaddockError as error:
        return BulkAnswer(done=[], refused=_only(names, error))
    return _done(names, records, refused)


def _only(names: Sequence[TaskId], error: PaddockError) -> list[RefusedView]:
    """Where only one was asked for its refusal is raised, and told here like those of many. Raises all others."""
    if len(names) != 1 or isinstance(error, Misuse | LogUnusable | NotForWorkers):
        raise error
    return _refused([RefusedTask(names[0], error)])


def _done(names: Sequence[TaskId], records: Sequence[Record], refused: Sequence[RefusedTask] = ()) -> BulkAnswer:
    not_done = {one.task for one in refused}
    return BulkAnswer(
        done=[DoneView(name) for name in names if name not in not_done],
        refused=_refused(refused),
        seq=records[-1].seq if records else 0,
    )


def _refused(refused: Sequence[RefusedTask]) -> list[RefusedView]:
    return [RefusedView(one.task, **msgspec.structs.asdict(complaint_about(one.error))) for one in refused]
