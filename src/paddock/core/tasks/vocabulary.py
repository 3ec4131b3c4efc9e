"""The words of a task's life that stand in the log: what an attempt is for, how its turns and itself end, what follows.

A word is never removed or renamed; one more is a new meaning, which older versions cannot read.
"""

from enum import StrEnum


class Role(StrEnum):
    """What a task, or one attempt at it, is for: `WORK` delivers commits. The others look and change nothing; they
    deliver an answer: `REVIEW` findings, `PLAN` tasks to do, `REPORT` words."""

    WORK = "work"
    REVIEW = "review"
    PLAN = "plan"
    REPORT = "report"

    @property
    def only_reads(self) -> bool:
        return self is not Role.WORK


class EndedBy(StrEnum):
    """What ended a turn: itself, a deadline (`STARTUP` to `LINGERING`), another limit, a person, or nobody knows.
    `HELD`: a person took the attempt over. `MESSAGE`: they had something to say at once."""

    ITSELF = ""
    STARTUP = "startup"
    SILENCE = "silence"
    TOOL = "tool"
    TURN = "turn"
    LINGERING = "lingering"
    OUTPUT = "output"
    BUDGET = "budget"
    LOOPING = "looping"
    STOP = "stop"
    DOWN = "down"
    REBOOT = "reboot"
    VANISHED = "vanished"
    UNSTARTABLE = "unstartable"
    HELD = "held"
    MESSAGE = "message"


class Outcome(StrEnum):
    """What an attempt really did."""

    DELIVERED = "delivered"
    UNSAVED = "unsaved"
    KEPT = "kept"
    UNCHANGED = "unchanged"
    EMPTY = "empty"
    NOOP = "noop"
    REFUSED = "refused"
    MISCONFIGURED = "misconfigured"
    CRASHED = "crashed"
    TIMEOUT = "timeout"
    STALLED = "stalled"
    LOOPING = "looping"
    NEVER_RAN = "never_ran"
    SETUP_FAILED = "setup_failed"
    NO_SPACE = "no_space"
    THROTTLED = "throttled"
    OVERLOADED = "overloaded"
    AUTH = "auth"
    OVER_BUDGET = "over_budget"
    KILLED = "killed"
    LOST = "lost"
    ANSWERED = "answered"
    STRAYED = "strayed"
    ASKED = "asked"
    LEFT = "left"


class Step(StrEnum):
    """What was decided to do after an attempt."""

    REVIEW = "review"
    APPROVAL = "approval"
    NOOP = "noop"
    RETRY = "retry"
    FAIL = "fail"
    BLOCK = "block"
    DONE = "done"


USEFUL = frozenset({Outcome.DELIVERED, Outcome.UNSAVED, Outcome.NOOP, Outcome.ANSWERED})
NO_FAILURE = USEFUL | {Outcome.KILLED, Outcome.LEFT, Outcome.ASKED, Outcome.KEPT, Outcome.UNCHANGED, Outcome.LOST}
"""Of some use, or somebody else's doing."""
PROVIDERS_DOING = frozenset({Outcome.THROTTLED, Outcome.OVERLOADED, Outcome.AUTH})
NOT_THE_ENGINES = PROVIDERS_DOING | {Outcome.KILLED, Outcome.SETUP_FAILED, Outcome.NO_SPACE}
"""They say nothing about whether the engine runs."""
CONTINUES = frozenset(
    {Outcome.THROTTLED, Outcome.OVERLOADED, Outcome.AUTH, Outcome.LOST, Outcome.KILLED, Outcome.ASKED, Outcome.LEFT}
)
"""After these the next attempt goes on with the branch and the conversation, whatever was asked for."""
RESUMED = frozenset({Outcome.CRASHED, Outcome.TIMEOUT, Outcome.STALLED, Outcome.EMPTY, Outcome.STRAYED})
"""After these it goes on as well, unless every try is to start afresh; after others it always does that."""
UNBEGUN = frozenset({Outcome.NEVER_RAN, Outcome.MISCONFIGURED, Outcome.SETUP_FAILED, Outcome.NO_SPACE})
"""The engine did nothing: what the attempt was to go on with is still there to go on with."""
UNHEARD = UNBEGUN | PROVIDERS_DOING | {Outcome.LOST, Outcome.KILLED, Outcome.CRASHED, Outcome.STALLED}
"""After these an engine may not have what it was told, unless there is evidence that it does."""
