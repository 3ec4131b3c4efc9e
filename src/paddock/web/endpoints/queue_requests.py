"""What can be asked of the merge queue and its changes."""

from functools import partial
from typing import Annotated

from msgspec import Meta

from paddock.core.errors import PaddockError
from paddock.core.ids import is_task, printable
from paddock.core.intent.queue import (
    QueueSwitch,
    branches_gone,
    cancel_change,
    change_named,
    move_change,
    retry_changes,
    switch_queue,
)
from paddock.core.merge.events import ChangeRetried
from paddock.fleet.landing.approval import ApprovalRequest, approve
from paddock.views.document import Document
from paddock.web.endpoint import Asked, NoQuery, Visit

Words = Annotated[str, Meta(max_length=2_000)]


class ReasonBody(Asked, frozen=True):
    """`reason` is shown to everyone; only a freeze and a pause have one."""

    reason: Words = ""


class SwitchedView(Document, frozen=True, kw_only=True):
    """What the queue is now."""

    state: str
    seq: int


def switch(which: QueueSwitch, visit: Visit[NoQuery, ReasonBody]) -> SwitchedView:
    workspace = visit.workspace
    records = workspace.record(lambda _board: switch_queue(which, visit.body.reason))
    return SwitchedView(state=workspace.board().queue_switches.state, seq=records[-1].seq)


freeze = partial(switch, QueueSwitch.FREEZE)
unfreeze = partial(switch, QueueSwitch.UNFREEZE)
pause = partial(switch, QueueSwitch.PAUSE)
resume = partial(switch, QueueSwitch.RESUME)
drain = partial(switch, QueueSwitch.DRAIN)


class MoveBody(Asked, frozen=True):
    """Higher goes first; without a priority it goes to the front."""

    priority: Annotated[int, Meta(ge=-(10**6), le=10**6)] | None = None


class ChangeAnswer(Document, frozen=True, kw_only=True):
    id: str
    seq: int


def move(visit: Visit[NoQuery, MoveBody]) -> ChangeAnswer:
    workspace, said = visit.workspace, visit.path["id"]
    by = workspace.author.name
    records = workspace.record(lambda board: move_change(board, said, by, visit.body.priority))
    return ChangeAnswer(id=change_named(workspace.board(), said), seq=records[-1].seq)


def cancel(visit: Visit[NoQuery, ReasonBody]) -> ChangeAnswer:
    workspace, said = visit.workspace, visit.path["id"]
    by = workspace.author.name
    records = workspace.record(lambda board: cancel_change(board, said, by, visit.body.reason))
    return ChangeAnswer(id=change_named(workspace.board(), said), seq=records[-1].seq)


def retry(visit: Visit[NoQuery, ReasonBody]) -> ChangeAnswer:
    """A queued one is tested again; a branch that has left the queue is queued again."""
    workspace, said = visit.workspace, visit.path["id"]
    board = workspace.board()
    name = change_named(board, said)
    if left := branches_gone(board, [said]):
        approve(workspace, ApprovalRequest(branches=left, message=visit.body.reason))
        return ChangeAnswer(id=name, seq=workspace.board().seq)
    records = workspace.record(lambda board: retry_changes(board, [said], workspace.author.name))
    if not any(isinstance(record.event, ChangeRetried) for record in records):
        hint = f"`paddock retry {name}` starts its agent again" if is_task(name) else "`paddock queue` shows what is"
        raise PaddockError(f"`{printable(name, 40)}` is not in the merge queue: there is nothing to test again", hint)
    return ChangeAnswer(id=name, seq=records[-1].seq)
