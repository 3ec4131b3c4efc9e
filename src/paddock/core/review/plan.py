"""What a change under review needs next: one pure decision, asked again after every fact.

    checks ─▶ reviewers, one after the other ─▶ votes ─▶ passed: a person, or the merge queue
       │            │
       └────────────┴─▶ sent back (round + 1) · routed to who owns the path · blocked, with the story told

A round ends with a decision, rounds are bounded, and so is what one reviewer may fail in a round: the loop ends
whatever its agents do. Only a provider that refuses is waited for, as everywhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from paddock.core.board import Board
from paddock.core.ids import TaskId, some_names
from paddock.core.review.events import Settlement
from paddock.core.review.intake import is_checks
from paddock.core.review.model import Finding, Opinion, TaskReview
from paddock.core.tasks.dispatch import pauses
from paddock.core.tasks.task import DEAD, SATISFIED, Phase, Task
from paddock.core.tasks.vocabulary import Outcome, Role

NAMED = 8
"""Findings that a command to run names."""
MOST_FAILED = 2
"""Reviews that one reviewer may fail to give in a round before the others decide without it."""
_NOT_ITS_FAULT = frozenset({Outcome.THROTTLED, Outcome.OVERLOADED, Outcome.LOST, Outcome.NO_SPACE, Outcome.KILLED})


@dataclass(frozen=True, slots=True)
class ReviewPolicy:
    """What a task's change has to pass: names of checks, reviewing agents in their order. `owners` tells which agent
    owns the path of a finding, where that is another than the change's own."""

    checks: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    rounds: int = 3
    votes: str = "any"
    owners: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunChecks:
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StartReview:
    reviewer: str


@dataclass(frozen=True, slots=True)
class SettleFindings:
    """For the same reason; `by` says whose doing it is."""

    findings: tuple[str, ...]
    how: Settlement
    by: str
    why: str


@dataclass(frozen=True, slots=True)
class RouteFindings:
    """Each to a task of its own for the agent that owns its path."""

    owners: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class SendBack:
    findings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pass:
    by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Block:
    reason: str
    unblock: str


@dataclass(frozen=True, slots=True)
class Wait:
    """`until` is None where only another fact helps."""

    why: str
    until: float | None = None


ReviewAction: TypeAlias = RunChecks | StartReview | SettleFindings | RouteFindings | SendBack | Pass | Block | Wait


def next_action(board: Board, task: Task, policy: ReviewPolicy, now: float) -> ReviewAction:
    """For a task in phase `reviewing`."""
    review = board.reviews.of(task.id)
    if task.phase is not Phase.REVIEWING or task.head is None:
        return Wait("it is not under review")
    if task.live_attempt is not None:
        return Wait(f"{task.live_attempt.id} is reviewing it")
    done = {one.name: one for one in review.checks if one.head == task.head}
    if missing := tuple(name for name in policy.checks if name not in done):
        return RunChecks(missing)
    blocking = board.reviews.blocking_of(task.id)
    if _is_unanswered(review, task, blocking):
        return _ask_a_person("its worker changed nothing and disputes nothing", task, blocking)
    by_checks = [one for one in blocking if is_checks(one) or one.checked == task.head]
    if by_checks:
        return _send_back(review, policy, task, blocking)
    opinions = _opinions(review, task)
    due = [name for name in policy.reviewers if name not in {one.by for one in opinions}]
    able = [name for name in due if _failures(task, review, name) < MOST_FAILED]
    if able:
        return Wait("after a pause", task.not_before) if pauses(task, now) else StartReview(able[0])
    if due and not opinions:
        decide = f"paddock retry {task.id}, or decide without a review: paddock review {task.id}"
        return Block(f"no reviewer could review it: {_last_words(task)}", decide)
    return _decide(board, task, policy, review, blocking, opinions)


