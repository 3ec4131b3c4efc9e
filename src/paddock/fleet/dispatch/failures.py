"""What is known of why attempts failed, as dispatch needs it: on the host, on an account, and for each task."""

from collections.abc import Iterator

from paddock.core.board import Board
from paddock.core.causes.measures import Measure, host_measures, turn_lease, turns_of
from paddock.core.causes.tasks import find_attempt
from paddock.core.causes.vocabulary import FailureCause
from paddock.core.ids import task_of
from paddock.core.tasks.task import Task
from paddock.core.tasks.vocabulary import PROVIDERS_DOING
from paddock.core.trace import RateLimited, TroubleKind

UNHEARD_SECONDS = 120.0
"""What a provider refused longer ago than this says nothing about now."""
_REFUSALS = {
    FailureCause.RATE_LIMIT: TroubleKind.PER_MINUTE,
    FailureCause.OVERLOAD: TroubleKind.OVERLOAD,
}


def measures_on(board: Board, host: str, now: float) -> tuple[Measure, ...]:
    return () if board.cause_part.is_nothing else host_measures(board.causes, host, now)


def unheard_refusals(board: Board, since: float, now: float) -> Iterator[tuple[str, RateLimited]]:
    """By account: causes found after `since` of which its clocks do not know, because no engine said so at the time."""
    for cause in board.causes.standing.values():
        kind = _REFUSALS.get(cause.cause)
        if kind is None or not since < cause.last <= now or not cause.account or not cause.runs:
            continue
        task = board.tasks[task_of(cause.runs[-1])]
        attempt = find_attempt(task, cause.runs[-1])
        if attempt is not None and attempt.outcome not in PROVIDERS_DOING:
            yield cause.account, RateLimited(kind, message=cause.symptom)


def contested_by(board: Board, task: Task, now: float) -> dict[str, str]:
    """What the task takes turns over: the lease on the turn, and the resource with the cause that says so."""
    if board.cause_part.is_nothing:
        return {}
    found = turns_of(board.causes, task.id, now)
    return {turn_lease(cause.resource): f"{cause.resource} ({cause.id})" for cause in found}
