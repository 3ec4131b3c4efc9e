"""The review loop as a decision: what it asks for, that it always ends, and what can never pass."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.core import events as ev
from paddock.core.errors import IllegalTransition
from paddock.core.intent.finding_reports import report_finding
from paddock.core.intent.findings import waive_findings
from paddock.core.intent.tasks import retry_tasks
from paddock.core.review import plan as act
from paddock.core.review.events import (
    Claim,
    FindingSettled,
    ReviewGiven,
    ReviewPassed,
    ReviewSentBack,
    Settlement,
    Severity,
)
from paddock.core.review.model import Status
from paddock.core.review.plan import MOST_FAILED, ReviewPolicy, votes_needed
from paddock.core.tasks.task import Phase, Task
from tests.core.ledger import assert_sound, fold, fold_from_snapshot
from tests.core.review.loop import CLEAN, Loop, Reviewer, finds


def first_finds_then(*claims: str, then: str = "fixed") -> Reviewer:
    """Finds something in the first version only, and rules so on it later."""

    def answer(_task: Task, head: str, earlier: list[str]) -> str:
        found = [] if earlier else [{"path": "a.py", "line": 3, "severity": "error", "claim": one} for one in claims]
        rulings = [{"id": name, "now": then} for name in earlier]
        return json.dumps({"head": head, "findings": found, "earlier": rulings})

    return answer


def test_a_clean_change_passes_at_once() -> None:
    loop = Loop()
    assert loop.run() == act.Pass(("ann",))
    assert loop.now.phase is Phase.APPROVAL
    assert loop.board.reviews.of(loop.task).passed == loop.head
    loop.queue()


def test_a_finding_goes_back_once_and_the_fixed_version_passes() -> None:
    loop = Loop(reviewers={"ann": first_finds_then("it loses data")})
    loop.run()
    assert [type(one) for one in loop.story] == [act.StartReview, act.SendBack, act.StartReview, act.Pass]
    heads = [event.head for event in loop.events(ReviewGiven) if isinstance(event, ReviewGiven)]
    assert len(set(heads)) == 2
    assert loop.board.reviews.findings["f1"].status is Status.FIXED
    tally = loop.board.reviews.reviewers["ann"]
    assert (tally.reviews, tally.findings, tally.fixed, tally.true) == (2, 1, 1, 1)


def test_what_is_never_fixed_ends_with_a_person_who_is_told_the_story() -> None:
    loop = Loop(reviewers={"ann": finds("it loses data")})
    last = loop.run()
    assert isinstance(last, act.Block)
    assert (loop.now.phase, len(loop.events(ReviewSentBack))) == (Phase.BLOCKED, 2)
    assert "f1 it loses data" in loop.now.reason
    assert "3 rounds" in loop.now.reason
    assert "waive f1" in loop.now.unblock


def test_a_worker_that_changes_and_disputes_nothing_is_not_reviewed_again() -> None:
    loop = Loop(reviewers={"ann": finds("it loses data")}, changes=lambda _version: False)
    assert isinstance(loop.run(), act.Block)
    assert [type(one) for one in loop.story] == [act.StartReview, act.SendBack, act.Block]
    assert loop.now.reason == "its worker changed nothing and disputes nothing: f1 it loses data"


def test_no_version_is_queued_with_an_open_blocking_finding_whoever_asks() -> None:
    loop = Loop(reviewers={"ann": finds("it loses data")})
    loop.run()
    with pytest.raises(IllegalTransition, match="held by f1"):
        loop.queue()
    settled = FindingSettled("f1", Settlement.WAIVED, by="ana")
    loop.ledger.write(ev.Draft(settled, loop.task))
    loop.queue()


def test_a_person_who_sends_it_back_gives_it_all_its_rounds_again() -> None:
    loop = Loop(reviewers={"ann": finds("it loses data")})
    loop.run()
    loop.ledger.write(ev.Draft(ev.TaskRetried(1), loop.task))
    loop.deliver(new=True)
    loop.run()
    assert len(loop.events(ReviewSentBack)) == 4


def test_a_retry_of_a_review_that_failed_begins_the_review_again_and_not_the_work() -> None:
    loop = Loop(reviewers={"ann": None})
    loop.run()
    head = loop.head
    loop.reviewers["ann"] = CLEAN
    loop.ledger.write(*retry_tasks(loop.board, [loop.task], 1, ""))
    assert loop.now.phase is Phase.REVIEWING
    assert loop.run() == act.Pass(("ann",))
    assert loop.board.reviews.of(loop.task).passed == head


def test_a_retry_after_all_rounds_sends_the_findings_to_the_worker_again() -> None:
    loop = Loop(reviewers={"ann": finds("it loses data")})
    loop.run()
    loop.ledger.write(*retry_tasks(loop.board, [loop.task], 1, ""))
    loop.run()
    assert (loop.now.phase, len(loop.events(ReviewSentBack))) == (Phase.BLOCKED, 4)


def test_who_waives_all_that_blocked_a_task_is_told_to_land_it() -> None:
    loop = Loop(ReviewPolicy(reviewers=("ann",), rounds=1), {"ann": finds("it loses data", "it is slow")})
    loop.run()
    loop.ledger.write(*waive_findings(loop.board, ["f1"], "ana", ""))
    assert "f1 it loses data" in loop.now.reason
    loop.ledger.write(*waive_findings(loop.board, ["f2"], "ana", ""))
    assert (loop.now.reason, loop.now.unblock) == ("what blocked it was waived", "paddock land t1")
    loop.queue()


def test_a_dispute_ends_with_the_consent_of_a_second_reviewer() -> None:
    policy = ReviewPolicy(reviewers=("ann", "bob"))
    agreeing = first_finds_then(then="refuted")
    loop = Loop(
        policy,
        {"ann": first_finds_then("it is slow", then="open"), "bob": agreeing},
        refutes=lambda name: "it is measured" if name == "f1" else "",
    )
    assert loop.run() == act.Pass(("ann", "bob"))
    found = loop.board.reviews.findings["f1"]
    assert (found.status, found.settled_by) == (Status.REFUTED, "bob")
    assert loop.board.reviews.reviewers["ann"].refuted == 1


def test_without_a_dispute_nobody_else_can_wave_a_finding_away() -> None:
    policy = ReviewPolicy(reviewers=("ann", "bob"))
    loop = Loop(policy, {"ann": first_finds_then("it is slow", then="open"), "bob": first_finds_then(then="refuted")})
    assert isinstance(loop.run(), act.Block)
    assert loop.board.reviews.findings["f1"].status is Status.OPEN


@pytest.mark.parametrize("order", [("ann", "bob"), ("bob", "ann")])
@pytest.mark.parametrize("now", ["fixed", "refuted"])
def test_who_joins_a_finding_cannot_settle_it_for_the_other_that_holds_it(order: tuple[str, str], now: str) -> None:
    """`bob` says that it stands, and later that it does not, of what nobody has fixed."""
    said = iter(("open", now, now, now))

    def joins(task: Task, head: str, earlier: list[str]) -> str:
        return finds(now=next(said) if earlier else "open")(task, head, earlier)

    def holds(task: Task, head: str, earlier: list[str]) -> str:
        return first_finds_then("it is slow", then="open")(task, head, earlier)

    loop = Loop(ReviewPolicy(reviewers=order), {"ann": holds, "bob": joins})
    assert isinstance(loop.run(), act.Block)
    assert loop.board.reviews.findings["f1"].status is Status.OPEN


def test_no_reviewer_settles_what_a_check_holds_against_the_same_version() -> None:
    """It makes the finding of a check its own first, while the check has nothing against the change."""
    failure = Claim("the command exits with 1", severity=Severity.ERROR)
    reviewer = finds(failure.claim, path="", now="fixed")
    loop = Loop(
        ReviewPolicy(checks=("tests",), reviewers=("ann",)),
        {"ann": lambda task, head, earlier: (reviewer if not earlier else CLEAN)(task, head, earlier)},
        checks=lambda _name, version: True if version == 2 else [failure],
    )
    last = loop.run()
    assert loop.board.reviews.findings["f1"].by == ("check:tests", "ann")
    assert isinstance(last, act.Block)
    assert not loop.events(ReviewPassed)


@pytest.mark.parametrize("votes", ["any", "majority", "all"])
def test_agents_cannot_overrule_a_person_but_may_see_that_it_is_fixed(votes: str) -> None:
    for now, status in (("refuted", Status.OPEN), ("open", Status.OPEN), ("fixed", Status.FIXED)):
        policy = ReviewPolicy(reviewers=("ann", "bob"), votes=votes)
        loop = Loop(policy, {"ann": finds(now=now), "bob": finds(now=now)}, refutes=lambda _name: "it is fine")
        claim = Claim("it must not be public", "a.py", severity=Severity.ERROR)
        loop.ledger.write(*report_finding(loop.board, loop.task, claim, "ann@example via mcp"))
        assert isinstance(loop.run(), act.Pass) is (status is Status.FIXED)
        assert loop.board.reviews.findings["f1"].status is status


@pytest.mark.parametrize(("votes", "passes"), [("any", False), ("majority", True), ("all", True)])
def test_reviewers_that_contradict_each_other_vote(votes: str, passes: bool) -> None:
    loop = Loop(
        ReviewPolicy(reviewers=("ann", "bob", "cy"), votes=votes, rounds=1), {"ann": finds("it is slow"), "bob": CLEAN}
    )
    last = loop.run()
    assert isinstance(last, act.Pass) is passes
    if passes:
        assert loop.board.reviews.findings["f1"].status is Status.OUTVOTED


@pytest.mark.parametrize("votes", ["majority", "all"])
def test_who_says_that_anothers_finding_is_still_open_votes_for_it(votes: str) -> None:
    agreeing = first_finds_then(then="open")
    policy = ReviewPolicy(reviewers=("ann", "bob", "cy"), votes=votes, rounds=1)
    loop = Loop(policy, {"ann": finds("it is slow"), "bob": agreeing, "cy": agreeing})
    assert isinstance(loop.run(), act.Block)
    found = loop.board.reviews.findings["f1"]
    assert (found.status, found.by) == (Status.OPEN, ("ann", "bob", "cy"))


def test_votes_needed_never_exceed_the_voters() -> None:
    assert [[votes_needed(way, n) for n in (1, 2, 3, 4)] for way in ("any", "majority", "all")] == [
        [1, 1, 1, 1], [1, 2, 2, 3], [1, 2, 3, 4],
    ]  # fmt: skip


def test_a_reviewer_that_never_answers_is_given_up_and_the_others_decide() -> None:
    loop = Loop(ReviewPolicy(reviewers=("ann", "bob")), {"ann": None, "bob": CLEAN})
    assert loop.run() == act.Pass(("bob",))
    assert sum(one == act.StartReview("ann") for one in loop.story) == MOST_FAILED


def test_where_no_reviewer_can_review_a_person_is_asked() -> None:
    loop = Loop(reviewers={"ann": None})
    assert isinstance(loop.run(), act.Block)
    assert "no reviewer could review it: t1.3 (ann) empty" in loop.now.reason


def test_a_failed_check_goes_back_before_any_reviewer_is_paid() -> None:
    loop = Loop(ReviewPolicy(checks=("lint",), reviewers=("ann",)), checks=lambda _name, version: version > 1)
    loop.run()
    kinds = [type(one) for one in loop.story]
    assert kinds == [act.RunChecks, act.SendBack, act.RunChecks, act.StartReview, act.Pass]
    assert loop.board.reviews.findings["f1"].status is Status.FIXED


def test_what_two_say_is_one_finding_and_both_hold_it() -> None:
    claim = "the cache is never emptied and grows without bound"
    worded = "the cache grows without bound: it is never emptied"
    loop = Loop(ReviewPolicy(reviewers=("ann", "bob"), rounds=1), {"ann": finds(claim), "bob": finds(worded)})
    loop.run()
    assert list(loop.board.reviews.findings) == ["f1"]
    assert loop.board.reviews.findings["f1"].by == ("ann", "bob")


def test_what_a_person_waived_is_not_brought_up_again() -> None:
    loop = Loop(ReviewPolicy(reviewers=("ann",), rounds=1), {"ann": finds("it loses data")})
    loop.run()
    loop.ledger.write(ev.Draft(FindingSettled("f1", Settlement.WAIVED, by="ana"), loop.task))
    loop.ledger.write(ev.Draft(ev.TaskRetried(1), loop.task))
    loop.deliver(new=True)
    assert loop.run() == act.Pass(("ann",))
    assert list(loop.board.reviews.findings) == ["f1"]


def test_what_another_agent_owns_becomes_its_task_and_the_change_waits_for_it() -> None:
    policy = ReviewPolicy(reviewers=("ann",), owners={"docs/api.md": "docs"})
    loop = Loop(policy, {"ann": finds("the page is wrong now", path="docs/api.md")})
    assert loop.run() == act.Pass(("ann",))
    other = loop.board.task(loop.now.after[0])
    assert (other.agent, other.paths) == ("docs", ("docs/api.md",))
    assert loop.board.reviews.findings["f1"].routed == other.id
    assert not loop.events(ReviewSentBack)


@pytest.mark.parametrize("votes", ["any", "all"])
def test_what_is_the_owners_to_fix_is_no_objection_to_the_next_version_and_not_voted_on(votes: str) -> None:
    """It is still there in that version, which does not have the owner's change."""
    policy = ReviewPolicy(reviewers=("ann", "bob"), votes=votes, owners={"docs/api.md": "docs"})

    def both(task: Task, head: str, earlier: list[str]) -> str:
        is_first = task.worker is not None and task.worker.id == "t1.1"
        found = [{"path": path, "line": 3, "severity": "error", "claim": "wrong"} for path in ("docs/api.md", "a.py")]
        rulings = [{"id": name, "now": "open" if is_first or name == "f1" else "fixed"} for name in earlier]
        return json.dumps({"head": head, "findings": found if is_first else found[:1], "earlier": rulings})

    loop = Loop(policy, {"ann": both, "bob": both})
    assert loop.run() == act.Pass(("ann", "bob"))
    objects = [event.objects for event in loop.events(ReviewGiven) if isinstance(event, ReviewGiven)]
    assert objects == [True, True, False, False]
    found = loop.board.reviews.findings["f1"]
    assert (found.status, found.settled_by) == (Status.FIXED, "t2")
    assert loop.board.reviews.passed_by(loop.task, loop.head) == ("ann", "bob")


