"""What follows from a verdict: one policy per outcome."""

from dataclasses import dataclass
from zlib import crc32

from paddock.core.tasks.outcome import Verdict
from paddock.core.tasks.questions import answer_command
from paddock.core.tasks.task import Attempt, Phase, Task
from paddock.core.tasks.vocabulary import Outcome, Step

NEVER_RAN_RETRIES = 3
# A refused call costs next to nothing; a task that sleeps through the provider's recovery wastes time.
LONGEST_BACKOFF_SECONDS = 1800.0
LONGEST_WAIT_SECONDS = 7 * 86400.0


_STEP_BACK = {
    Phase.APPROVAL: Step.APPROVAL,
    Phase.REVIEWING: Step.REVIEW,
    Phase.FAILED: Step.FAIL,
    Phase.NOOP: Step.NOOP,
    Phase.DONE: Step.DONE,
    Phase.READY: Step.RETRY,
    Phase.WAITING: Step.RETRY,
}


@dataclass(frozen=True, slots=True)
class Next:
    """What is decided after a verdict."""

    step: Step
    counted: bool
    retry_at: float | None = None
    unblock: str = ""


def decide_next(verdict: Verdict, task: Task, attempt: Attempt, now: float, backoff_seconds: float) -> Next:
    """Retry policy per outcome. What a provider does never costs the task an attempt.

    What a person stopped waits for a person, even if it ended by itself before the stop reached it.
    """
    following = _follow_policy(verdict, task, attempt, now, backoff_seconds)
    if attempt.role is not task.role:
        following = _after_review(verdict, following, attempt, now, backoff_seconds)
    if following.step is Step.RETRY and attempt.stop_requested is not None:
        return Next(Step.BLOCK, counted=following.counted, unblock=f"paddock retry {task.id}")
    return following


def _follow_policy(verdict: Verdict, task: Task, attempt: Attempt, now: float, backoff_seconds: float) -> Next:
    match verdict.outcome:
        case Outcome.DELIVERED | Outcome.UNSAVED | Outcome.UNCHANGED:
            return Next(Step.APPROVAL, counted=False)
        case Outcome.NOOP:
            return Next(Step.NOOP, counted=False)
        case Outcome.ANSWERED:
            return Next(Step.DONE, counted=False)
        case Outcome.AUTH | Outcome.MISCONFIGURED:
            return Next(Step.BLOCK, counted=False, unblock=_check_engine(task, attempt))
        case Outcome.REFUSED:
            return Next(Step.BLOCK, counted=True, unblock=f"paddock message {task.id} …")
        case Outcome.ASKED:
            return Next(Step.BLOCK, counted=False, unblock=answer_command(task.id))
        case Outcome.OVER_BUDGET | Outcome.KEPT:
            return Next(Step.BLOCK, counted=True, unblock=f"paddock retry {task.id}")
        case Outcome.THROTTLED | Outcome.OVERLOADED:
            return _after_provider(verdict, task, attempt, now, backoff_seconds)
        case Outcome.NO_SPACE:
            pause = backoff(backoff_seconds, _run_of(task, {Outcome.NO_SPACE}), attempt.id)
            return Next(Step.RETRY, counted=False, retry_at=now + pause)
        case Outcome.NEVER_RAN:
            return _after_never_ran(task, attempt, now, backoff_seconds)
        case Outcome.KILLED:
            return Next(Step.RETRY, counted=False)
        case Outcome.LEFT:
            return _as_found(task, attempt)
        case Outcome.LOST:
            return _after_lost(task, attempt, now, backoff_seconds)
        # Among them STRAYED: it is told which files to put back, in the same conversation.
        case _:
            spent = task.counted + 1 >= task.allowed
            return Next(Step.FAIL if spent else Step.RETRY, counted=True)


def _as_found(task: Task, attempt: Attempt) -> Next:
    """Nothing came of a person's visit: the task goes back to where it was. Where they had interrupted its agent, they
    say whether that goes on."""
    found = attempt.found
    if found is None:
        return Next(Step.BLOCK, counted=False, unblock=f"paddock handback {task.id}")
    return Next(_STEP_BACK.get(found.phase, Step.BLOCK), counted=False, unblock=found.unblock)


def _after_review(verdict: Verdict, following: Next, attempt: Attempt, now: float, backoff_seconds: float) -> Next:
    """Whatever becomes of a reviewer, it is not the worker's failure: the change stays under review, and who looks at
    it next is decided there."""
    if verdict.outcome is Outcome.ANSWERED:
        return Next(Step.REVIEW, counted=False)
    pause = now + backoff(backoff_seconds, 0, attempt.id)
    return Next(Step.RETRY, counted=False, retry_at=following.retry_at if following.retry_at is not None else pause)


def _after_provider(verdict: Verdict, task: Task, attempt: Attempt, now: float, backoff_seconds: float) -> Next:
    """However often a provider refuses, the task only waits, longer each time: the task is not at fault."""
    earlier = _run_of(task, {Outcome.THROTTLED, Outcome.OVERLOADED})
    pause = backoff(backoff_seconds, earlier, attempt.id)
    if verdict.wait_seconds is not None:
        pause = min(verdict.wait_seconds, LONGEST_WAIT_SECONDS) + pause / 10
    return Next(Step.RETRY, counted=False, retry_at=now + pause)


def _after_never_ran(task: Task, attempt: Attempt, now: float, backoff_seconds: float) -> Next:
    """After a pause: a program that is being replaced will be back in a moment."""
    earlier = _run_of(task, {Outcome.NEVER_RAN})
    if earlier + 1 >= NEVER_RAN_RETRIES:
        return Next(Step.BLOCK, counted=False, unblock=_check_engine(task, attempt))
    return Next(Step.RETRY, counted=False, retry_at=now + backoff(backoff_seconds, earlier, attempt.id))


def _after_lost(task: Task, attempt: Attempt, now: float, backoff_seconds: float) -> Next:
    """At once: the machine restarted. One that is lost again and again is not worth an attempt each second."""
    earlier = _run_of(task, {Outcome.LOST})
    pause = backoff(backoff_seconds, earlier - 1, attempt.id) if earlier else None
    return Next(Step.RETRY, counted=False, retry_at=None if pause is None else now + pause)


def _check_engine(task: Task, attempt: Attempt) -> str:
    return f"paddock engines check {attempt.engine}, then paddock retry {task.id}"


def _run_of(task: Task, outcomes: set[Outcome]) -> int:
    """How many ended attempts in a row, counted from the newest, had one of these outcomes."""
    count = 0
    for attempt in reversed(task.attempts):
        if attempt.outcome is None:
            continue
        if attempt.outcome not in outcomes:
            break
        count += 1
    return count


def backoff(base_seconds: float, earlier: int, seed: str) -> float:
    """Exponential with jitter between half and full, bounded. The seed makes it repeatable."""
    ceiling: float = min(LONGEST_BACKOFF_SECONDS, base_seconds * 2.0 ** min(earlier, 20))
    return ceiling * (0.5 + 0.5 * crc32(seed.encode()) / 0xFFFFFFFF)
