"""Everything known about one task: its brief, its attempts' work, who approved it, what CI says against it."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from paddock.core.board import Board
from paddock.core.events import Acceptance, StopRequested, TaskApproved
from paddock.core.intent.reverts import reverted_by
from paddock.core.merge.model import Ending, Queue, Result
from paddock.core.review.events import Claim
from paddock.core.review.model import Finding, TaskReview
from paddock.core.tasks.results import result_words
from paddock.core.tasks.task import Attempt, Phase, Task
from paddock.fleet.acceptance import read_acceptance
from paddock.fleet.attempts.evidence import Evidence, gather
from paddock.fleet.attempts.prompts import read_brief, read_question
from paddock.fleet.landing.ci_output import last_lines
from paddock.fleet.results import read_answer
from paddock.fleet.review.claims import read_claims
from paddock.fleet.workspace import Workspace
from paddock.store.protocol import Query


@dataclass(frozen=True, slots=True)
class GivenApproval:
    """Who approved the commit, when, and with which note; only the log has these."""

    by: str
    at: float
    message: str


@dataclass(frozen=True, slots=True)
class FailedCi:
    """The CI run that speaks against what the task delivered last, and the end of what it printed."""

    run: str
    output: Sequence[str]


@dataclass(frozen=True, slots=True)
class TaskDetails:
    """`works`, `stopped` and `settings` go by attempt; `stopped` tells who asked for its end, and the words given with
    it, `settings` how the configuration changed while it ran. `accept` is not for workers to see.
    `answer` is what a task that only reads came to, in words; `question` is what its agent asks and nobody has
    answered."""

    task: Task
    brief: str
    dependents: Sequence[str]
    works: Mapping[str, Evidence]
    stopped: Mapping[str, str]
    approval: GivenApproval | None
    failed_ci: FailedCi | None
    settings: Mapping[str, tuple[str, ...]]
    accept: Acceptance | None = None
    answer: str = ""
    reverted: "Reversion | None" = None
    findings: Sequence[tuple[Finding, Claim]] = ()
    review: TaskReview = field(default_factory=TaskReview)
    question: str = ""


@dataclass(frozen=True, slots=True)
class Reversion:
    """The change that takes this one back, where it is in the queue or has landed; in `commit`, empty before."""

    by: str
    commit: str


def look_into(workspace: Workspace, board: Board, task: Task) -> TaskDetails:
    """A missing engine, folder or commit does not hide the rest."""
    failed = failed_run(board, task)
    with closing(workspace.read()) as store:
        brief, question = read_brief(store, task), read_question(store, task)
        answer = result_words(read_answer(store.records, task)) if task.role.only_reads else ""
        accept = read_acceptance(store, task) if workspace.worker is None else None
        findings = read_claims(store, board.reviews.findings_of(task.id))
    return TaskDetails(
        task,
        brief,
        list(board.dependents.get(task.id, ())),
        {attempt.id: gather(workspace.site, attempt) for attempt in task.attempts},
        _stop_reasons(workspace, task),
        _approval_of(workspace, task),
        FailedCi(failed, last_lines(workspace.site, failed).splitlines()) if failed is not None else None,
        {attempt.id: found for attempt in task.attempts if (found := changes_during(board, attempt))},
        accept,
        answer,
        _reversion_of(board, task),
        findings,
        board.reviews.of(task.id),
        question,
    )


def _reversion_of(board: Board, task: Task) -> Reversion | None:
    queued = next((one.change.id for one in board.queue.entries.values() if one.change.reverts == task.id), None)
    if queued is not None:
        return Reversion(queued, "")
    by = reverted_by(board, task.id)
    return Reversion(by.id, by.commit or by.head) if by is not None else None


def changes_during(board: Board, attempt: Attempt) -> tuple[str, ...]:
    """How the daemon's configuration changed while an attempt ran."""
    came = [change for change in board.settings if change.came_during(attempt.started, attempt.ended)]
    return tuple(words for change in came for words in change.changes)


def _stop_reasons(workspace: Workspace, task: Task) -> dict[str, str]:
    found: dict[str, str] = {}
    for record in workspace.records(Query(task=task.id, kind=StopRequested.kind)):
        if isinstance(record.event, StopRequested) and record.attempt is not None:
            found[record.attempt] = f"by {record.actor}" + (f": {record.event.reason}" if record.event.reason else "")
    return found


def _approval_of(workspace: Workspace, task: Task) -> GivenApproval | None:
    given = None
    if task.approved is not None:
        for record in workspace.records(Query(task=task.id, kind=TaskApproved.kind)):
            if isinstance(record.event, TaskApproved) and record.event.head == task.approved:
                given = GivenApproval(record.actor, record.at, record.event.message)
    return given


def failed_run(board: Board, task: Task) -> str | None:
    """The CI run that speaks against what the task delivered last, None when none does."""
    return _failed_in(board.queue, task) if task.phase in (Phase.QUEUED, Phase.BLOCKED) else None


def _failed_in(queue: Queue, task: Task) -> str | None:
    entry = queue.entries.get(task.id)
    if entry is not None:
        last = queue.ended.get(entry.evidence[-1]) if entry.evidence else None
        return last.id if last is not None and last.result is not Result.PASS else None
    decided = next((old for old in reversed(queue.decided) if old.task == task.id), None)
    rejected = decided is not None and decided.outcome is Ending.REJECTED and decided.head == task.head
    return decided.runs[-1] if decided is not None and rejected and decided.runs else None