def _decide(
    board: Board, task: Task, policy: ReviewPolicy, review: TaskReview, blocking: list[Finding], opinions: list[Opinion]
) -> ReviewAction:
    """All that could speak have spoken. They vote on what is this change's own to put right."""
    passed = Pass(tuple(one.by for one in opinions))
    if not blocking:
        return passed
    routed = [one for one in blocking if one.routed is not None]
    if done := [one for one in routed if _phase(board, one) in SATISFIED]:
        return SettleFindings(tuple(one.id for one in done), Settlement.FIXED, str(done[0].routed), "landed")
    own = [one for one in blocking if one.routed is None]
    objections = [one.by for one in opinions if one.objects]
    ids = tuple(one.id for one in own if not one.is_persons)
    if ids and opinions and len(objections) < votes_needed(policy.votes, len(opinions)):
        others = ", ".join(one.by for one in opinions if not one.objects)
        return SettleFindings(ids, Settlement.OUTVOTED, others, f"{len(objections)} of {len(opinions)} object")
    if dead := [one for one in routed if _phase(board, one) in DEAD]:
        first = dead[0]
        return Block(f"{first.id} was to be fixed by {first.routed}, which came to nothing", f"paddock retry {task.id}")
    if elsewhere := tuple((one.id, policy.owners[one.path]) for one in own if one.path in policy.owners):
        return RouteFindings(elsewhere)
    if own:
        return _send_back(review, policy, task, own)
    return Wait(f"after {some_names(tuple(str(one.routed) for one in routed))}")


def votes_needed(votes: str, voters: int) -> int:
    """How many of so many reviewers must object before a change is sent back."""
    return {"any": 1, "majority": voters // 2 + 1, "all": voters}[votes]


def _send_back(review: TaskReview, policy: ReviewPolicy, task: Task, findings: list[Finding]) -> SendBack | Block:
    ids = tuple(one.id for one in findings)
    if review.round < policy.rounds:
        return SendBack(ids)
    rounds = f"{review.round} round{'s' if review.round != 1 else ''}"
    return _ask_a_person(f"not settled after {rounds} of review", task, findings)


def _is_unanswered(review: TaskReview, task: Task, blocking: list[Finding]) -> bool:
    """What was sent back came back as it was: another look at it would find the same."""
    came_back = review.round > 1 and review.reviewed == task.head
    own = [one for one in blocking if one.routed is None and one.round < review.round]
    return came_back and bool(own) and not any(one.disputed for one in own)


def _ask_a_person(why: str, task: Task, findings: list[Finding]) -> Block:
    ids = tuple(one.id for one in findings)
    named = " ".join(ids[:NAMED]) + (" …" if len(ids) > NAMED else "")
    return Block(
        f"{why}: {some_names(tuple(f'{one.id} {one.claim}' for one in findings), 3)}",
        f"paddock findings {task.id}, then paddock retry {task.id}, or paddock findings waive {named}",
    )


def _opinions(review: TaskReview, task: Task) -> list[Opinion]:
    """Of this very version, in this round; the last word of each."""
    said = {one.by: one for one in review.opinions if one.round == review.round and one.head == task.head}
    return list(said.values())


def _failures(task: Task, review: TaskReview, reviewer: str) -> int:
    """Reviews of this version that the reviewer did not give, through some fault of its own."""
    worker = task.worker
    delivered = worker.ended if worker is not None and worker.ended is not None else 0.0
    since = max(delivered, review.since)
    failed = [
        one
        for one in task.attempts
        if one.role is Role.REVIEW and one.agent == reviewer and one.started >= since and one.outcome is not None
    ]
    return sum(one.outcome is not Outcome.ANSWERED and one.outcome not in _NOT_ITS_FAULT for one in failed)


def _last_words(task: Task) -> str:
    last = next((one for one in reversed(task.attempts) if one.role is Role.REVIEW), None)
    return f"{last.id} ({last.agent}) {last.outcome}: {last.reason}" if last is not None else "there is none"


def _phase(board: Board, finding: Finding) -> Phase:
    assert finding.routed is not None
    return board.tasks[TaskId(finding.routed)].phase
