"""Text takes the columns that terminals give it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.cli.terminal.text import cut
from paddock.core.columns import columns, shorten


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("plain", 5),
        ("", 0),
        ("日本語", 6),
        ("ｆｕｌｌ", 8),
        ("e\u0301", 1),
        ("한", 2),
        ("\u1112\u1161\u11ab", 2),
        ("🚀", 2),
        ("👍🏽", 2),
        ("❤\ufe0f", 2),
        ("1\ufe0f\u20e3", 2),
        ("🇩🇪", 2),
        ("● ○ ◆ ✓ …", 9),
    ],
)
def test_text_takes_the_columns_terminals_give_it(text: str, taken: int) -> None:
    assert columns(text) == taken


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("日本語", 6, "日本語"),
        ("日本語です", 6, "日本…"),
        ("日本語です", 5, "日本…"),
        ("plain", 4, "pla…"),
        ("ab" + "e\u0301" * 3, 4, "abe\u0301…"),
    ],
)
def test_shortened_text_fits_and_keeps_marks_with_their_letters(text: str, limit: int, shown: str) -> None:
    assert shorten(text, limit) == shown


@given(st.text(), st.integers(2, 40))
def test_cut_text_always_fits(text: str, limit: int) -> None:
    assert columns(cut(text, limit)) <= limit


@given(st.text(max_size=30))
def test_text_that_fits_stays_as_it_is(text: str) -> None:
    assert shorten(text, max(2, columns(text))) == text
