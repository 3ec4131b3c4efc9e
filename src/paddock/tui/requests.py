"""What a key asks for, done: the same intents as every other edge, in a thread of its own with a log of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from paddock.core.errors import PaddockError
from paddock.core.ids import TaskId
from paddock.core.intent.choices import choices_of
from paddock.core.intent.landing import Outdated, reject_task
from paddock.core.intent.messages import send_message
from paddock.core.intent.selection import RefusedTask
from paddock.core.intent.tasks import retry_tasks, stop_tasks
from paddock.fleet.bulk import record_each
from paddock.fleet.landing.approval import ApprovalRequest, approve
from paddock.fleet.workspace import Workspace

NO_DAEMON = "no daemon is running: `paddock up` starts one"
_DONE = {
    "approve": "queued",
    "reject": "rejected",
    "message": "message queued for",
    "retry": "will retry",
    "stop": "stopping",
}


@dataclass(frozen=True, slots=True)
class Request:
    """`heads` are the versions that were shown, by task: what is approved or rejected is one of these or nothing."""

    action: str
    tasks: tuple[TaskId, ...]
    text: str = ""
    heads: Mapping[TaskId, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StaleVersion:
    """A version that was shown and is not the newest any more."""

    task: str
    seen: str
    now: str


@dataclass(frozen=True, slots=True)
class Answer:
    """`refused` are a message and a hint for each task that it could not be done for."""

    request: Request
    done: tuple[str, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    outdated: tuple[StaleVersion, ...] = ()
    note: str = ""

    @property
    def words(self) -> str:
        said = f"{_DONE[self.request.action]} {_named(self.done)}" if self.done else ""
        return "; ".join(part for part in (said, self.note) if part)


def perform(workspace: Workspace, request: Request) -> Answer:
    """Never raises what is expected to go wrong: it is in the answer."""
    try:
        return _approve(workspace, request) if request.action == "approve" else _record(workspace, request)
    except (PaddockError, OSError) as error:
        return _answer(request, (), [RefusedTask(request.tasks[0], as_refusal(error))])


def explain(workspace: Workspace, action: str, tasks: Sequence[TaskId]) -> list[str]:
    """Why it is not offered, for each task."""
    board = workspace.board()
    found = []
    for name in tasks:
        choice = next((one for one in choices_of(board, board.task(name)) if one.action == action), None)
        if choice is not None and not choice.allowed:
            found.append(f"{name} cannot be {_participle(action)}: {choice.why}")
    return found


def _participle(action: str) -> str:
    return {
        "approve": "approved",
        "reject": "rejected",
        "retry": "retried",
        "stop": "stopped",
        "message": "sent a message",
        "diff": "compared",
    }.get(action, action)


def _approve(workspace: Workspace, request: Request) -> Answer:
    approved = approve(workspace, ApprovalRequest(request.tasks, message=request.text, expected=request.heads))
    note = "" if approved.is_up or not approved.changes else NO_DAEMON
    return _answer(request, tuple(change.id for change in approved.changes), approved.refused, note)


def _record(workspace: Workspace, request: Request) -> Answer:
    text, heads = request.text, request.heads
    decide = {
        "reject": lambda board, name: reject_task(board, name, text, heads.get(name)),
        "message": lambda board, name: send_message(board, [name], text),
        "retry": lambda board, name: retry_tasks(board, [name], 1, text),
        "stop": lambda board, name: stop_tasks(board, [name], text),
    }[request.action]
    _, refused = record_each(workspace, request.tasks, decide)
    failed = {one.task for one in refused}
    done = tuple(name for name in request.tasks if name not in failed)
    return _answer(request, done, refused)


def _answer(request: Request, done: tuple[str, ...], refused: Sequence[RefusedTask], note: str = "") -> Answer:
    outdated = [
        StaleVersion(one.task, one.error.seen, one.error.now) for one in refused if isinstance(one.error, Outdated)
    ]
    told = [(one.error.message, one.error.hint or "") for one in refused]
    return Answer(request, done, tuple(told), tuple(outdated), note)


def as_refusal(error: PaddockError | OSError) -> PaddockError:
    return error if isinstance(error, PaddockError) else PaddockError(f"the system refused: {error}")


def _named(tasks: Sequence[str]) -> str:
    return ", ".join(tasks) if len(tasks) <= 8 else f"{len(tasks)} tasks"
