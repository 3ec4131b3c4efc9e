"""What is known about a task and its attempts. How they change is in `core/tasks/life.py`."""

from enum import StrEnum

import msgspec
from msgspec.structs import replace

from paddock.core import events as ev
from paddock.core.errors import IllegalTransition
from paddock.core.ids import AttemptId, TaskId
from paddock.core.tasks.vocabulary import EndedBy, Outcome, Role


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
    DONE = "done"

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
    Phase.DONE: "is done",
}

FINISHED = frozenset({Phase.LANDED, Phase.CANCELLED, Phase.NOOP, Phase.DONE})
DEAD = frozenset({Phase.FAILED, Phase.CANCELLED})
SATISFIED = frozenset({Phase.LANDED, Phase.NOOP, Phase.DONE})
DECIDED = DEAD | SATISFIED
NEEDS_HUMAN = frozenset({Phase.BLOCKED, Phase.FAILED, Phase.APPROVAL})


def illegal(subject: str, phase: str, event: ev.Event) -> IllegalTransition:
    return IllegalTransition(f"`{subject}` is {phase}: {event.kind} cannot happen now")


class Hold(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Who has taken an attempt over, and what keeps it for them; see `AttemptHeld`."""

    by: str
    since: float
    host: str = ""
    host_id: str = ""
    process: str = ""


class Found(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """How a task stood when a person's visit began."""

    phase: Phase
    reason: str = ""
    unblock: str = ""


class Attempt(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """`fork`: its session is still that of another task's attempt, and goes on as a copy only. `causes` are those
    that it is known to have failed for, see `core/causes`."""

    id: AttemptId
    engine: str
    branch: str
    base: str
    started: float
    agent: str | None = None
    model: str | None = None
    host: str = ""
    worktree: str = ""
    continues: AttemptId | None = None
    session: str | None = None
    turn: int = 0
    turn_open: bool = False
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
    refused: tuple[str, ...] = ()
    fence: str = ""
    memory: str = ""
    files: int = 0
    insertions: int = 0
    deletions: int = 0
    answers_refused: int = 0
    owes_answer: int = 0
    outside: tuple[str, ...] = ()
    questions: int = 0
    noop: str = ""
    held: Hold | None = None
    found: Found | None = None
    interactive: bool = False
    left_by: str = ""
    fork: bool = False
    causes: tuple[str, ...] = ()

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

    `lost`: it landed, and main no longer has it. `skipped` numbers of attempts were given in records that are lost.
    `questioned` is the head that only a person may approve. `role` is what its own attempts are for; others may review
    what they delivered. `inputs` are the tasks whose results it is told. `accept_seq` is the record with what must hold
    before it is accepted, `answer_seq` the one with the newest answer of a task that only reads, `question` the one
    with a question of its agent's that nobody has answered, `decided` the plan that a person has accepted or dropped;
    0 where there is none. `start` and `files` are as `TaskAdded` has them. A plan of its may have `max_tasks`, or as
    many as is usual if that is 0.
    `comments` are the records of people's comments on its lines that nobody has sent yet. `in_review`: it is blocked,
    and its change was under review. `untold` are messages that a turn was begun with and no engine is known to have;
    `options` are the only answers to its question, where that is its engine's. `forks` and `series` are as
    `TaskAdded` has them, and so are `needs`. `cause` is what it is blocked by, where that is the cause of a failure.
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
    kind: str | None = None
    lost: bool = False
    skipped: int = 0
    questioned: str | None = None
    role: Role = Role.WORK
    labels: tuple[str, ...] = ()
    inputs: tuple[TaskId, ...] = ()
    accept_seq: int = 0
    answer_seq: int = 0
    question: int = 0
    decided: int = 0
    max_tasks: int = 0
    comments: tuple[int, ...] = ()
    start: str = ""
    files: str = ""
    in_review: bool = False
    untold: tuple[int, ...] = ()
    options: tuple[str, ...] = ()
    forks: AttemptId | None = None
    series: str = ""
    cause: str = ""
    needs: tuple[str, ...] = ()

    @property
    def newest(self) -> int:
        """The number of its newest attempt; the next one's is one more."""
        return self.started + self.skipped

    @property
    def last(self) -> Attempt | None:
        return self.attempts[-1] if self.attempts else None

    @property
    def plan_waits(self) -> bool:
        """Whether it has made a plan that nobody has decided about."""
        return self.role is Role.PLAN and self.phase is Phase.DONE and 0 < self.answer_seq != self.decided

    @property
    def worker(self) -> Attempt | None:
        """The newest attempt at the task itself, whoever has reviewed it since."""
        return next((one for one in reversed(self.attempts) if one.role is self.role), None)

    @property
    def live_attempt(self) -> Attempt | None:
        return self.attempts[-1] if self.attempts and self.attempts[-1].ended is None else None

    @property
    def branch(self) -> str | None:
        worker = self.worker
        return worker.branch if worker is not None else None

    def cost_so_far(self, at_work: float | None = None) -> float | None:
        """Of all attempts that are kept; `at_work` is what the live one has cost by now, where that is known better.
        None where no price is known."""
        costs = [attempt.cost_usd for attempt in self.attempts]
        if at_work is not None and self.live_attempt is not None:
            costs[-1] = at_work
        known = [cost for cost in costs if cost is not None]
        return round(sum(known), 4) if known else None


REVIEWING = "review"
"""The kind of work that reviews are, whatever they review."""


def as_seen_by(task: Task, attempt: Attempt) -> Task:
    """The task as the attempt's own agent has it: a reviewer of its change is another agent, with other work to do."""
    if attempt.role is task.role:
        return task
    return replace(task, agent=attempt.agent, engine=attempt.engine, kind=REVIEWING, paths=())
