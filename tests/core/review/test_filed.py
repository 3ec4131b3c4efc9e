"""A finding that became a task ends with it, also where no review goes on."""

import pytest

from paddock.core.events import Draft, TaskAdded
from paddock.core.ids import task_id
from paddock.core.review.events import Claim, FindingReported, FindingRouted, FindingSettled, Severity
from paddock.core.review.filed import filed_findings, settle_filed
from paddock.core.review.model import Status
from tests.core.ledger import Ledger

HEAD = "a" * 40


def found(where: str) -> Ledger:
    """f1 against t1, which is in the phase that the step leads to, became t2."""
    ledger = Ledger()
    first = ledger.add()
    ledger.attempt(first, where, head=HEAD)
    reported = FindingReported("f1", HEAD, "ann", Claim("it leaks", "a.py", severity=Severity.ERROR), blocking=True)
    ledger.write(Draft(reported, task=first), Draft(TaskAdded("Fix f1", "fix it"), task=task_id(2)))
    ledger.write(Draft(FindingRouted("f1", task_id(2)), task=first))
    return ledger


@pytest.mark.parametrize(
    ("where", "settles"), [("approval", True), ("block", True), ("fail", True), ("review", False), ("retry", False)]
)
def test_it_is_fixed_when_its_task_has_ended_well(where: str, settles: bool) -> None:
    ledger = found(where)
    assert [one.id for one in filed_findings(ledger.board.reviews)] == ["f1"]
    assert settle_filed(ledger.board) == []
    ledger.attempt(task_id(2), "noop")
    drafts = settle_filed(ledger.board)
    assert [type(draft.event) for draft in drafts] == ([FindingSettled] if settles else []), (
        "a review decides by itself"
    )
    ledger.write(*drafts)
    if settles:
        finding = ledger.board.reviews.findings["f1"]
        assert (finding.status, finding.settled_by, finding.settled_why) == (Status.FIXED, "t2", "noop")
        assert settle_filed(ledger.board) == []


def test_what_failed_has_fixed_nothing() -> None:
    ledger = found("approval")
    ledger.attempt(task_id(2), "fail")
    assert settle_filed(ledger.board) == []
