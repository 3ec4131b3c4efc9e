"""What each event of a review makes of what is known of reviews; what has no case here cannot happen."""

from typing import assert_never

from msgspec.structs import replace

from paddock.core import events as ev
from paddock.core.ids import TaskId, printable
from paddock.core.review import events as rv
from paddock.core.review.model import CLAIM_CHARS, Checked, Finding, Opinion, ReviewerTally, Reviews, Status, TaskReview
from paddock.core.tasks.task import illegal

KEPT_FINDINGS = 2_000
KEPT_OPINIONS = 40
KEPT_CHECKS = 40
CHECK = "check:"
"""Before the name of a check where others name a reviewing agent."""


def evolve(reviews: Reviews, event: rv.ReviewEvent, record: ev.Record) -> Reviews:
    """Raises IllegalTransition for what cannot happen."""
    task = record.task
    if task is None:
        raise illegal("nothing", "no task", event)
    review = reviews.of(task)
    match event:
        case rv.FindingReported():
            return _report(reviews, task, review, event, record)
        case rv.FindingHeld():
            found = _find(reviews, task, event.id, event)
            by = found.by if event.by in found.by else (*found.by, event.by)
            head, blocks = event.head, found.blocking or event.blocking
            seen = head if event.by.startswith(CHECK) else found.checked
            return _put(reviews, replace(found, by=by, head=head, blocking=blocks, status=Status.OPEN, checked=seen))
        case rv.FindingDisputed():
            return _put(reviews, replace(_open(reviews, task, event.id, event), disputed=record.seq))
        case rv.FindingRouted():
            return _put(reviews, replace(_open(reviews, task, event.id, event), routed=event.to))
        case rv.FindingSettled():
            return _settle(reviews, task, event)
        case rv.FindingConfirmed():
            found = _find(reviews, task, event.id, event)
            if event.by in found.confirmed:
                return reviews
            first = not found.confirmed and found.status is not Status.FIXED
            shown = _put(reviews, replace(found, confirmed=(*found.confirmed, event.by)))
            return _tally(shown, found.by, confirmed=1) if first else shown
        case rv.CheckEnded():
            others = tuple(one for one in review.checks if (one.name, one.head) != (event.name, event.head))
            checked = Checked(event.name, event.head, event.passed, record.seq)
            return _with(reviews, task, replace(review, checks=(*others, checked)[-KEPT_CHECKS:]))
        case rv.ReviewGiven() if event.round == review.round:
            opinion = Opinion(event.by, event.head, event.round, event.objects, record.attempt, _line(event.summary))
            known = replace(review, opinions=(*review.opinions, opinion)[-KEPT_OPINIONS:])
            return _tally(_with(reviews, task, known), (event.by,), reviews=1)
        case rv.ReviewSentBack() if event.round == review.round:
            return _with(reviews, task, replace(review, round=review.round + 1, reviewed=event.head, passed=""))
        case rv.ReviewPassed() if not reviews.blocking_of(task):
            return _with(reviews, task, replace(review, reviewed=event.head, passed=event.head))
        case rv.ReviewMissed():
            return _tally(reviews, event.by, missed=1)
        case rv.ReviewGiven() | rv.ReviewSentBack() | rv.ReviewPassed():
            raise illegal(task, f"in round {review.round} of its review", event)
        case _:
            assert_never(event)


def begin_again(reviews: Reviews, task: TaskId, at: float) -> Reviews:
    """A person has sent the task back: its rounds are counted from one again; what is open stays open."""
    return _with(reviews, task, replace(reviews.of(task), round=1, opinions=(), passed="", since=at))


def add_cost(reviews: Reviews, reviewer: str, cost_usd: float) -> Reviews:
    return _tally(reviews, (reviewer,), cost_usd=cost_usd)


def _report(
    reviews: Reviews, task: TaskId, review: TaskReview, event: rv.FindingReported, record: ev.Record
) -> Reviews:
    number = event.id[1:]
    if event.id[:1] != "f" or not number.isdecimal() or int(number) < reviews.next_finding:
        raise illegal(event.id, "already used", event)
    claim = event.claim
    finding = Finding(
        id=event.id,
        task=task,
        seq=record.seq,
        at=record.at,
        head=event.head,
        by=(event.by,),
        path=claim.path,
        line=claim.line,
        severity=claim.severity,
        claim=_line(claim.claim),
        rule=claim.rule,
        blocking=event.blocking,
        round=review.round,
        checked=event.head if event.by.startswith(CHECK) else "",
    )
    known = replace(review, findings=(*review.findings, event.id), passed="" if event.blocking else review.passed)
    grown = replace(
        reviews,
        tasks={**reviews.tasks, task: known},
        findings=_bounded({**reviews.findings, event.id: finding}),
        next_finding=int(number) + 1,
    )
    return _tally(grown, (event.by,), findings=1, blocking=int(event.blocking))


def _settle(reviews: Reviews, task: TaskId, event: rv.FindingSettled) -> Reviews:
    found = _open(reviews, task, event.id, event)
    status = Status(event.how.value)
    why = _line(event.why)
    settled = replace(found, status=status, settled_by=event.by, settled_why=why, settled_head=event.head)
    counted = 0 if event.how is rv.Settlement.FIXED and found.confirmed else 1
    return _tally(_put(reviews, settled), found.by, **{event.how.value: counted})


def _line(said: str) -> str:
    return printable(" ".join(said.split()), CLAIM_CHARS)


def _bounded(findings: dict[str, Finding]) -> dict[str, Finding]:
    """The oldest of those that have ended go first; what is open stays."""
    if len(findings) <= KEPT_FINDINGS:
        return findings
    oldest = next((name for name, one in findings.items() if one.status is not Status.OPEN), None)
    return {name: one for name, one in findings.items() if name != oldest}


def _find(reviews: Reviews, task: TaskId, name: str, event: rv.ReviewEvent) -> Finding:
    found = reviews.findings.get(name)
    if found is None or found.task != task:
        raise illegal(name, "unknown", event)
    return found


def _open(reviews: Reviews, task: TaskId, name: str, event: rv.ReviewEvent) -> Finding:
    found = _find(reviews, task, name, event)
    if found.status is not Status.OPEN:
        raise illegal(name, found.status.value, event)
    return found


def _put(reviews: Reviews, finding: Finding) -> Reviews:
    return replace(reviews, findings={**reviews.findings, finding.id: finding})


def _with(reviews: Reviews, task: TaskId, review: TaskReview) -> Reviews:
    return replace(reviews, tasks={**reviews.tasks, task: review})


def forget(reviews: Reviews, task: TaskId) -> Reviews:
    """The task is finished: of what its reviewers said only the findings are kept, as long as there is room."""
    if task not in reviews.tasks:
        return reviews
    known = reviews.tasks[task]
    findings = tuple(name for name in known.findings if name in reviews.findings)
    others = {name: one for name, one in reviews.tasks.items() if name != task}
    kept = TaskReview(findings=findings, passed=known.passed)
    return replace(reviews, tasks={**others, task: kept} if findings else others)


def _tally(known: Reviews, reviewers: tuple[str, ...], **more: float) -> Reviews:
    """Checks count like reviewers: they find true things, or not, as well."""
    tallies = dict(known.reviewers)
    for name in reviewers:
        before = tallies.get(name, ReviewerTally())
        tallies[name] = replace(before, **{key: getattr(before, key) + value for key, value in more.items()})
    return replace(known, reviewers=tallies)
