"""A search finds what every word is found in, and the browser's finds the same."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.board import Board
from paddock.core.ids import TaskId
from paddock.core.tasks.task import Phase, Task
from paddock.views.board.rows import TaskRow, view_row
from paddock.views.board.search import search_rows, words_of


def row(name: str, title: str, phase: Phase, **fields: object) -> TaskRow:
    task = Task(TaskId(name), title, 1, phase, 0.0, 0.0, 3)
    return msgspec.structs.replace(view_row(Board(), task), **fields)


ROWS = [
    row("t1", "Fix the parser", Phase.RUNNING, agent="fixer", engine="claude", step="pytest", stuck="quiet for 6m"),
    row("t2", "Type api/invoices", Phase.READY, agent="typer", engine="codex", convoy="Types", reason="after memory"),
    row("t12", "Parse durations", Phase.APPROVAL, need="approve", after=("t1", "t2"), engine="claude"),
    row("t3", "An unicode Ärger", Phase.FAILED, need="failed", reason='said "no such file"'),
]
CASES = [
    ("", "t1 t2 t12 t3"),
    ("   -  ", "t1 t2 t12 t3"),
    ("pars", "t1 t12"),
    ("PARS claude running", "t1"),
    ("t1", "t1 t12"),
    ("id:t1", "t1"),
    ("phase:ready,running", "t1 t2"),
    ("phase:run", ""),
    ("convoy:types", "t2"),
    ("after:t2", "t12"),
    ("need:approve -engine:codex", "t12"),
    ("stuck", "t1"),
    ("-stuck claude", "t12"),
    ("-phase:failed -t2", "t1 t12"),
    ('"the parser"', "t1"),
    ('"no such file', "t3"),
    ("ärger", "t3"),
    ("convoy:", "t1 t12 t3"),
    ("nobody:knows", ""),
    (".*", ""),
]


@pytest.mark.parametrize(("text", "found"), CASES)
def test_every_word_is_found_in_some_field(text: str, found: str) -> None:
    assert " ".join(one.id for one in search_rows(ROWS, text)) == found


@given(st.text(max_size=30))
def test_whatever_is_typed_finds_some_and_with_a_minus_the_others(text: str) -> None:
    found = search_rows(ROWS, text)
    assert [one for one in ROWS if one in found] == found
    words = words_of(text)
    if len(words) == 1 and not words[0].startswith("-") and '"' not in text:
        others = search_rows(ROWS, f"-{words[0]}")
        assert sorted(one.id for one in (*found, *others)) == sorted(one.id for one in ROWS)