def test_if_the_owner_comes_to_nothing_a_person_is_asked() -> None:
    policy = ReviewPolicy(reviewers=("ann",), owners={"docs/api.md": "docs"})
    loop = Loop(policy, {"ann": finds("the page is wrong now", path="docs/api.md")}, owners_land=False)
    assert isinstance(loop.run(), act.Block)
    assert "t2, which came to nothing" in loop.now.reason


def test_findings_that_do_not_block_are_kept_and_hold_nothing_up() -> None:
    loop = Loop(reviewers={"ann": finds("a better name?", severity="note")})
    assert loop.run() == act.Pass(("ann",))
    assert loop.board.reviews.findings["f1"].status is Status.OPEN
    loop.queue()


paths = st.sampled_from(["a.py", "docs/x.md", "", "../etc", "b.py"])
entries = st.fixed_dictionaries(
    {"claim": st.sampled_from(["it loses data", "it is slow", "wrong name", "a test is gone"])},
    optional={
        "path": paths,
        "line": st.integers(-1, 200),
        "severity": st.sampled_from(["error", "warning", "note", "high", "odd"]),
        "evidence": st.text(max_size=10),
    },
)


@st.composite
def reviewers(draw: st.DrawFn) -> Reviewer | None:
    """Any behaviour: sensible, contradictory, silent, or off its head."""
    manner = draw(st.sampled_from(["sound", "sound", "sound", "none", "prose", "wrong head", "forgets", "repeats"]))
    if manner == "none":
        return None
    lists = draw(st.lists(st.lists(entries, max_size=3), min_size=1, max_size=3))
    rulings = draw(st.lists(st.sampled_from(["fixed", "refuted", "open"]), min_size=1, max_size=4))
    calls = [0]

    def answer(_task: Task, head: str, earlier: list[str]) -> str:
        calls[0] += 1
        if manner == "prose":
            return "Looks good to me"
        found = lists[(calls[0] - 1) % len(lists)]
        ruled = [{"id": name, "now": rulings[n % len(rulings)]} for n, name in enumerate(earlier)]
        seen = "0" * 40 if manner == "wrong head" else head
        times = {"forgets": 0, "repeats": 2}.get(manner, 1)
        return json.dumps({"head": seen, "findings": found * max(times, 1), "earlier": ruled * times})

    return answer


