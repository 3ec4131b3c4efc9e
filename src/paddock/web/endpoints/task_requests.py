"""What can be asked for about tasks: the same requests as on the command line, each decided and recorded as there."""

from contextlib import closing
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from paddock.config.taskfile import parse_task_file
from paddock.core.errors import Misuse
from paddock.core.events import Acceptance, TaskAdded, TaskEdited
from paddock.core.ids import parse_task
from paddock.core.intent.acceptance import MOST_COMMANDS, MOST_FILES, make_acceptance
from paddock.core.intent.comments import CommentsRequest, comment_on
from paddock.core.intent.forks import ForkSpec, fork_task
from paddock.core.intent.messages import parse_message, send_message, text_to_repeat
from paddock.core.intent.selection import Bulk, Selection
from paddock.core.intent.tasks import (
    Batch,
    TaskSpec,
    add_tasks,
    added_in,
    cancel_tasks,
    edit_task,
    retry_tasks,
    stop_tasks,
)
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import Role
from paddock.fleet.message_log import find_record
from paddock.fleet.workspace import Workspace
from paddock.views.document import Document
from paddock.web.endpoint import Asked, FilterText, NoQuery, Visit
from paddock.web.endpoints.answers import (
    MOST_TASKS,
    BulkAnswer,
    ManyBody,
    TaskName,
    Text,
    chosen_tasks,
    done_answer,
    names_in,
    record_for_chosen,
    record_for_each,
    where_in,
)


class TasksBody(ManyBody, frozen=True):
    """`tasks` are ids or ranges such as `t3-t7`; instead of them `all`, a `convoy` or a filter `where` means every task
    that qualifies. A `dry_run` tells which, and changes nothing. `message` is the reason, kept in the log."""

    message: Text = ""


class RetryBody(ManyBody, frozen=True):
    """As for `stop`; all that qualify are those that failed or are blocked. `attempts` is how many more each gets."""

    message: Text = ""
    attempts: Annotated[int, Meta(ge=1, le=100)] = 1


def retry(visit: Visit[NoQuery, RetryBody]) -> BulkAnswer:
    body = visit.body
    return record_for_chosen(
        visit.workspace, body, Bulk.RETRY, lambda b, name: retry_tasks(b, [name], body.attempts, body.message)
    )


def stop(visit: Visit[NoQuery, TasksBody]) -> BulkAnswer:
    body = visit.body
    return record_for_chosen(visit.workspace, body, Bulk.STOP, lambda b, name: stop_tasks(b, [name], body.message))


def cancel(visit: Visit[NoQuery, TasksBody]) -> BulkAnswer:
    body = visit.body
    return record_for_chosen(visit.workspace, body, Bulk.CANCEL, lambda b, name: cancel_tasks(b, [name], body.message))


class MessageBody(Asked, frozen=True):
    """To `tasks`, ids or ranges such as `t3-t7`, or to all in a `phase`, of a `convoy` or that match a filter `where`,
    and have had an agent. With `now` it interrupts what they do; `like` is a message, such as `m12`, whose text is sent
    instead of `text`."""

    text: Text = ""
    tasks: Annotated[tuple[TaskName, ...], Meta(max_length=MOST_TASKS)] = ()
    phase: Phase | None = None
    convoy: str | None = None
    where: FilterText | None = None
    now: bool = False
    like: Annotated[str, Meta(max_length=40)] = ""


def message(visit: Visit[NoQuery, MessageBody]) -> BulkAnswer:
    body = visit.body
    where = where_in(visit.workspace, body.where)
    wanted = Selection(tuple(names_in(body.tasks)), convoy=body.convoy, phase=body.phase, where=where)
    names = chosen_tasks(visit.workspace, wanted, Bulk.MESSAGE)
    if not names:
        raise Misuse("there is no task to send it to", "name some in `tasks`")
    number = parse_message(body.like) if body.like else 0
    text = _text_to_repeat(visit.workspace, number) if number else body.text
    return record_for_each(
        visit.workspace, names, lambda b, name: send_message(b, [name], text, now=body.now, like=number)
    )


def _text_to_repeat(workspace: Workspace, number: int) -> str:
    with closing(workspace.read()) as store:
        return text_to_repeat(find_record(store, number), number)


class AcceptFileBody(Asked, frozen=True):
    path: Annotated[str, Meta(max_length=4000)]
    text: Text = ""


class AcceptBody(Asked, frozen=True):
    """`commands` as a person types them, run without a shell; `files` are laid over the change first."""

    commands: Annotated[tuple[Text, ...], Meta(max_length=MOST_COMMANDS)] = ()
    files: Annotated[tuple[AcceptFileBody, ...], Meta(max_length=MOST_FILES)] = ()


