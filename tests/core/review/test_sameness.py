"""Which findings are one: what is worded differently or has moved a little is, what is elsewhere is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.ids import TaskId
from paddock.core.review.events import Claim, Severity
from paddock.core.review.model import CLAIM_CHARS, Finding
from paddock.core.review.sameness import NEAR_LINES, find_same, is_same, likeness

SAID = Claim("the cache is never emptied", "src/x.py", 40)

claims = st.builds(
    Claim, st.text(max_size=300), st.sampled_from(["", "a.py"]), st.integers(0, 99), rule=st.text(max_size=3)
)


def known(claim: Claim, name: str = "f1") -> Finding:
    told = claim.claim[:CLAIM_CHARS]
    return Finding(
        name, TaskId("t1"), 1, 0.0, "a" * 40, ("ann",), claim.path, claim.line, Severity.ERROR, told, claim.rule
    )


@pytest.mark.parametrize(
    ("claim", "same"),
    [
        (SAID, True),
        (Claim("never emptied: the cache", "src/x.py", 40), True),
        (Claim("The CACHE is never emptied.", "src/x.py", 40 + NEAR_LINES), True),
        (Claim("the cache is never emptied", "src/x.py", 41 + NEAR_LINES), False),
        (Claim("the cache is never emptied", "src/x.py", 0), True),
        (Claim("the cache is never emptied", "src/y.py", 40), False),
        (Claim("the cache is read by two threads", "src/x.py", 40), False),
    ],
)
def test_words_and_place_decide(claim: Claim, same: bool) -> None:
    assert is_same(claim, known(SAID)) is same


def test_where_tools_have_names_for_them_those_decide() -> None:
    unused, shadowed = (
        Claim(f"`{word}` is bad", "a.py", 3, rule=rule) for word, rule in (("x", "F401"), ("x", "A001"))
    )
    assert not is_same(unused, known(shadowed))
    assert is_same(Claim("worded differently", "a.py", 7, rule="F401"), known(unused))
    assert find_same(unused, [known(shadowed, "f1"), known(unused, "f2")]) == known(unused, "f2")


@given(claims)
def test_a_claim_is_the_finding_that_was_made_of_it(claim: Claim) -> None:
    assert is_same(claim, known(claim))


@given(st.text(), st.text())
def test_likeness_is_mutual_and_between_none_and_all(one: str, other: str) -> None:
    assert likeness(one, other) == likeness(other, one)
    assert 0.0 <= likeness(one, other) <= 1.0
    assert likeness(one, one) == 1.0