@settings(max_examples=150)
@given(
    st.dictionaries(st.sampled_from(["ann", "bob", "cy"]), reviewers(), min_size=1),
    st.integers(1, 4),
    st.sampled_from(["any", "majority", "all"]),
    st.lists(st.booleans(), min_size=1, max_size=5),
    st.lists(st.sampled_from(["", "no"]), min_size=1, max_size=4),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["error", "warning", "note"]),
)
def test_the_loop_ends_whatever_its_agents_do(
    cast: dict[str, Reviewer | None],
    rounds: int,
    votes: str,
    changes: list[bool],
    disputes: list[str],
    check_fails: bool,
    owners_land: bool,
    least: str,
) -> None:
    policy = ReviewPolicy(("lint",), tuple(cast), rounds, votes, {"docs/x.md": "docs"})
    flaw = [Claim("lint says no", "a.py", 1, Severity.ERROR)]
    loop = Loop(
        policy,
        dict(cast),
        checks=lambda _name, version: flaw if check_fails and version % 2 else True,
        refutes=lambda name: disputes[int(name[1:]) % len(disputes)],
        changes=lambda version: changes[version % len(changes)],
        owners_land=owners_land,
        least=least,
    )
    loop.run()
    assert loop.now.phase in (Phase.APPROVAL, Phase.BLOCKED)
    assert len(loop.events(ReviewSentBack)) < rounds
    for event in (*loop.events(ReviewGiven), *loop.events(ReviewPassed)):
        assert isinstance(event, ReviewGiven | ReviewPassed)
        assert len(event.head) == 40
    blocking = loop.board.reviews.blocking_of(loop.task)
    if loop.now.phase is Phase.APPROVAL:
        assert not blocking
        assert loop.board.reviews.of(loop.task).passed == loop.now.head
        loop.queue()
    elif blocking:
        with pytest.raises(IllegalTransition):
            loop.queue()
    assert_sound(loop.board)
    records = loop.ledger.records
    assert fold(records).reviews == loop.board.reviews
    assert fold_from_snapshot(records, len(records) // 2).reviews == loop.board.reviews
