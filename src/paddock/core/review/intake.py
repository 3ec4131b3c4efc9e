"""From what a reviewer or a check said to what is recorded: each finding once, and what became of earlier ones."""

from collections.abc import Collection, Iterable, Sequence

from paddock.core.board import Board
from paddock.core.events import Draft, Event
from paddock.core.ids import AttemptId, TaskId
from paddock.core.review.answer import ReviewAnswer, Ruling
from paddock.core.review.events import (
    Claim,
    FindingDisputed,
    FindingHeld,
    FindingReported,
    FindingSettled,
    ReviewGiven,
    Settlement,
    Severity,
)
from paddock.core.review.evolve import CHECK
from paddock.core.review.model import Finding, Status
from paddock.core.review.sameness import find_same
from paddock.core.tasks.task import Attempt, Task


def is_blocking(severity: Severity, least: str) -> bool:
    """`least` is the least severity with which a finding blocks."""
    return severity.rank <= Severity(least).rank


def to_be_ruled_on(board: Board, task: TaskId, by: str = "") -> list[Finding]:
    """Open findings that a reviewer is asked about; those of checks are settled by the checks. The reviewer `by` is
    also asked about what it holds itself and another has just settled: nobody speaks for two."""
    known, head = board.reviews.findings_of(task), board.task(task).head
    return [one for one in known if not is_checks(one) and (one.is_open or _is_settled_for(one, by, head))]


def _is_settled_for(finding: Finding, by: str, head: str | None) -> bool:
    agreed = finding.status is Status.REFUTED and bool(finding.disputed)
    by_another = finding.settled_head == head and finding.settled_by != by and by in finding.by
    return by_another and finding.status in (Status.FIXED, Status.REFUTED) and not agreed


def is_checks(finding: Finding) -> bool:
    return all(name.startswith(CHECK) for name in finding.by)


def reviewer_of(attempt: Attempt) -> str:
    """By which name its findings and its verdict are known."""
    return attempt.agent or attempt.engine


def record_review(
    board: Board, task: Task, attempt: Attempt, answer: ReviewAnswer, least: str
) -> tuple[list[Draft], str]:
    """The drafts of one review, and what it comes to in a few words. What another task is about is no objection to this
    version any more: the change waits for that task."""
    by = reviewer_of(attempt)
    head, blocks = attempt.base, least if attempt.role is not task.role else ""
    settled = _settle(board, task.id, answer.rulings, by, head)
    gone = {event.id for event in settled}
    fresh = record_claims(board, task.id, head, by, answer.findings, blocks, without=gone)
    agreed = _agree(board, task.id, answer.rulings, by, head, known={event.id for event in fresh})
    known = to_be_ruled_on(board, task.id)
    given_up = gone | {ruling.id for ruling in answer.rulings if ruling.now != "open"}
    still_open = [one for one in known if one.blocks and one.id not in given_up and by in one.by and one.routed is None]
    elsewhere = {one.id for one in board.reviews.findings_of(task.id) if one.routed is not None}
    objects = bool(still_open) or any(event.blocking and event.id not in elsewhere for event in (*agreed, *fresh))
    given = ReviewGiven(
        head=head,
        by=by,
        round=board.reviews.of(task.id).round,
        objects=objects,
        summary=answer.summary,
        findings=len(answer.findings),
        dropped=answer.dropped,
    )
    events: Sequence[Event] = (*settled, *agreed, *fresh, given)
    words = _words(given, answer, audits=attempt.role is task.role)
    return [Draft(event, task=task.id, attempt=AttemptId(attempt.id)) for event in events], words


