"""Findings of reviewers, checks and people, as readers get them."""

import msgspec

from paddock.core.ids import harmless
from paddock.core.review.events import Claim
from paddock.core.review.model import Finding
from paddock.views.document import iso, view_of


class FindingView(msgspec.Struct, frozen=True):
    """`by` are all that hold it, `head` the version it was last held against. `blocking`: it must be settled before
    the change may land. `routed` is the task that is about it, `disputed` tells that the worker does not agree."""

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


def view_finding(finding: Finding, claim: Claim) -> FindingView:
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
    )
