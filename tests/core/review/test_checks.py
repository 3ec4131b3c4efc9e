"""What the end of a check comes to: findings against the change and no other, each gone once no check holds it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.events import Acceptance, AcceptFile, Draft, TaskBlocked
from paddock.core.review.checks import (
    OUTPUT_CHARS,
    CheckResult,
    edits_of_acceptance,
    failure,
    only_of_change,
    record_check,
)
from paddock.core.review.events import (
    CheckEnded,
    Claim,
    FindingHeld,
    FindingReported,
    FindingSettled,
    ReviewSentBack,
    Severity,
)
from paddock.core.review.model import Status
from paddock.core.tasks.task import Phase
from tests.core.ledger import Ledger

FIRST, SECOND = "a" * 40, "c" * 40
BAD = Claim("bad", "a.py", 3, Severity.ERROR, rule="R1")


def delivered() -> Ledger:
    ledger = Ledger()
    ledger.attempt(ledger.add(), "review", head=FIRST)
    return ledger


def deliver_again(ledger: Ledger) -> None:
    task = ledger.task("t1").id
    ledger.write(Draft(ReviewSentBack(FIRST, ledger.board.reviews.of(task).round, (), "fix it"), task=task))
    ledger.attempt(task, "review", head=SECOND)


def check(ledger: Ledger, head: str, *claims: Claim, name: str = "lint") -> list[type]:
    result = CheckResult(name, passed=not claims, exit=int(bool(claims)), claims=claims)
    drafts = record_check(ledger.board, ledger.task("t1").id, head, result, "error")
    ledger.write(*drafts)
    return [type(draft.event) for draft in drafts]


def test_a_finding_of_a_check_is_settled_by_the_check_that_no_longer_has_it() -> None:
    ledger = delivered()
    assert check(ledger, FIRST, BAD) == [CheckEnded, FindingReported]
    assert ledger.board.reviews.findings["f1"].blocks
    deliver_again(ledger)
    assert check(ledger, SECOND) == [CheckEnded, FindingSettled]
    assert ledger.board.reviews.findings["f1"].status is Status.FIXED


def test_a_finding_that_is_still_there_is_held_and_one_that_comes_back_is_open_again() -> None:
    ledger = delivered()
    check(ledger, FIRST, BAD)
    deliver_again(ledger)
    assert check(ledger, SECOND, BAD) == [CheckEnded, FindingHeld]
    assert ledger.board.reviews.findings["f1"].blocks


def test_what_two_checks_hold_is_gone_only_when_both_have_looked() -> None:
    ledger = delivered()
    check(ledger, FIRST, BAD)
    check(ledger, FIRST, BAD, name="other")
    deliver_again(ledger)
    assert check(ledger, SECOND) == [CheckEnded]
    assert ledger.board.reviews.findings["f1"].blocks
    assert check(ledger, SECOND, name="other") == [CheckEnded, FindingSettled]


def test_two_checks_that_just_fail_are_two_findings() -> None:
    ledger = delivered()
    for name in ("lint", "types"):
        check(ledger, FIRST, failure(name, f"the check `{name}` failed with exit 1", "x"), name=name)
    assert len(ledger.board.reviews.findings) == 2


def test_a_check_that_could_not_be_run_blocks_and_accuses_nobody() -> None:
    ledger = delivered()
    result = CheckResult("lint", unable="no sandbox")
    (draft,) = record_check(ledger.board, ledger.task("t1").id, FIRST, result, "error")
    assert isinstance(draft.event, TaskBlocked)
    ledger.write(draft)
    assert ledger.task("t1").phase is Phase.BLOCKED
    assert ledger.board.reviews.findings == {}


@pytest.mark.parametrize("head", [SECOND, ""])
def test_what_is_said_of_another_version_is_not_recorded(head: str) -> None:
    ledger = delivered()
    assert check(ledger, head, BAD) == []


def test_a_change_is_not_blamed_for_what_it_does_not_touch() -> None:
    claims = [
        BAD,
        Claim("old line", "a.py", 90, Severity.ERROR),
        Claim("whole file", "a.py", 0, Severity.ERROR),
        Claim("binary", "b.png", 7, Severity.ERROR),
        Claim("elsewhere", "c.py", 1, Severity.ERROR),
        Claim("as a whole", "", 0, Severity.ERROR),
    ]
    kept, left_out = only_of_change(claims, {"a.py": [range(1, 5), range(20, 22)], "b.png": ()})

    assert [(one.claim, one.severity.value) for one in kept] == [
        ("bad", "error"),
        ("old line", "note"),
        ("whole file", "error"),
        ("binary", "error"),
        ("as a whole", "error"),
    ]
    assert left_out == 1


@given(st.lists(st.builds(Claim, st.just("x"), st.sampled_from(("", "a", "b")), st.integers(0, 9))))
def test_no_claim_is_lost_unnoticed(claims: list[Claim]) -> None:
    kept, left_out = only_of_change(claims, {"a": [range(2, 4)]})
    assert len(kept) + left_out == len(claims)


def test_who_edits_or_deletes_a_file_of_the_acceptance_is_named() -> None:
    accept = Acceptance((("x",),), tuple(AcceptFile(path, "") for path in ("edited", "gone", "new", "left")))
    claims = edits_of_acceptance(accept, {"edited": "M", "gone": "D", "new": "A", "other": "M"})

    assert [(one.claim.split(" a file")[0], one.path, one.severity.value) for one in claims] == [
        ("edits", "edited", "error"),
        ("deletes", "gone", "error"),
        ("adds its own version of", "new", "note"),
    ]


def test_of_long_output_the_end_is_kept() -> None:
    assert failure("x", "failed", "a" * OUTPUT_CHARS + "the end").evidence.endswith("the end")
    assert len(failure("x", "failed", "a" * 2 * OUTPUT_CHARS).evidence) == OUTPUT_CHARS