def record_claims(
    board: Board,
    task: TaskId,
    head: str,
    by: str,
    claims: Iterable[Claim],
    least: str,
    *,
    without: Iterable[str] = (),
) -> list[FindingReported | FindingHeld]:
    """Each claim once: as a new finding, or as one more voice for one that is known and open. What a person waived or
    reviewers agreed to be wrong is not brought up again. With an empty `least` nothing blocks."""
    known = [one for one in board.reviews.findings_of(task) if one.id not in set(without)]
    number = board.reviews.next_finding
    events: list[FindingReported | FindingHeld] = []
    taken: list[tuple[Claim, str]] = []
    for claim in claims:
        blocking = bool(least) and is_blocking(claim.severity, least)
        same = find_same(claim, known)
        if same is not None:
            if same.status in (Status.OPEN, Status.FIXED):
                events.append(FindingHeld(same.id, head, by, blocking))
            continue
        if any(_is_twin(claim, other) for other, _ in taken):
            continue
        name = f"f{number}"
        number += 1
        taken.append((claim, name))
        events.append(FindingReported(name, head, by, claim, blocking))
    return events


def dispute_findings(board: Board, task: TaskId, refuted: Iterable[tuple[str, str]]) -> list[FindingDisputed]:
    """What a worker says of findings against its own change; of others it may say what it likes."""
    own = {one.id: one for one in board.reviews.findings_of(task) if one.status is Status.OPEN}
    return [FindingDisputed(name, why) for name, why in refuted if name in own]


def _is_twin(claim: Claim, other: Claim) -> bool:
    return (claim.path, claim.line, claim.claim) == (other.path, other.line, other.claim)


def _settle(board: Board, task: TaskId, rulings: Iterable[Ruling], by: str, head: str) -> list[FindingSettled]:
    """Who holds a finding may say that it is fixed, unless another that holds it has just said that it is not; that it
    was wrong, any reviewer, where the worker says so too. None of them settles what a check holds against this version,
    and no agent says that a person is wrong."""
    settled = []
    for ruling in rulings:
        found = board.reviews.findings.get(ruling.id)
        if found is None or found.task != task or found.status is not Status.OPEN or found.checked == head:
            continue
        holds = by in found.by or not any(name in found.by for name in _reviewers_of_round(board, task))
        may = holds and not _is_upheld(board, found, by, head)
        if ruling.now == "fixed" and may:
            settled.append(FindingSettled(found.id, Settlement.FIXED, head, by, ruling.why))
        elif ruling.now == "refuted" and (may or found.disputed) and not found.is_persons:
            settled.append(FindingSettled(found.id, Settlement.REFUTED, head, by, ruling.why))
    return settled


def _is_upheld(board: Board, finding: Finding, by: str, head: str) -> bool:
    """Whether another that holds it has looked at this version in this round: it is open because they left it so."""
    review = board.reviews.of(finding.task)
    spoken = {one.by for one in review.opinions if one.head == head and one.round == review.round}
    return any(name in spoken for name in finding.by if name != by)


def _agree(
    board: Board, task: TaskId, rulings: Iterable[Ruling], by: str, head: str, known: Collection[str]
) -> list[FindingHeld]:
    """Who says that another's finding stands is one more voice for it: nobody is told to report it a second time."""
    stand = {ruling.id for ruling in rulings if ruling.now == "open"} - set(known)
    asked = [one for one in to_be_ruled_on(board, task, by) if one.id in stand]
    others = [one for one in asked if by not in one.by or not one.is_open]
    return [FindingHeld(one.id, head, by, one.blocking) for one in others]


def _reviewers_of_round(board: Board, task: TaskId) -> set[str]:
    """Those whose word is due or was heard in this round: all that have reviewed the task before."""
    return {opinion.by for opinion in board.reviews.of(task).opinions}


_NONE = {True: "no new findings", False: "no findings"}


def _words(given: ReviewGiven, answer: ReviewAnswer, *, audits: bool) -> str:
    """An audit is of no change that it could object to."""
    found = f"{given.findings} finding{'s' if given.findings != 1 else ''}" if given.findings else _NONE[given.objects]
    more = f", {answer.dropped} more left out" if answer.dropped else ""
    verdict = "" if audits else "; objects" if given.objects else "; does not object"
    return f"{found}{more}{verdict}"
