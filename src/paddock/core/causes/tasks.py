"""What a cause means for the tasks it was found in. It ends no attempt and starts none: a task that has moved on since
only learns that its attempt was not to blame."""

from typing import TypeAlias

from msgspec.structs import replace

from paddock.core.causes.events import CauseCleared, CauseFound, CauseSettled
from paddock.core.causes.model import how_to_clear
from paddock.core.ids import printable
from paddock.core.tasks.task import Attempt, Phase, Task

CauseOfTask: TypeAlias = CauseFound | CauseSettled | CauseCleared
KEPT_CAUSES = 4
RESTS = frozenset({Phase.READY, Phase.FAILED})
"""A task that was going to be tried again, or whose attempts were used up by failures that are not its own."""
REASON_CHARS = 160


def may_hear(task: Task, attempt: str | None, event: CauseOfTask) -> bool:
    """Each attempt meets a cause once, after its end; what becomes of the cause later, its tasks always hear."""
    if not isinstance(event, CauseFound):
        return True
    met = find_attempt(task, attempt)
    return met is not None and not met.live and event.id not in met.causes and len(met.causes) < KEPT_CAUSES


def meet(task: Task, name: str | None, event: CauseFound) -> Task:
    """The task knows of it; `may_hear` holds. Its phase is for the caller to move."""
    met = find_attempt(task, name)
    assert met is not None
    forgiven = event.forgiven and met.counted
    changed = replace(met, causes=(*met.causes, event.id), counted=met.counted and not forgiven)
    attempts = tuple(changed if one.id == met.id else one for one in task.attempts)
    return replace(task, attempts=attempts, counted=task.counted - forgiven)


def forgive(task: Task, cause: str) -> Task:
    """None of its attempts that failed for that cause counts."""
    forgiven = [one.id for one in task.attempts if cause in one.causes and one.counted]
    if not forgiven:
        return task
    attempts = tuple(replace(one, counted=False) if one.id in forgiven else one for one in task.attempts)
    return replace(task, attempts=attempts, counted=max(0, task.counted - len(forgiven)))


def rests_after(task: Task, name: str | None) -> bool:
    """Nothing has happened to it since that attempt, and nobody works on it."""
    last = task.last
    return task.phase in RESTS and last is not None and last.id == name and last.role is task.role


def is_blocked_by(task: Task, cause: str) -> bool:
    return task.phase is Phase.BLOCKED and task.cause == cause


def told_of_block(event: CauseFound | CauseSettled, symptom: str) -> tuple[str, str]:
    """The reason, and what unblocks it."""
    said = printable(" ".join(symptom.split()), REASON_CHARS)
    return f"{event.cause}: {said} ({event.id})" if said else f"{event.cause} ({event.id})", how_to_clear(event.id)


def told_of_retry(event: CauseFound | CauseSettled) -> str:
    return f"tried again: {event.cause} ({event.id}) was not its failure"


def find_attempt(task: Task, name: str | None) -> Attempt | None:
    return next((one for one in reversed(task.attempts) if one.id == name), None)
