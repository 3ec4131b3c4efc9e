"""How far a review is, in the words that every edge shows."""

from hypothesis import given
from hypothesis import strategies as st

from paddock.core import events as ev
from paddock.core.ids import attempt_id
from paddock.core.intent.findings import waive_findings
from paddock.core.review.open_count import count_open, open_words
from paddock.core.review.plan import ReviewPolicy, next_action
from paddock.core.review.standing import standing_of
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import Role
from tests.core.review.loop import NOW, Loop, finds


def told(loop: Loop) -> str:
    return standing_of(loop.board, loop.now, loop.policy)


def step(loop: Loop) -> None:
    loop.perform(next_action(loop.board, loop.now, loop.policy, NOW))


def test_each_step_of_a_review_has_its_words() -> None:
    loop = Loop(ReviewPolicy(checks=("ruff", "mypy"), reviewers=("ann", "ben")), {"ann": finds("it loses data")})
    assert told(loop) == "round 1 of 3: at its checks: ruff, mypy"
    step(loop)
    assert told(loop) == "round 1 of 3: at its checks: mypy"
    step(loop)
    assert told(loop) == "round 1 of 3: next, ann reviews it"
    started = ev.AttemptStarted("claude", loop.head, "paddock/t1", agent="ann", role=Role.REVIEW)
    loop.ledger.write(ev.Draft(started, loop.task, attempt_id(loop.task, 2)))
    assert told(loop) == "round 1 of 3: ann reviews it"
    assert standing_of(loop.board, loop.now, None) == "round 1: ann reviews it"


def test_the_second_round_and_whom_it_waits_for_are_told() -> None:
    loop = Loop(ReviewPolicy(reviewers=("ann",), owners={"b.py": "ben"}), {"ann": finds("it is wrong", path="b.py")})
    step(loop)
    assert told(loop) == "round 1 of 3: f1 goes to whoever owns the path"
    step(loop)
    assert told(loop) == "round 1 of 3: waits for t2, about f1"
    sent_back = Loop(reviewers={"ann": finds("it loses data")})
    step(sent_back)
    assert told(sent_back) == "round 1 of 3: f1 goes back to its worker"
    step(sent_back)
    assert told(sent_back) == "round 2 of 3: next, ann reviews it"


def test_open_findings_are_counted_until_somebody_waives_them() -> None:
    loop = Loop(reviewers={"ann": finds("it loses data", "it is slow")})
    step(loop)
    assert (count_open(loop.board, loop.now), open_words(loop.board, loop.now)) == ((2, 2), "2 blocking findings")
    loop.ledger.write(*waive_findings(loop.board, ["f1", "f2"], "ana", "not here"))
    assert open_words(loop.board, loop.now) == ""


@given(
    st.lists(st.sampled_from(["ann", "ben", "cy"]), unique=True, max_size=3),
    st.integers(1, 3),
    st.lists(st.booleans(), min_size=1, max_size=4),
)
def test_whatever_happens_a_review_has_words_and_none_where_it_is_over(
    reviewers: list[str], rounds: int, finding: list[bool]
) -> None:
    answers = {name: finds("wrong") if finding[at % len(finding)] else None for at, name in enumerate(reviewers)}
    loop = Loop(ReviewPolicy(("ruff",), tuple(reviewers), rounds), answers)
    for _ in range(60):
        if loop.now.phase is not Phase.REVIEWING:
            break
        assert told(loop).startswith(f"round {loop.board.reviews.of(loop.task).round} of {rounds}: ")
        step(loop)
