"""What a worker may ask for: an agent inside its attempt, or a command inside a CI run.

One table says which commands they may run, another which events may follow from that. The first is asked where a
command begins, the second where its events are about to be recorded, so that neither depends on the other's manners.
What is in neither table is for people.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from paddock.core.errors import PaddockError
from paddock.core.events import Draft, Event, MessageSent, MessagesRead, NoopDeclared, QuestionAsked, RequestRefused
from paddock.core.ids import RUN_OWNER, AttemptId, TaskId, printable, task_of

if TYPE_CHECKING:
    from paddock.core.board import Board

MOST_UNREAD = 16
"""Messages that may wait for one task before agents may send it no more."""
MOST_OPEN_TASKS = 500
"""Unfinished tasks, whoever added them, before agents may add no more."""


class Right(StrEnum):
    READ = "read"
    """What everybody sees."""
    OWN = "own"
    """What is about the worker itself: its brief, its changes, what it said."""
    LEASE = "lease"
    ASK = "ask"
    """What only an agent can say about its own task: a question for a person, or that there is nothing to do."""
    MESSAGE = "message"
    ADD = "add"


RIGHTS: dict[str, Right] = {
    "status": Right.READ,
    "queue": Right.READ,
    "queue why": Right.READ,
    "convoy list": Right.READ,
    "convoy show": Right.READ,
    "alerts list": Right.READ,
    "costs": Right.READ,
    "fanout": Right.READ,
    "lease list": Right.READ,
    "results": Right.READ,
    "show": Right.OWN,
    "diff": Right.OWN,
    "tail": Right.OWN,
    "mcp": Right.READ,
    "mcp call": Right.READ,
    "ask": Right.ASK,
    "noop": Right.ASK,
    "lease acquire": Right.LEASE,
    "lease renew": Right.LEASE,
    "lease release": Right.LEASE,
    "with-lease": Right.LEASE,
    "message": Right.MESSAGE,
    "add": Right.ADD,
}
"""By the command's name. A command that is not listed is not for workers."""

EVENTS: dict[str, Right] = {
    "lease.granted": Right.LEASE,
    "lease.renewed": Right.LEASE,
    "lease.released": Right.LEASE,
    "lease.expired": Right.LEASE,
    "lease.waited": Right.LEASE,
    "lease.withdrawn": Right.LEASE,
    "message.sent": Right.MESSAGE,
    "task.added": Right.ADD,
    "convoy.added": Right.ADD,
    QuestionAsked.kind: Right.ASK,
    MessagesRead.kind: Right.ASK,
    NoopDeclared.kind: Right.ASK,
    RequestRefused.kind: Right.OWN,
}
"""By the event's kind, likewise."""

_OF_RUNS = frozenset({Right.READ, Right.LEASE})


class NotForWorkers(PaddockError):
    """`request` is what was asked for, in few words: one finding for each."""

    def __init__(self, request: str, message: str, hint: str) -> None:
        super().__init__(message, hint)
        self.request = request


class Worker(msgspec.Struct, frozen=True):
    """`owner` is whose processes they are: an attempt (`t3.1`) or a CI run (`run-r7`)."""

    owner: str
    may_add: bool = False

    @property
    def is_run(self) -> bool:
        return self.owner.startswith(RUN_OWNER)

    @property
    def attempt(self) -> str:
        """Empty for a CI run."""
        return "" if self.is_run else self.owner

    @property
    def author(self) -> str:
        """As the log names whoever wrote a record."""
        return f"ci:{self.owner.removeprefix(RUN_OWNER)}" if self.is_run else f"agent:{self.owner}"

    @property
    def place(self) -> str:
        return f"CI run {self.owner.removeprefix(RUN_OWNER)}" if self.is_run else f"attempt {self.owner}"

    @property
    def kind(self) -> str:
        return "CI" if self.is_run else "agents"

    def has(self, right: Right | None) -> bool:
        if right is None or (self.is_run and right not in _OF_RUNS):
            return False
        return right is not Right.ADD or self.may_add


def require_command(worker: Worker, command: str, subjects: Iterable[str] = ()) -> None:
    """Raises NotForWorkers. `subjects` are the attempts or tasks that it names, where only its own count."""
    right = RIGHTS.get(command)
    if not worker.has(right):
        raise _not_for(worker, command, right)
    if right is Right.OWN:
        for subject in subjects:
            if subject.strip().lower() not in (worker.owner, task_of(AttemptId(worker.owner))):
                raise NotForWorkers(
                    f"{command} of others",
                    f"`paddock {command} {printable(subject, 40)}` is not for {worker.kind}: "
                    f"you run inside {worker.place}, and may only see your own",
                    f"`paddock {command} {worker.owner}` shows your own; `paddock status` tells of others",
                )


