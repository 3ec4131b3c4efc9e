"""What is recorded of failures that were diagnosed: each cause once for each attempt, and what follows for its task."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from paddock.core.board import Board
from paddock.core.causes.events import CauseFound
from paddock.core.causes.model import Cause, Causes, cause_id, key_of
from paddock.core.causes.probing import PROBE
from paddock.core.causes.tasks import find_attempt, may_hear
from paddock.core.causes.vocabulary import ACTED_ON, FORGIVEN, FailureCause
from paddock.core.errors import Misuse
from paddock.core.events import Draft
from paddock.core.ids import AttemptId, task_of
from paddock.core.leases.decisions import canonical_name
from paddock.core.tasks.policy import backoff
from paddock.core.tasks.task import Attempt, Task
from paddock.core.tasks.vocabulary import NO_FAILURE

MOST_FORGIVEN = 8
"""So many attempts of a task are tried again for nothing; from then on each counts, whatever it failed for."""
RETRY_SECONDS = 15.0
SURE = 2
"""What nothing follows from is recorded once it has been seen so often: a task that fails once is its own business."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Failures that are alike, and what caused them. `signature` is the same whenever the same lines are at their root.
    `is_sure`: these lines cannot be mistaken. `at_work` is how many agents were at work on the host when each attempt
    failed, where that is known, and `since_ran` are attempts of an engine that has run since."""

    signature: str
    cause: FailureCause
    attempts: Sequence[AttemptId]
    symptom: str = ""
    evidence: tuple[str, ...] = ()
    resource: str = ""
    version: str = ""
    tied: tuple[FailureCause, ...] = ()
    is_sure: bool = True
    at_work: Mapping[str, int] = field(default_factory=dict)
    since_ran: frozenset[str] = frozenset()


def record_diagnosis(board: Board, diagnosis: Diagnosis) -> list[Draft]:
    """Nothing for attempts that it is known of already, or that failed before somebody cleared it."""
    causes = board.causes
    settled = causes.settled(diagnosis.signature)
    key = settled.key if settled is not None else key_of(diagnosis.signature, diagnosis.cause)
    cause = settled.cause if settled is not None else diagnosis.cause
    standing, cleared = causes.standing.get(key), causes.cleared(key)
    if standing is None and cause not in ACTED_ON and len(diagnosis.attempts) < SURE:
        return []
    name = standing.id if standing is not None else cause_id(causes.newest + 1)
    drafts = []
    recurs = len(diagnosis.attempts) > 1 or (standing is not None and standing.count > 0)
    for task, attempt in _failed(board, diagnosis.attempts):
        found = _found(task, attempt, CauseFound(name, key, cause, blocks=diagnosis.is_sure or recurs), diagnosis)
        if may_hear(task, attempt.id, found) and not _is_explained(causes, attempt, cleared, standing):
            drafts.append(Draft(found, task=task.id, attempt=attempt.id))
    return drafts


def waits_for_diagnosis(board: Board, since: float) -> bool:
    """Whether an attempt has failed since then of which no cause is known, at a task that might go on."""
    open_ends = (board.tasks[name].last for name in (*board.ready, *board.needy))
    return any(
        last is not None and (last.ended or 0.0) >= since and last.outcome not in NO_FAILURE and not last.causes
        for last in open_ends
    )


def _failed(board: Board, names: Sequence[AttemptId]) -> Iterator[tuple[Task, Attempt]]:
    """Those that the board still knows, apart from probes: each says what it has to say by its end."""
    for name in dict.fromkeys(names):
        if task_of(name) in board.tasks:
            task = board.tasks[task_of(name)]
            attempt = find_attempt(task, name)
            if (
                attempt is not None
                and PROBE not in task.labels
                and not attempt.live
                and attempt.outcome not in NO_FAILURE
            ):
                yield task, attempt


def _found(task: Task, attempt: Attempt, found: CauseFound, diagnosis: Diagnosis) -> CauseFound:
    free = sum(1 for one in task.attempts if one.causes and not one.counted)
    forgiven = found.cause in FORGIVEN and attempt.counted and free < MOST_FORGIVEN
    waits = free > 0 or found.cause not in _TRIED_AT_ONCE
    pause = backoff(RETRY_SECONDS, free, attempt.id) if waits else None
    return replace(
        found,
        symptom=diagnosis.symptom,
        evidence=diagnosis.evidence,
        resource=_resource(diagnosis) if found.cause is FailureCause.CONTENTION else "",
        version=diagnosis.version,
        tied=diagnosis.tied if found.cause is FailureCause.UNKNOWN else (),
        at_work=diagnosis.at_work.get(attempt.id, 0),
        forgiven=forgiven,
        since_ran=attempt.id in diagnosis.since_ran,
        retry_at=attempt.ended + pause if forgiven and pause is not None and attempt.ended is not None else None,
    )


_TRIED_AT_ONCE = frozenset({FailureCause.CONTENTION})
"""The first time: those that fought take turns. Later each waits, because whoever won may be at work for long yet."""


def _resource(diagnosis: Diagnosis) -> str:
    """Something that a lease can be taken on, also where nobody knows what they fought over."""
    try:
        return canonical_name(diagnosis.resource)
    except Misuse:
        return f"cause:{diagnosis.signature}"


def _is_explained(causes: Causes, attempt: Attempt, cleared: Cause | None, standing: Cause | None) -> bool:
    """What has been explained once stays that: clusters shift as more is seen, and what was done is done."""
    if standing is not None and attempt.id in standing.runs:
        return True
    if cleared is not None and attempt.ended is not None and attempt.ended <= cleared.ended:
        return True
    known = (causes.find(name) for name in attempt.causes)
    return any(one is not None and one.cause in ACTED_ON for one in known)
