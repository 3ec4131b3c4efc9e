"""One task as a page shows it: what it is doing, how it got here, what may be done, what it cost; looked at again and
again, with what has not changed kept as it was."""

from collections.abc import Iterable

import msgspec

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.ids import TaskId, harmless
from paddock.core.intent.choices import Choice, choices_of
from paddock.core.merge import events as qe
from paddock.core.nodes.labels import need_of
from paddock.core.tasks.results import result_words
from paddock.core.tasks.task import Attempt, Task
from paddock.core.tasks.vocabulary import USEFUL, Outcome, Role
from paddock.fleet.attempts.excerpts import output_size
from paddock.fleet.landing.ci_output import last_lines
from paddock.fleet.nodes.needs import needs_of
from paddock.fleet.results import read_answer
from paddock.fleet.task_details import FailedCi, failed_run
from paddock.store.protocol import Query
from paddock.views.board.rows import TaskRow, view_row
from paddock.views.document import iso
from paddock.views.findings import FindingView
from paddock.views.sight import Sight
from paddock.views.standing import reason_of
from paddock.views.tasks.cost import TaskCost, view_cost
from paddock.views.tasks.details import ApprovalView
from paddock.views.tasks.next_steps import NextStep, landing_estimate, next_steps
from paddock.views.tasks.review import AcceptanceView, EndedCheck, GivenVerdict, LiveReview, QuestionView
from paddock.views.tasks.task import AttemptView, view_attempt
from paddock.views.tasks.timeline import TimelineRow, view_record_of_queue, view_record_of_task

SHOWN_ROWS = 500
SHOWN_RUNS = 40
SHOWN_TURNS = 200
CI_LINES = 20
DELIVERS = USEFUL - {Outcome.ANSWERED}
_DELIVERIES = (ev.AttemptEnded, ev.ChangeRevised)


class VersionView(msgspec.Struct, frozen=True):
    """A version of the change: what an attempt delivered, or a person made of it."""

    version: int
    head: str
    base: str | None
    at: str
    attempt: str | None
    insertions: int
    deletions: int
    files: int


class TaskRunRow(msgspec.Struct, frozen=True):
    """A CI run that tests or tested the task. `state` is running, or how it ended; `seconds` is None until then."""

    run: str
    purpose: str
    state: str
    since: str
    seconds: float | None
    members: tuple[str, ...]
    note: str


class TurnRow(msgspec.Struct, frozen=True):
    attempt: str
    turn: int
    at: str
    ended: str | None
    steps: int
    cost_usd: float | None


class TranscriptEnd(msgspec.Struct, frozen=True):
    """How far the newest turn's output has come: a page that shows it asks for more when this moves."""

    attempt: str
    turn: int
    size: int
    live: bool
    role: str


class TaskPage(msgspec.Struct, frozen=True):
    """`needs` are its agent's, too. `round` is that of its review, of `rounds` at most. `plan` is the record of the
    plan that a task has made, 0 for none, and `plan_waits` whether somebody is to decide about it."""

    task: TaskRow
    brief: str
    branch: str | None
    base: str | None
    worktree: str | None
    paths: tuple[str, ...]
    labels: tuple[str, ...]
    needs: tuple[str, ...]
    dependents: tuple[str, ...]
    choices: tuple[Choice, ...]
    attempts: list[AttemptView]
    timeline: dict[str, TimelineRow]
    next: list[NextStep]
    versions: list[VersionView]
    findings: dict[str, FindingView]
    verdicts: dict[str, GivenVerdict]
    checks: dict[str, EndedCheck]
    round: int
    rounds: int
    accept: AcceptanceView | None
    question: QuestionView | None
    plan: int
    plan_waits: bool
    runs: dict[str, TaskRunRow]
    turns: list[TurnRow]
    cost: TaskCost
    approval: ApprovalView | None
    failed_ci: FailedCi | None
    transcript: TranscriptEnd | None
    answer: str


