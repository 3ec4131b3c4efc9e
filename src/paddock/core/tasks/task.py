"""The life of a task: one table of legal (event, phase) pairs.

    waiting ─▶ ready ─▶ running ─▶ reviewing ─▶ approval ─▶ queued ─▶ landed
                 ▲          │
                 └── retry ─┘        beside them: blocked, failed, cancelled, noop

`waiting` and the `blocked` of a task whose dependency died are derived from other tasks, so the
board settles them; everything else is decided here.
"""

from enum import StrEnum

import msgspec
from msgspec.structs import replace

from paddock.core import events as ev
from paddock.core.errors import IllegalTransition
from paddock.core.ids import AttemptId, TaskId
from paddock.core.tasks.vocabulary import EndedBy, Outcome, Role, Step

KEPT_ATTEMPTS = 20


class Phase(StrEnum):
    WAITING = "waiting"
    READY = "ready"
    RUNNING = "running"
    REVIEWING = "reviewing"
    APPROVAL = "approval"
    QUEUED = "queued"
    LANDED = "landed"
    BLOCKED = "blocked"
    FAILED = "failed"
    CANCELLED = "cancelled"
    NOOP = "noop"

    @property
    def words(self) -> str:
        """As a predicate: a task `has landed`, `is running`."""
        return _WORDS.get(self, f"is {self.value}")


_WORDS = {
    Phase.REVIEWING: "is in review",
    Phase.APPROVAL: "is waiting for approval",
    Phase.LANDED: "has landed",
    Phase.FAILED: "has failed",
    Phase.CANCELLED: "was cancelled",
    Phase.NOOP: "needed no change",
}

FINISHED = frozenset({Phase.LANDED, Phase.CANCELLED, Phase.NOOP})
DEAD = frozenset({Phase.FAILED, Phase.CANCELLED})
SATISFIED = frozenset({Phase.LANDED, Phase.NOOP})
NEEDS_HUMAN = frozenset({Phase.BLOCKED, Phase.FAILED, Phase.APPROVAL})


def illegal(subject: str, phase: str, event: ev.Event) -> IllegalTransition:
    return IllegalTransition(f"`{subject}` is {phase}: {event.kind} cannot happen now")


class Attempt(msgspec.Struct, frozen=True, array_like=True, gc=False):
    id: AttemptId
    engine: str
    branch: str
    base: str
    started: float
    generation: int
    agent: str | None = None
    model: str | None = None
    host: str = ""
    worktree: str = ""
    continues: AttemptId | None = None
    session: str | None = None
    turn: int = 0
    turn_open: bool = False
    turn_started: float | None = None
    stop_requested: str | None = None
    ended: float | None = None
    outcome: Outcome | None = None
    counted: bool = False
    reason: str = ""
    exit: int | None = None
    head: str | None = None
    commits: int = 0
    steps: int = 0
    input_tokens: int = 0
    cache_write_tokens: int = 0
    cache_read_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    ended_by: EndedBy = EndedBy.ITSELF
    problem: str = ""
    account: str = ""
    inlined: str = ""
    session_used: tuple[int, int, int, int] = (0, 0, 0, 0)
    session_cost: float = 0.0
    startup_seconds: float | None = None
    startup_tokens: int = 0
    startup_usd: float | None = None
    assumed_usd: float = 0.0
    session_lost: str = ""
    new_conversation: str = ""
    moved_from: str = ""
    uncounted_calls: int = 0
    assumed_tokens: int = 0
    role: Role = Role.WORK
    host_id: str = ""

    @property
    def live(self) -> bool:
        return self.ended is None

    @property
    def conversation_used(self) -> tuple[int, int, int, int]:
        """What its conversation has used so far, earlier attempts included."""
        before = self.session_used
        return (
            before[0] + self.input_tokens,
            before[1] + self.cache_write_tokens,
            before[2] + self.cache_read_tokens,
            before[3] + self.output_tokens,
        )

    @property
    def conversation_cost(self) -> float:
        return self.session_cost + (self.cost_usd or 0.0)


