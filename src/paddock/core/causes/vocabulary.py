"""The classes of causes that a failure may have, in the order in which the rules ask for them.

A word is never removed or renamed: it stands in the log.
"""

from enum import StrEnum


class FailureCause(StrEnum):
    NEVER_RAN = "never-ran"
    RATE_LIMIT = "rate-limit"
    OVERLOAD = "overload"
    CONTENTION = "contention"
    SATURATION = "saturation"
    NETWORK = "network"
    DEPENDENCY = "dependency"
    TASK = "task"
    MODEL = "model"
    UNKNOWN = "unknown"


PASSING = frozenset(
    {
        FailureCause.RATE_LIMIT,
        FailureCause.OVERLOAD,
        FailureCause.CONTENTION,
        FailureCause.SATURATION,
        FailureCause.NETWORK,
    }
)
"""What passes by itself: it makes a run wait, and a run may get over it."""

FORGIVEN = PASSING | {FailureCause.NEVER_RAN, FailureCause.DEPENDENCY}
"""What is not the task's doing: an attempt that failed for it does not count as the task's failure."""

ACTED_ON = FORGIVEN
"""What something follows from. The others are for people: to rewrite the task, or to look at the model."""
