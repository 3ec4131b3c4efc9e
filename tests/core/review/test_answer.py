"""A reviewer's answer may be anything: it is read, or it is told what is wrong with it, and never more than fits."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.answers import ANSWER_CHARS, Unusable
from paddock.core.review.answer import MOST_FINDINGS, ReviewAnswer, Ruling, add_noted, read_review, tidy_path
from paddock.core.review.events import Claim, Severity

HEAD = "0123456789" * 4
TRUE = {"path": "src/x.py", "line": 41, "severity": "error", "claim": "it leaks"}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
findings = st.lists(
    json_values
    | st.fixed_dictionaries(
        {"claim": json_values | st.text(min_size=1)},
        optional={
            "path": json_values,
            "line": json_values,
            "severity": json_values | st.sampled_from(["error", "warning", "note", "High", " nit "]),
            "evidence": json_values,
            "suggestion": json_values,
            "rule": json_values,
        },
    ),
    max_size=5,
)
rulings = st.lists(
    json_values
    | st.fixed_dictionaries(
        {"id": st.sampled_from(["f1", "f2", "f3"]) | json_values},
        optional={"now": st.sampled_from(["fixed", "refuted", "open"]) | json_values, "why": json_values},
    ),
    max_size=4,
)
answers = st.fixed_dictionaries(
    {"head": st.sampled_from([HEAD, HEAD[:7], HEAD.upper(), "", " " * 9]) | json_values},
    optional={"findings": findings | json_values, "earlier": rulings | json_values, "summary": json_values},
)


def answer(**fields: Any) -> str:
    return json.dumps({"head": HEAD, "findings": [], **fields})


def problem(text: str, *open_findings: str) -> str:
    found = read_review(text, HEAD, open_findings)
    assert isinstance(found, Unusable), found
    return found.problem


def read(text: str, *open_findings: str) -> ReviewAnswer:
    found = read_review(text, HEAD, open_findings)
    assert isinstance(found, ReviewAnswer), found
    return found


@given(st.text())
def test_words_are_no_review(text: str) -> None:
    assert problem(text)


@given(answers, st.sets(st.sampled_from(["f1", "f2"])))
def test_whatever_is_answered_is_read_within_bounds_or_told_to_be_wrong(value: Any, asked: set[str]) -> None:
    found = read_review(json.dumps(value), HEAD, asked)
    if isinstance(found, Unusable):
        assert found.problem
        return
    assert len(str(value["head"]).strip()) >= 7
    assert {ruling.id for ruling in found.rulings} == asked
    assert len(found.rulings) == len(asked), "each finding has one ruling"
    assert len(found.findings) + found.dropped == len(value["findings"])
    for text in (*(one.claim for one in found.findings), found.summary, *(one.why for one in found.rulings)):
        assert len(text) <= 2_000
        text.encode()
    for claim in found.findings:
        assert claim.claim
        assert 0 <= claim.line <= 10**9
        assert not claim.path.startswith(("/", ".."))
        assert len(claim.evidence) + len(claim.suggestion) <= 8_000


def test_the_gravest_are_kept_and_the_rest_is_counted() -> None:
    many = [{**TRUE, "claim": f"flaw {number}", "severity": "note"} for number in range(500)]
    found = read(answer(findings=[*many, TRUE]))
    assert found.findings[0] == Claim("it leaks", "src/x.py", 41, Severity.ERROR)
    assert (len(found.findings), found.dropped) == (MOST_FINDINGS, 501 - MOST_FINDINGS)


def test_it_may_stand_in_a_block_between_words() -> None:
    found = read(f"I looked.\n```json\n{answer(findings=[TRUE], summary='one thing')}\n```\nBye.")
    assert (found.findings[0].claim, found.summary) == ("it leaks", "one thing")


@pytest.mark.parametrize(
    "text",
    [
        "```a\n" * (ANSWER_CHARS // 5),
        f"```{' ' * (ANSWER_CHARS - 10)}x y",
        "{\n" * (ANSWER_CHARS // 2),
        "```\n{" * (ANSWER_CHARS // 5),
        '{"findings":' * (ANSWER_CHARS // 12),
    ],
    ids=["blocks", "blanks", "objects", "objects in blocks", "nested"],
)
def test_no_answer_takes_for_ever_to_read(text: str) -> None:
    assert problem(text)
    assert add_noted(ReviewAnswer(), text) == ReviewAnswer()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "there is no JSON in it"),
        ("LGTM", "there is no JSON in it"),
        ('{"head": ', "the JSON cannot be read"),
        (answer(head="f" * 40), f"but the version to review is {HEAD}: look at that one"),
        (answer(head=None), "`head` is missing"),
        (answer(head=HEAD[:6]), "`head` is `012345`"),
        (answer(head=" " * 40), "`head` is"),
        (answer(findings={}), "`findings` is not a list"),
        (answer(findings=["x"]), "finding 1 is not an object"),
        (answer(findings=[TRUE, {**TRUE, "claim": " "}]), "finding 2 has no `claim`"),
        (answer(findings=[{**TRUE, "severity": "odd"}]), "`severity` of finding 1 is `odd`: error, warning or note?"),
        (answer(earlier={}), "`earlier` is not a list"),
        (answer(earlier=[{"id": "f1", "now": "gone"}]), "needs an `id`, and `now`: fixed, refuted, open"),
        (answer(), "`earlier` says nothing of f1: fixed, refuted or open?"),
        (answer(earlier=[{"id": "f1", "now": now} for now in ("fixed", "open")]), "says both fixed and open of f1"),
    ],
)
def test_what_is_wrong_is_said_so_that_it_can_be_put_right(text: str, words: str) -> None:
    assert words in problem(text, "f1")


def test_who_repeats_itself_is_heard_once() -> None:
    twice = [{"id": "f1", "now": "fixed", "why": why} for why in ("I ran it", "really")]
    assert read(answer(earlier=twice), "f1").rulings == (Ruling("f1", "fixed", "I ran it"),)


@pytest.mark.parametrize(
    ("said", "path"),
    [
        ("src/./x.py", "src/x.py"),
        (" a/../b ", "b"),
        ("../etc/passwd", ""),
        ("/etc/passwd", ""),
        ("..", ""),
        (".git/hooks/post-checkout", ""),
        ("a/.GIT/config", ""),
        ("C:/x", ""),
        (".", ""),
        ("a\x1b[8m", ""),
        ("x" * 501, ""),
        (7, ""),
    ],
)
def test_a_path_leads_into_the_repository_or_nowhere(said: Any, path: str) -> None:
    assert tidy_path(said) == path
