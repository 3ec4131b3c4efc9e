"""Comments on lines: one message, every word of it there, in order, and nothing that could pass for another comment."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core import events as ev
from paddock.core.errors import Misuse, PaddockError
from paddock.core.ids import TaskId, harmless
from paddock.core.intent.comments import (
    MOST_COMMENTS,
    TEXT_CHARS,
    CommentsRequest,
    LineComment,
    comment_on,
    word_comments,
)
from paddock.core.tasks.task import Phase
from tests.core.ledger import Ledger

paths = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=30).filter(str.isprintable)
texts = st.text(max_size=200).filter(lambda text: bool(text.strip()))
comments = st.builds(
    LineComment,
    path=paths,
    line=st.integers(1, 10**6),
    text=texts,
    side=st.sampled_from(["new", "old"]),
    quote=st.text(max_size=400),
)
HEADING = re.compile(r"^(\d+)\. `(.*):(\d+)`( \(before your change\))?$")


def read_back(text: str) -> list[tuple[str, int, str, str]]:
    """Path, line, side and words of each comment."""
    found: list[tuple[str, int, str, list[str]]] = []
    for line in text.split("\n"):
        if told := HEADING.match(line):
            assert int(told[1]) == len(found) + 1
            found.append((told[2], int(told[3]), "old" if told[4] else "new", []))
        elif found:
            found[-1][3].append(line.removeprefix("   "))
    return [(path, number, side, "\n".join(lines).strip()) for path, number, side, lines in found]


def words_of(text: str) -> str:
    """As they are told: harmless, and without white space at the ends of lines."""
    lines = harmless(text.replace("\r\n", "\n")).strip().split("\n")
    return "\n".join(f"   {line}".rstrip().removeprefix("   ") for line in lines)


@given(st.lists(comments, min_size=1, max_size=8))
def test_every_comment_is_told_in_order_and_can_be_told_from_the_others(given_ones: list[LineComment]) -> None:
    plain = tuple(LineComment(one.path, one.line, one.text, one.side) for one in given_ones)
    told = read_back(word_comments(CommentsRequest(plain)))
    ordered = sorted(plain, key=lambda one: (one.path, one.line, one.side))
    assert told == [(one.path, one.line, one.side, words_of(one.text).strip()) for one in ordered]


@given(st.lists(comments, min_size=1, max_size=8), st.text(max_size=50))
def test_whatever_is_written_the_message_is_plain_text(given_ones: list[LineComment], message: str) -> None:
    text = word_comments(CommentsRequest(tuple(given_ones), head="abc", message=message))
    assert harmless(text) == text
    assert text.isprintable() or "\n" in text
    assert len(read_back(text)) >= len(given_ones)


def test_it_reads_as_a_person_would_write_it() -> None:
    request = CommentsRequest(
        (
            LineComment("src/b.py", 7, "and here", quote="    return total"),
            LineComment("src/a.py", 41, "A negative delay is a broken server:\nraise."),
            LineComment("src/a.py", 3, "why?", side="old"),
        ),
        head="0123456789abcdef",
        message="Almost.",
    )
    assert word_comments(request) == (
        "Almost.\n\n"
        "3 comments on your change at 0123456789:\n\n"
        "1. `src/a.py:3` (before your change)\n   why?\n\n"
        "2. `src/a.py:41`\n   A negative delay is a broken server:\n   raise.\n\n"
        "3. `src/b.py:7`\n   > return total\n   and here"
    )


@pytest.mark.parametrize(
    ("comment", "words"),
    [
        (LineComment("", 1, "x"), "no changed file"),
        (LineComment("a\nb", 1, "x"), "no changed file"),
        (LineComment("a", 0, "x"), "no line 0"),
        (LineComment("a", 1, " \n"), "is empty"),
        (LineComment("a", 1, "x" * (TEXT_CHARS + 1)), "the limit is"),
    ],
)
def test_what_is_no_comment_is_refused(comment: LineComment, words: str) -> None:
    with pytest.raises(Misuse, match=words):
        word_comments(CommentsRequest((comment,)))


def test_none_and_too_many_are_refused() -> None:
    with pytest.raises(Misuse, match="no comment"):
        word_comments(CommentsRequest(()))
    with pytest.raises(Misuse, match="more than"):
        word_comments(CommentsRequest((LineComment("a", 1, "x"),) * (MOST_COMMENTS + 1)))


def test_they_go_to_the_agent_as_one_message_or_with_a_rejection() -> None:
    ledger = Ledger()
    ledger.attempt(ledger.add(), "approval", head="c" * 40)
    assert ledger.board.tasks[TaskId("t1")].phase is Phase.APPROVAL
    two = (LineComment("a.py", 1, "one"), LineComment("a.py", 2, "two"))
    [sent] = comment_on(ledger.board, TaskId("t1"), CommentsRequest(two))
    assert isinstance(sent.event, ev.MessageSent)
    [rejected] = comment_on(ledger.board, TaskId("t1"), CommentsRequest(two, then="reject"))
    assert isinstance(rejected.event, ev.TaskRejected)
    assert rejected.event.message == sent.event.text
    ledger.write(rejected)
    with pytest.raises(PaddockError, match="nothing to reject"):
        comment_on(ledger.board, TaskId("t1"), CommentsRequest(two, then="reject"))


def test_a_comment_on_another_version_says_so() -> None:
    mixed = (LineComment("a.py", 1, "now", head="b" * 40), LineComment("a.py", 2, "then", "old", head="c" * 40))
    told = word_comments(CommentsRequest(mixed, head="b" * 40))
    assert "1. `a.py:1`\n   now" in told
    assert "2. `a.py:2` (before your change) (in your earlier version cccccccccc)\n   then" in told
