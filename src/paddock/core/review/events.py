"""What happens in reviews: findings and their ends, checks, verdicts, and what follows from them.

A new field has a default; a new meaning is a new event, as in `core/events.py`.
"""

from enum import StrEnum
from typing import ClassVar, TypeAlias

import msgspec

from paddock.core.events import Event
from paddock.core.ids import TaskId


class Severity(StrEnum):
    """As SARIF has it, the gravest first."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def rank(self) -> int:
        """0 for the gravest."""
        return list(Severity).index(self)


class Settlement(StrEnum):
    """How a finding ends: `REFUTED` with a reviewer's consent, `WAIVED` by a person, `OUTVOTED` by other reviewers."""

    FIXED = "fixed"
    REFUTED = "refuted"
    WAIVED = "waived"
    OUTVOTED = "outvoted"


class ConfirmedBy(StrEnum):
    """Who has shown since that a finding was true."""

    CI = "ci"
    PERSON = "person"
    REVERT = "revert"


class Claim(msgspec.Struct, frozen=True, omit_defaults=True):
    """What somebody holds against a change. `path` is empty for the change as a whole, `line` is 0 for the file.

    `rule` is the name a tool has for this sort of finding.
    """

    claim: str
    path: str = ""
    line: int = 0
    severity: Severity = Severity.WARNING
    evidence: str = ""
    suggestion: str = ""
    rule: str = ""

    @property
    def place(self) -> str:
        return place_of(self.path, self.line)


def place_of(path: str, line: int) -> str:
    """`src/x.py:41`, the file alone, or nothing."""
    return f"{path}:{line}" if path and line else path


class FindingReported(Event, frozen=True):
    """`by` is the reviewing agent, or a check (`check:ruff`). Whether it blocks was decided by the settings of then."""

    kind: ClassVar[str] = "finding.reported"
    id: str
    head: str
    by: str
    claim: Claim
    blocking: bool = False


class FindingHeld(Event, frozen=True):
    """One more reviewer holds it, or the same one once more, of a later version."""

    kind: ClassVar[str] = "finding.held"
    id: str
    head: str
    by: str
    blocking: bool = False


class FindingDisputed(Event, frozen=True):
    """The worker does not agree. It stays open until a reviewer consents."""

    kind: ClassVar[str] = "finding.disputed"
    id: str
    why: str = ""


class FindingRouted(Event, frozen=True):
    """Another agent owns the path: its task `to` is about it."""

    kind: ClassVar[str] = "finding.routed"
    id: str
    to: TaskId


class FindingSettled(Event, frozen=True):
    kind: ClassVar[str] = "finding.settled"
    id: str
    how: Settlement
    head: str = ""
    by: str = ""
    why: str = ""


class FindingConfirmed(Event, frozen=True):
    kind: ClassVar[str] = "finding.confirmed"
    id: str
    by: ConfirmedBy
    why: str = ""


class CheckEnded(Event, frozen=True):
    """A fast check of a delivered change, or its acceptance. `output` is the end of what it printed."""

    kind: ClassVar[str] = "review.checked"
    head: str
    name: str
    passed: bool
    exit: int | None = None
    seconds: float = 0.0
    output: str = ""


class ReviewGiven(Event, frozen=True):
    """A reviewer's verdict, by an attempt of its own. It holds for `head` and for no other version."""

    kind: ClassVar[str] = "review.given"
    head: str
    by: str
    round: int
    objects: bool
    summary: str = ""
    findings: int = 0
    dropped: int = 0


class ReviewSentBack(Event, frozen=True):
    """Blocking findings go to the worker as one message."""

    kind: ClassVar[str] = "review.sent_back"
    head: str
    round: int
    findings: tuple[str, ...]
    message: str


class ReviewPassed(Event, frozen=True):
    """Nothing blocks this version any more; `by` are the reviewers that have seen it."""

    kind: ClassVar[str] = "review.passed"
    head: str
    round: int
    by: tuple[str, ...] = ()


class ReviewMissed(Event, frozen=True):
    """A change that `by` let pass was reverted, or rejected by CI."""

    kind: ClassVar[str] = "review.missed"
    by: tuple[str, ...]
    why: str = ""


ReviewStep: TypeAlias = ReviewSentBack | ReviewPassed
"""What of these is part of the life of tasks too."""
ReviewEvent: TypeAlias = (
    FindingReported
    | FindingHeld
    | FindingDisputed
    | FindingRouted
    | FindingSettled
    | FindingConfirmed
    | CheckEnded
    | ReviewGiven
    | ReviewSentBack
    | ReviewPassed
    | ReviewMissed
)
