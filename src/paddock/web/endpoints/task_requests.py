"""What can be asked for about tasks: the same requests as on the command line, each decided and recorded as there."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from paddock.core.events import TaskAdded, TaskEdited
from paddock.core.ids import TaskId, parse_task
from paddock.core.intent.comments import CommentsRequest, comment_on
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
from paddock.views.document import Document
from paddock.web.endpoint import Asked, NoQuery, Visit
from paddock.web.endpoints.answers import MOST_TASKS, BulkAnswer, TaskName, Text, done_answer, record_for_each


class TasksBody(Asked, frozen=True):
    """`message` is the reason, kept in the log."""

    tasks: Annotated[list[TaskName], Meta(min_length=1, max_length=MOST_TASKS)]
    message: Text = ""


class RetryBody(TasksBody, frozen=True):
    """`attempts` is how many more each gets."""

    attempts: Annotated[int, Meta(ge=1, le=100)] = 1


def retry(visit: Visit[NoQuery, RetryBody]) -> BulkAnswer:
    body = visit.body
    return record_for_each(
        visit.workspace, _names(body.tasks), lambda b, name: retry_tasks(b, [name], body.attempts, body.message)
    )


def stop(visit: Visit[NoQuery, TasksBody]) -> BulkAnswer:
    body = visit.body
    return record_for_each(visit.workspace, _names(body.tasks), lambda b, name: stop_tasks(b, [name], body.message))


def cancel(visit: Visit[NoQuery, TasksBody]) -> BulkAnswer:
    body = visit.body
    return record_for_each(visit.workspace, _names(body.tasks), lambda b, name: cancel_tasks(b, [name], body.message))


class MessageBody(Asked, frozen=True):
    tasks: Annotated[list[TaskName], Meta(min_length=1, max_length=MOST_TASKS)]
    text: Text


def message(visit: Visit[NoQuery, MessageBody]) -> BulkAnswer:
    body = visit.body
    return record_for_each(visit.workspace, _names(body.tasks), lambda b, name: send_message(b, [name], body.text))


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
    return done_answer([name], records)


def comment(visit: Visit[NoQuery, CommentsRequest]) -> BulkAnswer:
    """All of them are one message to the agent, or the reason of one rejection."""
    name = parse_task(visit.path["id"])
    return record_for_each(visit.workspace, [name], lambda board, task: comment_on(board, task, visit.body))


def _names(said: Sequence[str]) -> list[TaskId]:
    return list(dict.fromkeys(parse_task(one) for one in said))
