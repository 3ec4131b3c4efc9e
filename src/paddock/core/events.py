"""The facts Paddock records. An event says what happened; everything else is derived by folding.

A new field has a default; a new meaning is a new event. Nothing here is ever removed or renamed:
logs written years ago must open (tests/histories).
"""

from typing import ClassVar

import msgspec
from msgspec import UNSET, UnsetType

from paddock.core.given import Given
from paddock.core.ids import AttemptId, TaskId
from paddock.core.tasks.vocabulary import EndedBy, Outcome, Role, Step


class Event(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=False, gc=False):
    kind: ClassVar[str]


class Record(msgspec.Struct, frozen=True, gc=False):
    """One line of the log. `at` is in seconds since the epoch; `generation` is 0 for people."""

    seq: int
    at: float
    actor: str
    generation: int
    task: TaskId | None
    attempt: AttemptId | None
    event: Event
    hash: bytes


class Draft(msgspec.Struct, frozen=True, gc=False):
    """An event a writer wants recorded, before the log has stamped it."""

    event: Event
    task: TaskId | None = None
    attempt: AttemptId | None = None


class Unknown(Event, frozen=True):
    """A kind this version does not know, kept as it stands in the log."""

    kind: ClassVar[str] = "unknown"
    name: str
    body: bytes


class LogCreated(Event, frozen=True):
    """`identity` is a word of this log's own, in the names of whatever belongs to it outside of the log.

    `label` is that word where the repository had another log before: then its branches and worktrees carry it too.
    """

    kind: ClassVar[str] = "log.created"
    version: str
    identity: str = ""
    label: str = ""


class LogUpgraded(Event, frozen=True):
    """The first write by a newer Paddock, with the version that older writers should upgrade to."""

    kind: ClassVar[str] = "log.upgraded"
    version: str


class LogLossAccepted(Event, frozen=True):
    """A person decided to continue without the records `first` to `last`, which were acknowledged and are lost.

    `given` are the highest numbers known to have been given in them: none is given again.
    """

    kind: ClassVar[str] = "log.loss_accepted"
    first: int
    last: int
    given: Given = Given()
    reason: str = ""


class ConvoyAdded(Event, frozen=True):
    kind: ClassVar[str] = "convoy.added"
    name: str
    title: str = ""


class AcceptFile(msgspec.Struct, frozen=True):
    """A file that is laid over a change before it is checked: its worker never had it, or not in this form."""

    path: str
    text: str


class Acceptance(msgspec.Struct, frozen=True, omit_defaults=True):
    """What must hold before a change is accepted: `commands`, one argv each, pass with `files` laid over it."""

    commands: tuple[tuple[str, ...], ...] = ()
    files: tuple[AcceptFile, ...] = ()


class TaskAdded(Event, frozen=True):
    """The choice of agent and the estimates depend on a task's `kind` of work, such as `docs`. `role` is what its
    attempts are for; `inputs` are tasks whose results it is told. One that only reads looks at the commit `start`, or
    at main where that is empty; with `files`, what a review finds becomes a task if it is at least that severe. A plan
    may have `max_tasks`; 0 means as many as is usual. `forks` is the attempt of another task whose branch and
    conversation it begins with: a copy, so that the other keeps its own. `series` is what it shares with the tasks that
    a schedule adds for the same step at other times. `needs` are labels that the machine must have which it runs on."""

    kind: ClassVar[str] = "task.added"
    title: str
    brief: str
    agent: str | None = None
    engine: str | None = None
    convoy: str | None = None
    after: tuple[TaskId, ...] = ()
    priority: int = 0
    paths: tuple[str, ...] = ()
    attempts: int = 3
    task_kind: str | None = msgspec.field(default=None, name="kind")
    role: Role = Role.WORK
    labels: tuple[str, ...] = ()
    inputs: tuple[TaskId, ...] = ()
    accept: Acceptance | None = None
    start: str = ""
    files: str = ""
    max_tasks: int = 0
    forks: AttemptId | None = None
    series: str = ""
    needs: tuple[str, ...] = ()