def require_served(worker: Worker, command: str, file: str | None) -> None:
    """For a command that runs outside the worker's fence, where it must run nothing of the worker's and read no file.

    Raises NotForWorkers.
    """
    if command == "with-lease" or file not in (None, "-"):
        what = "with-lease" if command == "with-lease" else f"{command} --file {file}"
        raise NotForWorkers(
            f"{command} at its desk",
            f"`paddock {printable(what, 60)}` cannot be asked for from inside the fence of {worker.place}",
            "run `paddock` itself there: it knows what to send",
        )


def require_events(board: "Board", worker: Worker, drafts: Sequence[Draft]) -> None:
    """Raises NotForWorkers for what a worker may not record, and PaddockError where there is too much of it."""
    for draft in drafts:
        right = EVENTS.get(draft.event.kind)
        if not worker.has(right):
            raise _not_recorded(worker, draft.event)
        match right:
            case Right.LEASE:
                _require_own_lease(board, worker, draft.event)
            case Right.MESSAGE:
                _require_reachable(board, worker, draft)
            case Right.ADD:
                if len(board.open) >= MOST_OPEN_TASKS:
                    raise PaddockError(
                        f"{len(board.open)} tasks are unfinished already: agents may add no more",
                        f"agents may add while fewer than {MOST_OPEN_TASKS} are; a person may still do so",
                    )
            case Right.OWN | Right.ASK:
                if draft.attempt != worker.attempt:
                    raise _not_recorded(worker, draft.event)


def note_refusal(board: "Board", worker: Worker, request: str) -> list[Draft]:
    """The finding about a worker that asked for too much: once for each attempt and request, however often it asks."""
    task = task_of(AttemptId(worker.owner))
    live = board.tasks[task].live_attempt if task in board.tasks else None
    if live is None or live.id != worker.owner or request in live.refused:
        return []
    return [Draft(RequestRefused(request), task=task, attempt=live.id)]


def _not_for(worker: Worker, command: str, right: Right | None) -> NotForWorkers:
    said = f"`paddock {command}` is not for {worker.kind}: you run inside {worker.place}"
    if right is Right.ADD and not worker.is_run:
        hint = "a person may allow it with `[agents] may_add = true` in paddock.toml; otherwise say in your answer"
        return NotForWorkers(command, said, f"{hint} what is left to do")
    if worker.is_run:
        return NotForWorkers(command, said, "CI may read, and use leases: `paddock with-lease NAME -- COMMAND`")
    hint = "commit your work and end your turn: people and Paddock do the rest; `paddock status` is"
    return NotForWorkers(command, said, f"{hint} yours to read")


def _not_recorded(worker: Worker, event: Event) -> NotForWorkers:
    return NotForWorkers(
        event.kind,
        f"{worker.kind} may not record `{event.kind}`: you run inside {worker.place}",
        "what agents may ask for is in docs/how-to/agents-and-engines.md",
    )


def _require_own_lease(board: "Board", worker: Worker, event: Event) -> None:
    from paddock.core.leases import lease

    match event:
        case lease.LeaseGranted() | lease.LeaseWaited() | lease.LeaseWithdrawn():
            holder = event.holder
        case lease.LeaseRenewed() | lease.LeaseReleased():
            held = board.leases.held.get(event.name)
            if held is None:
                return
            holder = held.holder
        case _:  # expiry: the log's own time decides
            return
    if (holder.attempt or holder.name) != worker.owner:
        raise NotForWorkers(
            "leases of others",
            f"the lease `{event.name}` is for {printable(holder.name, 40)}: you run inside {worker.place}",
            "workers take, renew and release only leases of their own",
        )


def _require_reachable(board: "Board", worker: Worker, draft: Draft) -> None:
    task = board.task(draft.task or TaskId(""))
    event = draft.event
    if isinstance(event, MessageSent) and (event.now or event.like or event.answers):
        raise NotForWorkers(
            "message of a person's",
            f"you run inside {worker.place}: only people interrupt agents, repeat messages and answer questions",
            "send the text itself: `paddock message t3 …`",
        )
    if worker.attempt and task.id == task_of(AttemptId(worker.attempt)):
        raise PaddockError(f"`{task.id}` is your own task: you cannot send yourself a message")
    if task.live_attempt is None:
        raise PaddockError(
            f"task `{task.id}` {task.phase.words}: agents may send messages only to agents at work",
            "say it in your answer instead, for a person to read",
        )
    if len(task.inbox) >= MOST_UNREAD:
        raise PaddockError(
            f"{len(task.inbox)} messages are waiting for `{task.id}` already", "wait until it has read them"
        )