class LiveTask:
    """The log of the task is read once, then what is new in it. Raises NotFound for an unknown task."""

    def __init__(self, task: TaskId) -> None:
        self._id = task
        self._story = TaskStory(task)
        self._failed: FailedCi | None = None
        self._lands_at: float | None = None
        self._answered: tuple[object, ...] = ()
        self._answer = ""

    def look(self, sight: Sight) -> TaskPage:
        board = sight.board
        task = board.task(self._id)
        self._story.catch_up(sight)
        self._lands_at = landing_estimate(sight, task, self._lands_at)
        story, worker = self._story, task.worker
        return TaskPage(
            task=_view_row(sight, task),
            brief=story.brief,
            branch=task.branch,
            base=task.base or (worker.base if worker is not None else None),
            worktree=(worker.worktree or None) if worker is not None else None,
            paths=task.paths,
            labels=task.labels,
            needs=tuple(need_of(*one) for one in needs_of(sight.workspace.config, task).items()),
            dependents=tuple(board.dependents.get(task.id, ())),
            choices=choices_of(board, task),
            attempts=[view_attempt(attempt) for attempt in task.attempts],
            timeline=story.timeline,
            next=next_steps(sight, task, self._lands_at),
            versions=story.versions,
            findings=story.review.look(board, task),
            verdicts=story.review.verdicts,
            checks=story.review.checks,
            round=board.reviews.of(task.id).round,
            rounds=sight.workspace.config.review.rounds,
            accept=story.review.acceptance(task),
            question=story.review.question(task),
            plan=task.answer_seq if task.role is Role.PLAN else 0,
            plan_waits=task.plan_waits,
            runs=story.runs,
            turns=story.turns,
            cost=view_cost(sight, task),
            approval=story.approval if story.approved == task.approved else None,
            failed_ci=self._find_failed(sight, board, task),
            transcript=_transcript_end(sight, task.last),
            answer=self._read_answer(sight, task),
        )

    def _read_answer(self, sight: Sight, task: Task) -> str:
        """Of a task that only reads, once for each answer."""
        given = (task.phase, task.newest, task.answer_seq)
        if task.role.only_reads and given != self._answered:
            self._answer, self._answered = result_words(read_answer(sight.ask, task)), given
        return self._answer

    def _find_failed(self, sight: Sight, board: Board, task: Task) -> FailedCi | None:
        """What a run printed is read once."""
        run = failed_run(board, task)
        if run is None:
            return None
        if self._failed is None or self._failed.run != run:
            lines = last_lines(sight.workspace.site, run, CI_LINES).splitlines()
            self._failed = FailedCi(run, [harmless(line) for line in lines])
        return self._failed


