"""Findings of reviewers, checks and people, as readers get them."""

import msgspec

from paddock.core.ids import harmless
from paddock.core.review.events import Claim
from paddock.core.review.model import Checked, Finding, Opinion
from paddock.views.document import iso, view_of


class FindingView(msgspec.Struct, frozen=True):
    """`by` are all that hold it, `head` the version it was last held against. `blocking`: it must be settled before
    the change may land. `routed` is the task that is about it, `disputed` tells that the worker does not agree, and
    `dispute` why, where that is told."""

    id: str
    task: str
    status: str
    severity: str
    blocking: bool
    path: str
    line: int
    claim: str
    evidence: str
    suggestion: str
    rule: str
    by: tuple[str, ...]
    head: str
    round: int
    reported: str
    disputed: bool
    routed: str | None
    settled_by: str
    settled_why: str
    confirmed: tuple[str, ...]
    dispute: str = ""


class VerdictView(msgspec.Struct, frozen=True):
    """What one reviewer said of the version `head`, and of no other."""

    by: str
    round: int
    head: str
    objects: bool
    summary: str
    attempt: str | None


class CheckedView(msgspec.Struct, frozen=True):
    """How a check of the version `head` ended; `accept` is the task's own acceptance."""

    name: str
    head: str
    passed: bool


def view_verdict(given: Opinion) -> VerdictView:
    return view_of(VerdictView, given, summary=harmless(given.summary))


def view_check(checked: Checked) -> CheckedView:
    return view_of(CheckedView, checked)


def view_finding(finding: Finding, claim: Claim, dispute: str = "") -> FindingView:
    """`dispute` is why the worker does not agree, where that was read."""
    return view_of(
        FindingView,
        finding,
        status=finding.status.value,
        severity=finding.severity.value,
        claim=harmless(claim.claim),
        evidence=harmless(claim.evidence),
        suggestion=harmless(claim.suggestion),
        reported=iso(finding.at),
        disputed=bool(finding.disputed),
        confirmed=tuple(one.value for one in finding.confirmed),
        dispute=harmless(dispute),
    )