def _acceptance(wanted: AcceptBody | None) -> Acceptance | None:
    if wanted is None:
        return None
    files = {one.path: one.text for one in wanted.files}
    if len(files) < len(wanted.files):
        raise Misuse("the acceptance names a file twice", "give each path once")
    return make_acceptance(wanted.commands, files)


class NewTask(Asked, frozen=True):
    """`after` and `inputs` name tasks, or the `key` of another of this request."""

    brief: Text
    title: Text | None = None
    key: Annotated[str, Meta(max_length=80)] | None = None
    agent: str | None = None
    engine: str | None = None
    after: tuple[str, ...] = ()
    priority: int = 0
    paths: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    attempts: int | None = None
    kind: str | None = None
    accept: AcceptBody | None = None
    role: Role = Role.WORK
    inputs: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


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
    usual = workspace.config.limits.attempts
    specs = tuple(_spec(one, usual) for one in body.tasks)
    return _add(workspace, Batch(specs, body.convoy or None, body.title))


class FileBody(Asked, frozen=True):
    """`text` is a file of tasks in YAML, JSON or Markdown, as the ending of its `name` says, or else the text itself.
    `convoy` goes before what the file says, `attempts` is for tasks that do not say it."""

    text: Annotated[str, Meta(min_length=1, max_length=900_000)]
    name: Annotated[str, Meta(pattern=r"^[\w .-]{1,100}$")] = "tasks"
    convoy: str | None = None
    attempts: Annotated[int, Meta(ge=1, le=100)] | None = None


def add_file(visit: Visit[NoQuery, FileBody]) -> AddedView:
    workspace, body = visit.workspace, visit.body
    attempts = workspace.config.limits.attempts if body.attempts is None else body.attempts
    batch = parse_task_file(body.text, body.name, attempts=attempts)
    return _add(workspace, Batch(batch.tasks, body.convoy or batch.convoy, batch.title))


def _add(workspace: Workspace, batch: Batch) -> AddedView:
    known = workspace.known
    records = workspace.record(lambda board: add_tasks(board, batch, known))
    ids = added_in(records)
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
        accept=_acceptance(new.accept),
        labels=new.labels,
        role=new.role,
        inputs=new.inputs,
        needs=new.needs,
    )


class EditBody(Asked, frozen=True):
    """What is not named stays. An agent, engine, kind or acceptance of null means none."""

    title: Text | UnsetType = UNSET
    brief: Text | UnsetType = UNSET
    agent: str | UnsetType | None = UNSET
    engine: str | UnsetType | None = UNSET
    kind: str | UnsetType | None = UNSET
    after: tuple[str, ...] | UnsetType = UNSET
    priority: int | UnsetType = UNSET
    paths: tuple[str, ...] | UnsetType = UNSET
    labels: tuple[str, ...] | UnsetType = UNSET
    attempts: int | UnsetType = UNSET
    accept: AcceptBody | UnsetType | None = UNSET
    needs: tuple[str, ...] | UnsetType = UNSET


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
        labels=body.labels,
        needs=body.needs,
        attempts=body.attempts,
        task_kind=body.kind or None if body.kind is not UNSET else UNSET,
        accept=_acceptance(body.accept) if body.accept is not UNSET else UNSET,
    )
    records = visit.workspace.record(lambda board: edit_task(board, name, wanted, known))
    return done_answer([name], records)


class ForkBody(Asked, frozen=True):
    """What the new task has of its own: whatever is left out is as in the task that it forks."""

    brief: Text
    title: str | None = None
    agent: str | None = None
    engine: str | None = None
    kind: str | None = None
    labels: tuple[str, ...] | None = None
    paths: tuple[str, ...] | None = None
    convoy: str | None = None
    role: Role | None = None
    priority: int | None = None
    after: tuple[TaskName, ...] = ()
    attempts: int | None = None


def fork(visit: Visit[NoQuery, ForkBody]) -> AddedView:
    name, known, body = parse_task(visit.path["id"]), visit.workspace.known, visit.body
    spec = ForkSpec(
        brief=body.brief,
        title=body.title,
        agent=body.agent,
        engine=body.engine,
        kind=body.kind,
        labels=body.labels,
        paths=body.paths,
        convoy=body.convoy,
        role=body.role,
        priority=body.priority,
        after=body.after,
        attempts=body.attempts if body.attempts is not None else visit.workspace.config.limits.attempts,
    )
    records = visit.workspace.record(lambda board: fork_task(board, name, spec, known))
    added = next(record.event for record in records if isinstance(record.event, TaskAdded))
    return AddedView(ids=added_in(records), convoy=added.convoy, seq=records[-1].seq)


def comment(visit: Visit[NoQuery, CommentsRequest]) -> BulkAnswer:
    """All of them are one message to the agent, or the reason of one rejection."""
    name = parse_task(visit.path["id"])
    return record_for_each(visit.workspace, [name], lambda board, task: comment_on(board, task, visit.body))