class TaskStory:
    """What the records of a task add up to, as far as the board does not tell. A list or table that has changed is
    another object."""

    def __init__(self, task: TaskId) -> None:
        self._id = task
        self._seq = 0
        self._in_queue = False
        self._members: dict[str, tuple[str, ...]] = {}
        self._began: dict[str, float] = {}
        self.brief = ""
        self.timeline: dict[str, TimelineRow] = {}
        self.versions: list[VersionView] = []
        self.runs: dict[str, TaskRunRow] = {}
        self.turns: list[TurnRow] = []
        self.approval: ApprovalView | None = None
        self.approved: str | None = None
        self.review = LiveReview()

    def catch_up(self, sight: Sight) -> None:
        board = sight.board
        if board.seq <= self._seq:
            return
        new = list(sight.ask(Query(after=self._seq, until=board.seq, task=self._id)))
        queue: Iterable[ev.Record] = ()
        if (queue_after := self._queue_from(new)) is not None:
            queue = sight.ask(Query(after=queue_after, until=board.seq, kind="queue.*"))
        rows = dict(self.timeline)
        both = {record.seq: record for record in (*new, *queue)}
        for _, record in sorted(both.items()):
            row = self._take(record, board)
            if row is not None:
                rows[str(record.seq)] = row
        if len(rows) != len(self.timeline):
            self.timeline = dict(list(rows.items())[-SHOWN_ROWS:])
        self._seq = board.seq

    def _queue_from(self, new: Iterable[ev.Record]) -> int | None:
        """The record after which the queue may tell of the task; None as long as no attempt has ended."""
        if self._in_queue:
            return self._seq
        first = next((one.seq for one in new if isinstance(one.event, _DELIVERIES)), None)
        self._in_queue = first is not None
        return first

    def _take(self, record: ev.Record, board: Board) -> TimelineRow | None:
        if record.task != self._id or record.event.kind.startswith("queue."):
            return self._take_queue(record)
        self.review.hear(record)
        match record.event:
            case ev.TaskAdded(brief=str(brief)) | ev.TaskEdited(brief=str(brief)):
                self.brief = harmless(brief)
            case ev.AttemptEnded(head=str(head), base=base, outcome=outcome) as end if outcome in DELIVERS:
                self._add_version(record, head, base, (end.insertions, end.deletions, end.files))
            case ev.ChangeRevised(head=head, base=base) | ev.ChangeRebased(head=head, base=base):
                self._add_version(record, head, base)
            case ev.TaskApproved(head=head, message=message):
                self.approved = head
                self.approval = ApprovalView(record.actor, iso(record.at), harmless(message))
            case ev.TurnStarted() | ev.TurnEnded():
                self._take_turn(record)
        return view_record_of_task(record, board, len(self.versions))

    def _add_version(
        self, record: ev.Record, head: str, base: str | None, size: tuple[int, int, int] = (0, 0, 0)
    ) -> None:
        if not self.versions or self.versions[-1].head != head:
            number = len(self.versions) + 1
            new = VersionView(number, head, base, iso(record.at), record.attempt, *size)
            self.versions = [*self.versions, new]

    def _take_turn(self, record: ev.Record) -> None:
        event, attempt = record.event, str(record.attempt)
        if isinstance(event, ev.TurnStarted):
            begun = TurnRow(attempt, event.turn, iso(record.at), None, 0, None)
            self.turns = [*self.turns, begun][-SHOWN_TURNS:]
        elif isinstance(event, ev.TurnEnded):
            ended = {"ended": iso(record.at), "steps": event.steps, "cost_usd": event.cost_usd}
            self.turns = [
                msgspec.structs.replace(one, **ended) if (one.attempt, one.turn) == (attempt, event.turn) else one
                for one in self.turns
            ]

    def _take_queue(self, record: ev.Record) -> TimelineRow | None:
        match record.event:
            case qe.RunStarted(run=run, purpose=purpose, members=members):
                names = tuple(member.id for member in members)
                if self._id in names:
                    self._members[run], self._began[run] = names, record.at
                    row = TaskRunRow(run, purpose.value, "running", iso(record.at), None, names, "")
                    self.runs = dict(list({**self.runs, run: row}.items())[-SHOWN_RUNS:])
            case qe.RunEnded(run=run, result=result, note=note) if run in self.runs:
                took = round(record.at - self._began[run], 1)
                ended = msgspec.structs.replace(self.runs[run], state=result.value, seconds=took, note=harmless(note))
                self.runs = {**self.runs, run: ended}
        return view_record_of_queue(record, self._id, lambda run: self._members.get(run, ()))


def _view_row(sight: Sight, task: Task) -> TaskRow:
    live = task.live_attempt
    agent = sight.glance.agents.get(live.id) if live is not None else None
    return view_row(sight.board, task, agent, reason_of(sight.workspace, sight.board, sight.outlook, task))


def _transcript_end(sight: Sight, last: Attempt | None) -> TranscriptEnd | None:
    if last is None or not last.turn:
        return None
    size = output_size(sight.workspace.site, last, last.turn)
    return TranscriptEnd(last.id, last.turn, size, last.live and last.turn_open, last.role.value)
