"""Filters over rows find what filters over tasks find."""

import pytest

from paddock.core.filter.errors import FilterError
from paddock.core.filter.fields import FIELDS
from paddock.core.filter.tasks import task_readers
from paddock.views.board.row_filter import filter_rows, row_readers
from tests.views.filter_cases import CASES


@pytest.mark.parametrize(("text", "found"), CASES.found)
def test_a_filter_finds_the_rows_it_tells_of(text: str, found: str) -> None:
    assert " ".join(row.id for row in filter_rows(CASES.rows, text, CASES.now)) == found


@pytest.mark.parametrize(("text", "problem", "start", "end"), CASES.mistakes)
def test_a_mistake_is_told_with_its_place(text: str, problem: str, start: int, end: int) -> None:
    with pytest.raises(FilterError) as refused:
        filter_rows(CASES.rows, text, CASES.now)
    assert (refused.value.problem, refused.value.start, refused.value.end) == (problem, start, end)


def test_a_row_has_every_field_of_a_task() -> None:
    rows, tasks = row_readers(0.0), task_readers(0.0, {})
    assert (rows.words.keys(), rows.numbers.keys()) == (tasks.words.keys(), tasks.numbers.keys())


def test_every_field_is_tried() -> None:
    tried = " ".join(text for text, _ in CASES.found)
    assert [name for name in FIELDS if name not in tried] == []