class TaskEdited(Event, frozen=True):
    """Only the fields that are set change."""

    kind: ClassVar[str] = "task.edited"
    title: str | UnsetType = UNSET
    brief: str | UnsetType = UNSET
    agent: str | UnsetType | None = UNSET
    engine: str | UnsetType | None = UNSET
    after: tuple[TaskId, ...] | UnsetType = UNSET
    priority: int | UnsetType = UNSET
    paths: tuple[str, ...] | UnsetType = UNSET
    attempts: int | UnsetType = UNSET
    task_kind: str | UnsetType | None = msgspec.field(default=UNSET, name="kind")
    labels: tuple[str, ...] | UnsetType = UNSET
    accept: Acceptance | UnsetType | None = UNSET
    needs: tuple[str, ...] | UnsetType = UNSET


class TaskCancelled(Event, frozen=True):
    kind: ClassVar[str] = "task.cancelled"
    reason: str = ""


class TaskRetried(Event, frozen=True):
    """A person asked for a retry; `attempts` is how many more attempts that allows. With `review` only the review of
    its change begins again: its worker has done its part."""

    kind: ClassVar[str] = "task.retried"
    attempts: int
    reason: str = ""
    review: bool = False


class TaskBlocked(Event, frozen=True):
    kind: ClassVar[str] = "task.blocked"
    reason: str
    unblock: str


class TaskApproved(Event, frozen=True):
    """`message` is the note of whoever approved it, for people to read."""

    kind: ClassVar[str] = "task.approved"
    head: str
    message: str = ""


class TaskRejected(Event, frozen=True):
    """A person rejected the change; `message` is for the next attempt."""

    kind: ClassVar[str] = "task.rejected"
    head: str
    message: str = ""


class ChangeRevised(Event, frozen=True):
    """A person finished the work on the branch by hand; `head` is what now waits for approval."""

    kind: ClassVar[str] = "task.revised"
    head: str
    base: str


class ChangeRebased(Event, frozen=True):
    """The work began on a main that is gone: its own commits were written again on `base`, without `lost`, which main
    no longer has."""

    kind: ClassVar[str] = "task.rebased"
    head: str
    base: str
    lost: tuple[str, ...] = ()


class ApprovalRequired(Event, frozen=True):
    """Only a person may let `head` land: `concerns` are the protected paths it touches, `undoes` the landed work that
    it takes back. Whatever the approval policy is."""

    kind: ClassVar[str] = "task.approval_required"
    head: str
    concerns: tuple[str, ...] = ()
    undoes: tuple[str, ...] = ()


class MessageSent(Event, frozen=True):
    """A follow-up for the agent. Named by the record's sequence number. With `now` its running turn is interrupted for
    it. `like` is the message that it repeats, for another agent; `answers` is the question that it answers."""

    kind: ClassVar[str] = "message.sent"
    text: str
    now: bool = False
    like: int = 0
    answers: int = 0


class MessagesDelivered(Event, frozen=True):
    """The engine of an attempt has these messages: `evidence` is what its own stream or session file shows of it. They
    are not delivered again. Each is named by its record's number."""

    kind: ClassVar[str] = "message.delivered"
    messages: tuple[int, ...]
    turn: int
    evidence: str = ""


class CommentDrafted(Event, frozen=True):
    """A person has something to say about a line of version `head`, and sends it later, with others. `line` is of the
    file after the change, or with `side` old before it; `quote` is that line. Named by the record's sequence number."""

    kind: ClassVar[str] = "comment.drafted"
    path: str
    line: int
    text: str
    side: str = "new"
    quote: str = ""
    head: str = ""


class CommentDropped(Event, frozen=True):
    kind: ClassVar[str] = "comment.dropped"
    comment: int


class CommentsSent(Event, frozen=True):
    """They are in one message, or in the words of a rejection, recorded beside this."""

    kind: ClassVar[str] = "comment.sent"
    comments: tuple[int, ...]


class QuestionAsked(Event, frozen=True):
    """An agent needs a person's answer, which is the next message to its task. Named by the record's number.

    With `options` it is its engine that asks, in a dialog or for a permission: the turn goes on with one of them, and
    `request` is the engine's own name for what it waits for."""

    kind: ClassVar[str] = "attempt.question_asked"
    text: str
    options: tuple[str, ...] = ()
    request: str = ""