class Task(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """`brief_seq` is the record that holds the brief: briefs stay in the log so that boards stay small.

    `lost`: it landed, and main no longer has it.
    """

    id: TaskId
    title: str
    brief_seq: int
    phase: Phase
    since: float
    created: float
    allowed: int
    reason: str = ""
    unblock: str = ""
    blocked_on: TaskId | None = None
    agent: str | None = None
    engine: str | None = None
    convoy: str | None = None
    after: tuple[TaskId, ...] = ()
    priority: int = 0
    paths: tuple[str, ...] = ()
    started: int = 0
    counted: int = 0
    attempts: tuple[Attempt, ...] = ()
    not_before: float = 0.0
    inbox: tuple[int, ...] = ()
    head: str | None = None
    base: str | None = None
    approved: str | None = None
    work: str | None = None
    lost: bool = False

    @property
    def last(self) -> Attempt | None:
        return self.attempts[-1] if self.attempts else None

    @property
    def live_attempt(self) -> Attempt | None:
        last = self.last
        return last if last is not None and last.live else None

    @property
    def branch(self) -> str | None:
        return self.attempts[-1].branch if self.attempts else None


def evolve(task: Task, record: ev.Record) -> Task:
    """The task after the event; raises IllegalTransition for what cannot happen in its phase."""
    event, at = record.event, record.at
    match event:
        case ev.TurnStarted() | ev.TurnEnded() | ev.StopRequested() | ev.AttemptExtended() | ev.AttemptEnded():
            return _evolve_attempt(task, record)
        case ev.AttemptStarted() if task.phase is Phase.READY and task.live_attempt is None:
            return _start(task, event, record)
        case ev.TaskEdited() if task.phase not in FINISHED:
            return _edit(task, event, record.seq)
        case ev.TaskCancelled() if task.phase not in FINISHED:
            return move(task, Phase.CANCELLED, at, event.reason)
        case ev.TaskRetried() if may_retry(task):
            fresh = move(task, Phase.READY, at, event.reason)
            return replace(fresh, allowed=task.counted + event.attempts, not_before=0.0, approved=None)
        case ev.TaskBlocked() if task.phase not in FINISHED | {Phase.RUNNING}:
            return move(task, Phase.BLOCKED, at, event.reason, event.unblock)
        case ev.TaskApproved() if task.phase in {Phase.APPROVAL, Phase.REVIEWING} and task.head == event.head:
            return replace(task, approved=event.head, reason="approved")
        case ev.ChangeRevised() if task.phase in _REVISABLE and task.live_attempt is None:
            revised = move(task, Phase.APPROVAL, at, "finished by hand")
            return replace(revised, head=event.head, base=event.base, approved=None)
        case ev.TaskRejected() if task.phase is Phase.APPROVAL and task.head == event.head:
            inbox = (*task.inbox, record.seq) if event.message else task.inbox
            more = max(task.allowed, task.counted + 1)
            return replace(
                move(task, Phase.READY, at, "rejected"),
                inbox=inbox,
                allowed=more,
                approved=None,
                not_before=0.0,
            )
        case ev.MessageSent() if task.phase not in FINISHED - {Phase.NOOP} and task.started:
            return _receive(task, record)
    raise illegal(task.id, task.phase, event)


_REVISABLE = frozenset({Phase.BLOCKED, Phase.APPROVAL, Phase.FAILED})


_RETRIED = frozenset({Phase.BLOCKED, Phase.FAILED, Phase.CANCELLED, Phase.NOOP, Phase.APPROVAL, Phase.REVIEWING})


def may_retry(task: Task) -> bool:
    """Also what is to be tried again anyway, but not yet: a person need not wait for the end of its pause."""
    pauses = task.phase is Phase.READY and task.not_before > 0.0
    return task.live_attempt is None and (pauses or task.phase in _RETRIED)


def move(task: Task, phase: Phase, at: float, reason: str = "", unblock: str = "") -> Task:
    return replace(task, phase=phase, since=at, reason=reason, unblock=unblock, blocked_on=None, lost=False)


def _edit(task: Task, event: ev.TaskEdited, seq: int) -> Task:
    changes: dict[str, object] = {
        name: value
        for name in ("title", "agent", "engine", "after", "priority", "paths", "work")
        if (value := getattr(event, name)) is not msgspec.UNSET
    }
    if event.brief is not msgspec.UNSET:
        changes["brief_seq"] = seq
    if event.attempts is not msgspec.UNSET:
        changes["allowed"] = event.attempts
    return replace(task, **changes)


def _receive(task: Task, record: ev.Record) -> Task:
    """A message to an idle task makes it ready again: the next attempt continues the conversation."""
    told = replace(task, inbox=(*task.inbox, record.seq))
    if task.phase in {Phase.APPROVAL, Phase.REVIEWING, Phase.FAILED, Phase.BLOCKED, Phase.NOOP}:
        more = max(task.allowed, task.counted + 1)
        return replace(move(told, Phase.READY, record.at, "has a message"), allowed=more, approved=None, not_before=0.0)
    return told


def _start(task: Task, event: ev.AttemptStarted, record: ev.Record) -> Task:
    if record.attempt is None or record.attempt != f"{task.id}.{task.started + 1}":
        raise illegal(record.attempt or task.id, task.phase, event)
    attempt = Attempt(
        id=record.attempt,
        engine=event.engine,
        branch=event.branch,
        base=event.base,
        started=record.at,
        generation=record.generation,
        agent=event.agent,
        model=event.model,
        host=event.host,
        worktree=event.worktree,
        continues=event.continues,
        session=event.session,
        account=event.account,
        inlined=event.inlined,
        session_used=event.session_used,
        session_cost=event.session_cost,
        role=event.role,
        host_id=event.host_id,
    )
    kept = (*task.attempts, attempt)[-KEPT_ATTEMPTS:]
    return replace(move(task, Phase.RUNNING, record.at), attempts=kept, started=task.started + 1)


def _evolve_attempt(task: Task, record: ev.Record) -> Task:
    event, attempt = record.event, task.live_attempt
    if attempt is None or attempt.id != record.attempt:
        raise illegal(record.attempt or task.id, task.phase, event)
    match event:
        case ev.TurnStarted() if not attempt.turn_open and event.turn == attempt.turn + 1:
            left = tuple(m for m in task.inbox if m not in event.messages)
            return replace(_with_last(task, _open_turn(attempt, event, record.at)), inbox=left)
        case ev.TurnEnded() if attempt.turn_open and event.turn == attempt.turn:
            return _with_last(task, _settle_turn(attempt, event))
        case ev.StopRequested():
            return _with_last(task, replace(attempt, stop_requested=record.actor))
        case ev.AttemptExtended():
            return task
        case ev.AttemptEnded() if not attempt.turn_open:
            return _end(task, attempt, event, record.at)
    raise illegal(attempt.id, task.phase, event)


def _with_last(task: Task, attempt: Attempt) -> Task:
    return replace(task, attempts=(*task.attempts[:-1], attempt))


def _open_turn(attempt: Attempt, event: ev.TurnStarted, at: float) -> Attempt:
    folder = event.worktree or attempt.worktree
    opened = replace(
        attempt,
        turn=event.turn,
        turn_open=True,
        turn_started=at,
        session=event.session or attempt.session,
        worktree=folder,
        moved_from=attempt.worktree if attempt.worktree != folder else "",
        session_lost="",
        new_conversation=event.new_conversation or attempt.new_conversation,
    )
    return _forget_conversation(opened) if event.new_conversation else opened


def _forget_conversation(attempt: Attempt) -> Attempt:
    """The next one has used nothing yet: what the attempt has used so far is taken off again."""
    used = (attempt.input_tokens, attempt.cache_write_tokens, attempt.cache_read_tokens, attempt.output_tokens)
    negated = (-used[0], -used[1], -used[2], -used[3])
    return replace(attempt, session=None, session_used=negated, session_cost=-(attempt.cost_usd or 0.0))


def _settle_turn(attempt: Attempt, event: ev.TurnEnded) -> Attempt:
    return replace(
        attempt,
        turn_open=False,
        exit=event.exit,
        ended_by=event.ended_by,
        problem=event.problem,
        startup_seconds=event.startup_seconds if attempt.turn == 1 else attempt.startup_seconds,
        startup_tokens=event.startup_tokens if attempt.turn == 1 else attempt.startup_tokens,
        startup_usd=_add(attempt.startup_usd, event.startup_usd),
        assumed_usd=attempt.assumed_usd + event.assumed_usd,
        session=event.session or attempt.session,
        session_lost=event.session_lost,
        model=event.model or attempt.model,
        steps=attempt.steps + event.steps,
        input_tokens=attempt.input_tokens + event.input_tokens,
        cache_write_tokens=attempt.cache_write_tokens + event.cache_write_tokens,
        cache_read_tokens=attempt.cache_read_tokens + event.cache_read_tokens,
        output_tokens=attempt.output_tokens + event.output_tokens,
        cost_usd=_add(attempt.cost_usd, event.cost_usd),
        uncounted_calls=attempt.uncounted_calls + event.uncounted_calls,
        assumed_tokens=attempt.assumed_tokens + event.assumed_tokens,
    )


def _add(so_far: float | None, more: float | None) -> float | None:
    return so_far if more is None else (so_far or 0.0) + more


_NEXT_PHASE = {
    Step.APPROVAL: Phase.APPROVAL,
    Step.NOOP: Phase.NOOP,
    Step.RETRY: Phase.READY,
    Step.FAIL: Phase.FAILED,
    Step.BLOCK: Phase.BLOCKED,
}


def _end(task: Task, attempt: Attempt, event: ev.AttemptEnded, at: float) -> Task:
    if event.next not in _NEXT_PHASE:
        raise illegal(attempt.id, task.phase, event)
    ended = replace(
        attempt,
        ended=at,
        outcome=event.outcome,
        counted=event.counted,
        reason=event.reason,
        exit=event.exit if event.exit is not None else attempt.exit,
        head=event.head,
        commits=event.commits,
    )
    settled = replace(_with_last(task, ended), counted=task.counted + event.counted)
    if task.phase is Phase.CANCELLED:
        return settled
    moved = move(settled, _NEXT_PHASE[event.next], at, event.reason, event.unblock)
    changes: dict[str, object] = {"not_before": event.retry_at or 0.0}
    if event.next is Step.APPROVAL:
        changes |= {"head": event.head, "base": event.base, "approved": None}
    return replace(moved, **changes)
