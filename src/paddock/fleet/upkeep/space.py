"""A full disk is not a task's failure: what could not be prepared for lack of space costs no attempt."""

import errno
from dataclasses import dataclass

from paddock.core.errors import PaddockError
from paddock.core.events import AttemptEnded
from paddock.core.tasks.outcome import AttemptFacts, judge
from paddock.core.tasks.policy import decide_next
from paddock.core.tasks.task import Attempt, Task
from paddock.fleet.site import Site
from paddock.git.disk import below_floor

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
# As git and the C library word the two.
FULL_IN_WORDS = ("No space left on device", "Disk quota exceeded")


@dataclass(frozen=True, slots=True)
class Unprepared:
    """Why there is no worktree to work in."""

    reason: str
    no_space: bool = False


def explain_unprepared(site: Site, error: PaddockError | OSError) -> Unprepared:
    """Raises an OSError that is about something else than space: no attempt is to blame for it."""
    if isinstance(error, OSError):
        if error.errno not in FULL:
            raise error
        return Unprepared(f"no room for a worktree: {error.strerror}", no_space=True)
    says_so = any(words in error.message for words in FULL_IN_WORDS)
    short = below_floor(site.root.path, site.root.floor)
    return Unprepared(error.message, no_space=says_so or short is not None)


def judge_no_space(site: Site, task: Task, attempt: Attempt, reason: str) -> AttemptEnded:
    """Without looking at what there is: on a full disk git could not secure it, and no turn has begun."""
    verdict = judge(AttemptFacts(no_space=reason))
    following = decide_next(verdict, task, attempt, site.clock.now(), site.config.limits.backoff)
    return AttemptEnded(
        outcome=verdict.outcome,
        next=following.step,
        counted=following.counted,
        reason=reason,
        base=attempt.base,
        retry_at=following.retry_at,
        unblock=following.unblock,
    )