class QuestionWithdrawn(Event, frozen=True):
    """An engine no longer waits for the answer to the question in the record `question`."""

    kind: ClassVar[str] = "attempt.question_withdrawn"
    question: int


class MessagesRead(Event, frozen=True):
    """An agent that waited for an answer was told these messages in the middle of its turn: they are not delivered
    again. Each is named by its record's number."""

    kind: ClassVar[str] = "attempt.messages_read"
    messages: tuple[int, ...]


class NoopDeclared(Event, frozen=True):
    """An agent says that its task needs no change, and why. It counts for the turn it was said in."""

    kind: ClassVar[str] = "attempt.noop_declared"
    reason: str


class AnswerRefused(Event, frozen=True):
    """The answer of an attempt that only reads cannot be used; it is asked again in its conversation, and told why."""

    kind: ClassVar[str] = "attempt.answer_refused"
    problem: str


class ReportGiven(Event, frozen=True):
    """What an attempt that only reads has to say: the answer of a task of role `report`."""

    kind: ClassVar[str] = "task.reported"
    text: str


class PlanProposed(Event, frozen=True):
    """The answer of a task of role `plan`: a task file in JSON, as docs/reference/plan.md describes it."""

    kind: ClassVar[str] = "plan.proposed"
    plan: str


class PlanAccepted(Event, frozen=True):
    """A person let the plan in the record `plan` become tasks, as it was or as they edited it."""

    kind: ClassVar[str] = "plan.accepted"
    plan: int
    tasks: tuple[TaskId, ...] = ()
    convoy: str | None = None


class PlanDropped(Event, frozen=True):
    kind: ClassVar[str] = "plan.dropped"
    plan: int
    reason: str = ""


class StopRequested(Event, frozen=True):
    kind: ClassVar[str] = "attempt.stop_requested"
    reason: str = ""


class AttemptHeld(Event, frozen=True):
    """A person has taken the attempt over: its turn is ended, and no other begins before they have left. `process`
    identifies what keeps it for them on the host `host`, whose `host_id` stays when its name changes."""

    kind: ClassVar[str] = "attempt.held"
    host: str = ""
    host_id: str = ""
    process: str = ""


class HoldEnded(Event, frozen=True):
    """They have left, or what kept it for them is gone, as `reason` says. With `handback` its agent goes on; otherwise
    it is judged."""

    kind: ClassVar[str] = "attempt.hold_ended"
    handback: bool = False
    reason: str = ""


class RequestRefused(Event, frozen=True):
    """An agent asked for what only people may: `request`, such as `down`. Once for each attempt and request."""

    kind: ClassVar[str] = "attempt.request_refused"
    request: str


class AttemptStarted(Event, frozen=True):
    """The claim on a task. `continues` names the attempt whose branch and conversation go on.

    `inlined` says why it runs in the warm session of another task's agent instead of one of its own. What
    is reserved counts against the budgets until the attempt has ended. `session_used` is what the conversation
    had used before: input, cache writes, cache reads and output, for engines that only tell totals. `worktree` is
    the folder that the conversation lives in, where it is one that goes on, and `memory` names what is kept of it.
    `host` is the name of where it runs, and `host_id` stays when that changes. A `visit` is begun by a person, to work
    with the agent in a terminal: nothing is reserved for it. With `fork` the session and the memory are those of
    another task's attempt, and only a copy of them goes on.
    """

    kind: ClassVar[str] = "attempt.started"
    engine: str
    base: str
    branch: str
    agent: str | None = None
    model: str | None = None
    host: str = ""
    worktree: str = ""
    continues: AttemptId | None = None
    session: str | None = None
    account: str = ""
    inlined: str = ""
    session_used: tuple[int, int, int, int] = (0, 0, 0, 0)
    session_cost: float = 0.0
    reserved_usd: float | None = None
    reserved_tokens: float = 0.0
    role: Role = Role.WORK
    host_id: str = ""
    memory: str = ""
    visit: bool = False
    fork: bool = False


class AttemptExtended(Event, frozen=True):
    """A running attempt needs more than was reserved for it; these are its new reservations in all."""

    kind: ClassVar[str] = "attempt.extended"
    reserved_usd: float | None = None
    reserved_tokens: float = 0.0


