"""Findings that a reviewer reported one by one join its answer."""

import json

from hypothesis import given
from hypothesis import strategies as st

from paddock.core.review.answer import MOST_FINDINGS, ReviewAnswer, add_noted
from paddock.core.review.events import Claim, Severity


def line(claim: str, **more: object) -> str:
    return json.dumps({"claim": claim, "severity": "warning", **more})


def test_they_are_ranked_with_the_others_and_told_once() -> None:
    answer = ReviewAnswer((Claim("it leaks", "a.py", 3),), summary="one thing")
    notes = "\n".join([line("it leaks", path="a.py", line=3), "nonsense", line("it crashes", severity="error"), "{}"])
    noted = add_noted(answer, f"{notes}\n{line('it crashes', severity='error')}\n")
    assert noted.findings == (Claim("it crashes", severity=Severity.ERROR), Claim("it leaks", "a.py", 3))
    assert (noted.summary, noted.dropped) == ("one thing", 0)
    many = add_noted(answer, "\n".join(line(f"claim {number}") for number in range(MOST_FINDINGS)))
    assert (len(many.findings), many.dropped) == (MOST_FINDINGS, 1)


@given(st.text())
def test_whatever_is_noted_the_answer_stands(notes: str) -> None:
    answer = ReviewAnswer((Claim("it leaks"),), summary="x")
    assert answer.findings[0] in add_noted(answer, notes).findings
