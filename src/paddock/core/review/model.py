"""What is known of reviews: the findings, who has said what of which version, and what reviewers are worth.

Frozen, and bounded: evidence and suggestions stay in the log, and findings that ended long ago are only there.
"""

from enum import StrEnum

from msgspec import Struct

from paddock.core.ids import AttemptId, TaskId
from paddock.core.review.events import ConfirmedBy, Settlement, Severity, place_of

CLAIM_CHARS = 200


class Status(StrEnum):
    OPEN = "open"
    FIXED = Settlement.FIXED.value
    REFUTED = Settlement.REFUTED.value
    WAIVED = Settlement.WAIVED.value
    OUTVOTED = Settlement.OUTVOTED.value


class Finding(Struct, frozen=True, array_like=True, gc=False):
    """`seq` is the record with its evidence; `by` all that hold it, the first reporter first. `head` is the version it
    was last held against, `checked` the last one that a check held it against, `settled_head` that on which it was
    settled. `disputed` is the record in which the worker says why it does not agree, 0 if it does."""

    id: str
    task: TaskId
    seq: int
    at: float
    head: str
    by: tuple[str, ...]
    path: str
    line: int
    severity: Severity
    claim: str
    rule: str = ""
    blocking: bool = False
    round: int = 1
    status: Status = Status.OPEN
    disputed: int = 0
    routed: TaskId | None = None
    settled_by: str = ""
    settled_why: str = ""
    confirmed: tuple[ConfirmedBy, ...] = ()
    checked: str = ""
    settled_head: str = ""

    @property
    def is_persons(self) -> bool:
        """Whether a person holds it: people have an address, agents and checks a name."""
        return any("@" in name for name in self.by)

    @property
    def is_open(self) -> bool:
        return self.status is Status.OPEN

    @property
    def blocks(self) -> bool:
        return self.blocking and self.is_open

    @property
    def place(self) -> str:
        return place_of(self.path, self.line)


class Opinion(Struct, frozen=True, array_like=True, gc=False):
    """One reviewer's verdict on one version, in one round."""

    by: str
    head: str
    round: int
    objects: bool
    attempt: AttemptId | None
    summary: str = ""


class Checked(Struct, frozen=True, array_like=True, gc=False):
    name: str
    head: str
    passed: bool
    seq: int


class TaskReview(Struct, frozen=True, array_like=True, gc=False):
    """`round` counts from 1 and grows when findings are sent back. `reviewed` is the last version that all reviewers
    have seen, `passed` the one that nothing blocks. `since` is when a person had it begin again."""

    round: int = 1
    findings: tuple[str, ...] = ()
    opinions: tuple[Opinion, ...] = ()
    checks: tuple[Checked, ...] = ()
    reviewed: str = ""
    passed: str = ""
    since: float = 0.0


class ReviewerTally(Struct, frozen=True, array_like=True, gc=False):
    """What a reviewer has done so far, and what came of it. `missed`: it let pass what was undone later."""

    reviews: int = 0
    findings: int = 0
    blocking: int = 0
    fixed: int = 0
    refuted: int = 0
    waived: int = 0
    outvoted: int = 0
    confirmed: int = 0
    missed: int = 0
    cost_usd: float = 0.0

    @property
    def true(self) -> int:
        """Findings that were shown to be true: the worker fixed them, or somebody confirmed them."""
        return self.fixed + self.confirmed


class Reviews(Struct, frozen=True, array_like=True):
    tasks: dict[TaskId, TaskReview] = {}
    findings: dict[str, Finding] = {}
    reviewers: dict[str, ReviewerTally] = {}
    next_finding: int = 1

    def of(self, task: TaskId) -> TaskReview:
        return self.tasks.get(task, TaskReview())

    def findings_of(self, task: TaskId) -> list[Finding]:
        """In the order they were reported."""
        return [self.findings[name] for name in self.of(task).findings if name in self.findings]

    def passed_by(self, task: TaskId, head: str) -> tuple[str, ...]:
        """The reviewers that have seen exactly this version and do not object, if it has passed its review."""
        review = self.of(task)
        if not head or review.passed != head:
            return ()
        return tuple(dict.fromkeys(one.by for one in review.opinions if one.head == head and not one.objects))

    def has_passed(self, task: TaskId, head: str) -> bool:
        """Whether nothing blocks exactly this version; checks alone may have let it pass."""
        return bool(head) and self.of(task).passed == head

    def blocking_of(self, task: TaskId) -> list[Finding]:
        """Those that keep the task's change from landing."""
        return [one for one in self.findings_of(task) if one.blocks]