class TurnStarted(Event, frozen=True):
    """Written before the process exists; its identity is in the attempt's folder, renamed into place.

    `worktree` is the folder it works in, where its conversation lives from now on. `new_conversation` says why the
    turn begins another conversation although there was one to go on with. `fence` is the level in force, empty where
    nobody noted it. `memory` names what is kept of the conversation: nobody else is shown it. An `interactive` turn is
    the engine's own terminal, with the person who holds the attempt; the fleet neither starts nor follows it.
    """

    kind: ClassVar[str] = "turn.started"
    turn: int
    session: str | None = None
    messages: tuple[int, ...] = ()
    worktree: str = ""
    new_conversation: str = ""
    fence: str = ""
    memory: str = ""
    interactive: bool = False


class TurnEnded(Event, frozen=True):
    """`exit` is the process's status, negative for a signal, None if nothing observed its end.

    `ended_by` is empty when it ended by itself; `problem` says more about what ended it.

    `startup_usd` is the part of the cost that went into the start-up context. A turn without a price counts
    towards budgets with `assumed_usd`. `cost_source` says who knows the cost: engine or table; unpriced when only
    the tokens are known; unknown when the engine tells no tokens. `uncounted_calls` are calls of a model of which
    it tells none, at the least; budgets count `assumed_tokens` for them. `session_lost` is what the engine said when
    it could not find the conversation it was to resume.
    """

    kind: ClassVar[str] = "turn.ended"
    turn: int
    exit: int | None = None
    ended_by: EndedBy = EndedBy.ITSELF
    problem: str = ""
    session: str | None = None
    steps: int = 0
    input_tokens: int = 0
    cache_write_tokens: int = 0
    cache_read_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    cost_source: str = ""
    startup_seconds: float | None = None
    startup_tokens: int = 0
    model: str | None = None
    swept: tuple[str, ...] = ()
    startup_usd: float | None = None
    assumed_usd: float = 0.0
    session_lost: str = ""
    uncounted_calls: int = 0
    assumed_tokens: int = 0


class AttemptEnded(Event, frozen=True):
    """The judge's verdict with the facts it rests on, and what was decided to do next. `outside` are files that were
    changed although they are not of the task's paths."""

    kind: ClassVar[str] = "attempt.ended"
    outcome: Outcome
    next: Step
    counted: bool
    reason: str = ""
    exit: int | None = None
    head: str | None = None
    base: str | None = None
    commits: int = 0
    files: int = 0
    insertions: int = 0
    deletions: int = 0
    retry_at: float | None = None
    unblock: str = ""
    outside: tuple[str, ...] = ()


class WorktreeRemoved(Event, frozen=True):
    kind: ClassVar[str] = "worktree.removed"
    path: str
    bytes_freed: int = 0


class Swept(Event, frozen=True):
    """Something the janitor ended or removed, with the evidence."""

    kind: ClassVar[str] = "janitor.swept"
    what: str
    evidence: str = ""


class DaemonTroubled(Event, frozen=True):
    """Something the daemon could not do and will try again; recorded so that it can be investigated."""

    kind: ClassVar[str] = "daemon.troubled"
    what: str
    problem: str


class SettingsAdopted(Event, frozen=True):
    """`paddock.toml` was edited: `keys` have their new value from now on, `later` get it with the next daemon."""

    kind: ClassVar[str] = "daemon.settings_adopted"
    keys: tuple[str, ...] = ()
    later: tuple[str, ...] = ()


class SettingsInForce(Event, frozen=True):
    """The configuration that a daemon works by, from its start or from an edit on. `changes` say what is different from
    the one before, in words and without secrets; the digest is over every key and value."""

    kind: ClassVar[str] = "daemon.settings_in_force"
    digest: str
    changes: tuple[str, ...] = ()


class BudgetSet(Event, frozen=True):
    """A limit for a scope such as `fleet`, `day`, `convoy:x`, `task:t4`, `attempt`; with neither, it is removed."""

    kind: ClassVar[str] = "budget.set"
    scope: str
    money: float | None = None
    tokens: float | None = None


class LimitsReset(Event, frozen=True):
    """A person re-enabled an engine or the account behind it."""

    kind: ClassVar[str] = "limits.reset"
    name: str
