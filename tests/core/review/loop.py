"""The review loop in memory: its decisions are recorded, and the test plays whoever acts on them."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field

from paddock.core import events as ev
from paddock.core.answers import Unusable
from paddock.core.board import Board
from paddock.core.ids import attempt_id
from paddock.core.merge.events import ChangeQueued
from paddock.core.merge.model import Change
from paddock.core.review import plan as act
from paddock.core.review.answer import ReviewAnswer, read_review
from paddock.core.review.checks import CheckResult, record_check
from paddock.core.review.decisions import drafts_of
from paddock.core.review.events import Claim, FindingReported, Severity
from paddock.core.review.intake import dispute_findings, record_review, to_be_ruled_on
from paddock.core.review.plan import ReviewAction, ReviewPolicy, next_action
from paddock.core.tasks.task import Phase, Task
from paddock.core.tasks.vocabulary import Outcome, Role, Step
from tests.core.ledger import Ledger

BASE = "b" * 40
NOW = 2_000_000_000.0

Reviewer = Callable[[Task, str, list[str]], str]
"""What it answers: the task, the head it looks at, and the ids it has to rule on."""


def finds(*claims: str, severity: str = "error", now: str = "open", path: str = "a.py") -> Reviewer:
    def answer(_task: Task, head: str, earlier: list[str]) -> str:
        found = [{"path": path, "line": 1 + 50 * n, "severity": severity, "claim": c} for n, c in enumerate(claims)]
        ruled = [{"id": name, "now": now, "why": "looked"} for name in earlier]
        return json.dumps({"head": head, "findings": found, "earlier": ruled})

    return answer


CLEAN = finds(now="fixed")


@dataclass
class Loop:
    """One change under review. `work` is called when it is sent back and returns whether there is a new version, and
    what the worker refutes; `reviewers` answer by name, or give None for a review that fails."""

    policy: ReviewPolicy = field(default_factory=lambda: ReviewPolicy(reviewers=("ann",)))
    reviewers: dict[str, Reviewer | None] = field(default_factory=dict)
    checks: Callable[[str, int], list[Claim] | bool] = lambda _name, _version: True
    refutes: Callable[[str], str] = lambda _name: ""
    changes: Callable[[int], bool] = lambda _version: True
    owners_land: bool = True
    least: str = "error"

    def __post_init__(self) -> None:
        self.ledger = Ledger()
        self.task = self.ledger.add()
        self.version = 0
        self.story: list[ReviewAction] = []
        self.deliver(new=True)

    @property
    def board(self) -> Board:
        return self.ledger.board

    @property
    def now(self) -> Task:
        return self.board.task(self.task)

    @property
    def head(self) -> str:
        return hashlib.sha1(str(self.version).encode()).hexdigest()

    def deliver(self, *, new: bool) -> None:
        self.version += new
        name = self.ledger.start(self.task)
        turn = (ev.TurnStarted(1, messages=self.now.inbox), ev.TurnEnded(1, exit=0))
        self.ledger.write(*(ev.Draft(event, self.task, name) for event in turn))
        refuted = [(name, why) for name in self.board.reviews.findings if (why := self.refutes(name))]
        disputes = dispute_findings(self.board, self.task, refuted)
        ended = ev.AttemptEnded(Outcome.DELIVERED, Step.REVIEW, False, head=self.head, base=BASE)
        self.ledger.write(*(ev.Draft(one, self.task, name) for one in (*disputes, ended)))

    def run(self, most: int = 300) -> ReviewAction | None:
        """Until a person, or the queue, is needed; the last decision."""
        for _ in range(most):
            if self.now.phase is not Phase.REVIEWING:
                return self.story[-1] if self.story else None
            action = next_action(self.board, self.now, self.policy, NOW)
            self.story.append(action)
            self.perform(action)
        raise AssertionError(f"the loop does not end: {self.story[-10:]}")

    def perform(self, action: ReviewAction) -> None:
        match action:
            case act.RunChecks(names=names):
                self.check(names[0])
            case act.StartReview(reviewer=name):
                self.review(name)
            case act.Wait():
                self.land_others()
            case _:
                self.ledger.write(*drafts_of(self.board, self.now, self.policy, action, self.claim))
                if isinstance(action, act.SendBack):
                    self.land_others()
                    if self.now.phase is Phase.READY:
                        self.deliver(new=self.changes(self.version))

    def claim(self, name: str) -> Claim:
        event = self.ledger.records[self.board.reviews.findings[name].seq - 1].event
        assert isinstance(event, FindingReported)
        return event.claim

    def check(self, name: str) -> None:
        found = self.checks(name, self.version)
        claims = [] if found is True else [Claim("it fails", severity=Severity.ERROR)] if found is False else found
        result = CheckResult(name, passed=not claims, claims=tuple(claims))
        self.ledger.write(*record_check(self.board, self.task, self.head, result, self.least))

    def review(self, name: str) -> None:
        attempt = attempt_id(self.task, self.now.started + 1)
        started = ev.AttemptStarted("claude", self.head, "paddock/t1", agent=name, role=Role.REVIEW)
        self.ledger.write(ev.Draft(started, self.task, attempt))
        reviewer = self.reviewers.get(name, CLEAN)
        earlier = [one.id for one in to_be_ruled_on(self.board, self.task, name)]
        text = reviewer(self.now, self.head, earlier) if reviewer is not None else ""
        answer = read_review(text, self.head, earlier)
        if isinstance(answer, Unusable):
            ended = ev.AttemptEnded(Outcome.EMPTY, Step.RETRY, False, answer.problem)
            self.ledger.write(ev.Draft(ended, self.task, attempt))
            return
        self.take(answer)

    def take(self, answer: ReviewAnswer) -> None:
        live = self.now.live_attempt
        assert live is not None
        drafts, reason = record_review(self.board, self.now, live, answer, self.least)
        ended = ev.AttemptEnded(Outcome.ANSWERED, Step.REVIEW, False, reason)
        self.ledger.write(*drafts, ev.Draft(ended, self.task, live.id))

    def land_others(self) -> None:
        """What was routed to others comes to an end."""
        for name in list(self.board.open):
            if name != self.task and self.board.task(name).phase is Phase.READY:
                self.ledger.attempt(name, "noop" if self.owners_land else "fail")

    def queue(self) -> None:
        change = Change("t1", 1, self.head, BASE, task=str(self.task))
        self.ledger.write(ev.Draft(ChangeQueued(change, "ana")))

    def events(self, kind: type[ev.Event]) -> list[ev.Event]:
        return [record.event for record in self.ledger.records if isinstance(record.event, kind)]
