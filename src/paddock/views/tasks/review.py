"""The review of a task as its page shows it: findings in full, what reviewers and checks said of which version, what
must hold before it is accepted, and what its agent asks."""

import shlex

import msgspec

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.ids import harmless
from paddock.core.review import events as rv
from paddock.core.review.model import Finding
from paddock.core.tasks.task import Task
from paddock.views.document import iso
from paddock.views.findings import FindingView, view_finding

SHOWN_VERDICTS = 60
SHOWN_CHECKS = 40


class GivenVerdict(msgspec.Struct, frozen=True):
    """What one reviewer said of the version `head`, and of no other; `findings` is how many it reported then."""

    seq: int
    at: str
    by: str
    round: int
    head: str
    objects: bool
    summary: str
    findings: int
    attempt: str | None


class EndedCheck(msgspec.Struct, frozen=True):
    """How a check of the version `head` ended; `accept` is the task's own acceptance. `exit` is None where nothing was
    run, and `output` is the end of what it printed."""

    seq: int
    at: str
    name: str
    head: str
    passed: bool
    exit: int | None
    seconds: float
    output: str


class AcceptedFile(msgspec.Struct, frozen=True):
    path: str
    lines: int


class AcceptanceView(msgspec.Struct, frozen=True):
    """`commands` as a person would type them; `files` are laid over the change for them."""

    commands: tuple[str, ...]
    files: tuple[AcceptedFile, ...]


class QuestionView(msgspec.Struct, frozen=True):
    """What an agent asked that nobody has answered. With `options` its engine asks, and takes only one of these."""

    seq: int
    at: str
    attempt: str | None
    text: str
    options: tuple[str, ...] = ()


class LiveReview:
    """Hears the records of one task. A list or table that has changed is another object, and so is a row of it."""

    def __init__(self) -> None:
        self._claims: dict[str, rv.Claim] = {}
        self._disputes: dict[str, str] = {}
        self._known: dict[str, tuple[Finding, FindingView]] = {}
        self._accept: tuple[int, AcceptanceView] | None = None
        self._question: QuestionView | None = None
        self.findings: dict[str, FindingView] = {}
        self.verdicts: dict[str, GivenVerdict] = {}
        self.checks: dict[str, EndedCheck] = {}

    def hear(self, record: ev.Record) -> None:
        match record.event:
            case rv.FindingReported(id=name, claim=claim):
                self._claims[name] = claim
            case rv.FindingDisputed(id=name, why=why):
                self._disputes[name] = why
            case rv.ReviewGiven() as given:
                self._add_verdict(record, given)
            case rv.CheckEnded() as ended:
                self._add_check(record, ended)
            case ev.TaskAdded(accept=ev.Acceptance() as accept) | ev.TaskEdited(accept=ev.Acceptance() as accept):
                self._accept = record.seq, _view_acceptance(accept)
            case ev.QuestionAsked(text=text, options=options):
                offered = tuple(map(harmless, options))
                self._question = QuestionView(record.seq, iso(record.at), record.attempt, harmless(text), offered)

    def look(self, board: Board, task: Task) -> dict[str, FindingView]:
        """Its findings as they stand: the one about which nothing is new is the same object."""
        rows: dict[str, FindingView] = {}
        for finding in board.reviews.findings_of(task.id):
            old = self._known.get(finding.id)
            if old is None or old[0] is not finding:
                claim = self._claims.get(finding.id, rv.Claim(finding.claim, finding.path, finding.line))
                view = view_finding(finding, claim, self._disputes.get(finding.id, "") if finding.disputed else "")
                old = self._known[finding.id] = (finding, view if old is None or old[1] != view else old[1])
            rows[finding.id] = old[1]
        if rows != self.findings:
            self.findings = rows
        return self.findings

    def acceptance(self, task: Task) -> AcceptanceView | None:
        return self._accept[1] if self._accept is not None and task.accept_seq == self._accept[0] else None

    def question(self, task: Task) -> QuestionView | None:
        asked = self._question
        return asked if asked is not None and asked.seq == task.question else None

    def _add_verdict(self, record: ev.Record, given: rv.ReviewGiven) -> None:
        row = GivenVerdict(
            seq=record.seq,
            at=iso(record.at),
            by=given.by,
            round=given.round,
            head=given.head,
            objects=given.objects,
            summary=harmless(given.summary),
            findings=given.findings,
            attempt=record.attempt,
        )
        self.verdicts = dict(list({**self.verdicts, str(record.seq): row}.items())[-SHOWN_VERDICTS:])

    def _add_check(self, record: ev.Record, ended: rv.CheckEnded) -> None:
        """Of one version, the last time counts."""
        row = EndedCheck(
            seq=record.seq,
            at=iso(record.at),
            name=ended.name,
            head=ended.head,
            passed=ended.passed,
            exit=ended.exit,
            seconds=ended.seconds,
            output=harmless(ended.output),
        )
        others = {key: one for key, one in self.checks.items() if (one.name, one.head) != (ended.name, ended.head)}
        self.checks = dict(list({**others, str(record.seq): row}.items())[-SHOWN_CHECKS:])


def _view_acceptance(accept: ev.Acceptance) -> AcceptanceView:
    return AcceptanceView(
        commands=tuple(harmless(shlex.join(words)) for words in accept.commands),
        files=tuple(AcceptedFile(harmless(one.path), len(one.text.splitlines())) for one in accept.files),
    )
