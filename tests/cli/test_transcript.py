"""A turn in words: pieces of answers, edits, the end of an error, what is unknown."""

from hypothesis import given
from hypothesis import strategies as st

from paddock.cli.pages.transcript import PartialText, render_entry, stamp
from paddock.cli.terminal.amounts import money_words, token_words
from paddock.core.trace import Error, FileEdit, Text, ToolResult, ToolStatus, Uncounted


@given(st.lists(st.text("ab é中", min_size=1, max_size=8), min_size=1, max_size=8))
def test_pieces_and_what_comes_after_them_are_the_whole_answer(pieces: list[str]) -> None:
    partial, whole = PartialText(), "".join(pieces)[:8000]
    shown = ""
    for piece in pieces[:-1]:
        partial.add(piece)
        shown += partial.fresh()
    rest = partial.settle(whole)
    assert shown + (whole if rest is None else rest) == whole


def test_an_answer_that_differs_from_its_pieces_is_told_whole() -> None:
    partial = PartialText()
    partial.add("Hello wor")
    assert partial.fresh() == "Hello wor"
    assert partial.settle("Good bye") == "\nGood bye"


def test_pieces_nobody_watched_are_shown_only_while_the_answer_has_no_end() -> None:
    partial = PartialText()
    partial.add("I am about\x1b[31m to")
    assert partial.unfinished() == "I am about�[31m to"
    assert partial.settle("I am about to go.") is None
    assert partial.unfinished() == ""


def test_an_answer_without_an_end_is_told_once() -> None:
    partial = PartialText()
    partial.add("I am about to")
    assert [partial.unfinished(), partial.unfinished()] == ["I am about to", ""]


def test_an_error_is_told_by_its_last_lines() -> None:
    output = "\n".join(f"line {n}" for n in range(20)) + "\nTypeError: \x1b[2Jno"
    lines = render_entry(ToolResult("1", ToolStatus.ERROR, output)).splitlines()
    assert lines[0] == "  error:  (15 lines before)"
    assert lines[-1] == "    TypeError: �[2Jno"
    assert render_entry(ToolResult("1", ToolStatus.OK, output)) == "  ok: line 0  (+20 lines)"
    assert render_entry(Error("first\nsecond")) == "! first\n  second"


def test_an_edit_is_its_lines() -> None:
    assert render_entry(FileEdit("1", "a", "-x\n+y")) == "    -x\n    +y"


def test_a_time_stands_before_the_first_line_only() -> None:
    first, second = stamp(0.0, render_entry(Text("one\ntwo"))).splitlines()
    assert first.endswith(" one")
    assert second == "         two"
    assert stamp(None, "one") == "one"


def test_what_nobody_told_is_unknown_and_what_is_more_says_so() -> None:
    assert (token_words(0, 1), token_words(1200, 1), token_words(0, 0)) == ("unknown", ">1,200", "0")
    assert (money_words(None, uncounted=1), money_words(None), money_words(0.5, uncounted=2)) == (
        "unknown",
        "unpriced",
        ">$0.5000",
    )
    assert "tokens unknown" in render_entry(Uncounted(why="it does not tell"))
