"""What CI says about findings that nobody heeded."""

from paddock.core import events as ev
from paddock.core.review.confirmation import confirmed_by_ci
from paddock.core.review.events import ConfirmedBy, FindingSettled, Settlement
from paddock.core.review.plan import ReviewPolicy
from tests.core.review.loop import Loop, finds


def waived() -> Loop:
    loop = Loop(ReviewPolicy(reviewers=("ann",), rounds=1), {"ann": finds("it loses data", "it is slow")})
    loop.run()
    loop.ledger.write(ev.Draft(FindingSettled("f1", Settlement.WAIVED, by="ana"), loop.task))
    return loop


def test_what_was_waived_and_fails_in_ci_counts_for_who_found_it_once() -> None:
    loop = waived()
    told = confirmed_by_ci(loop.board, loop.task, loop.head, "FAILED tests/test_a.py: a.py:3", "r7")
    assert [(one.id, one.by, one.why) for one in told] == [
        ("f1", ConfirmedBy.CI, "r7 fails in a.py"),
        ("f2", ConfirmedBy.CI, "r7 fails in a.py"),
    ]
    loop.ledger.write(*(ev.Draft(event, loop.task) for event in told))
    assert loop.board.reviews.reviewers["ann"].confirmed == 2
    assert confirmed_by_ci(loop.board, loop.task, loop.head, "a.py", "r8") == []


def test_a_failure_elsewhere_or_of_another_version_says_nothing() -> None:
    loop = waived()
    assert confirmed_by_ci(loop.board, loop.task, loop.head, "FAILED b.py", "r7") == []
    assert confirmed_by_ci(loop.board, loop.task, "0" * 40, "FAILED a.py", "r7") == []


def test_what_was_fixed_is_not_counted_twice() -> None:
    loop = waived()
    loop.ledger.write(ev.Draft(FindingSettled("f2", Settlement.FIXED, by="ann"), loop.task))
    assert [one.id for one in confirmed_by_ci(loop.board, loop.task, loop.head, "a.py", "r7")] == ["f1"]
