"""Ids and the words people write: what is accepted, what is shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.errors import Misuse
from paddock.core.ids import (
    MOST_MARKS,
    AttemptId,
    attempt_id,
    attempt_number,
    branch_name,
    harmless,
    parse_task,
    printable,
    task_id,
    task_number,
    task_of,
)
from paddock.core.kinds import all_kinds, event_class
from paddock.core.wording import check_title, derive_title


@given(st.integers(1, 999_999_999), st.integers(1, 999_999))
def test_ids_read_back_as_they_were_written(task: int, attempt: int) -> None:
    name = attempt_id(task_id(task), attempt)
    assert (task_number(task_of(name)), attempt_number(name)) == (task, attempt)
    assert parse_task(name) == parse_task(f" T{task} ") == task_id(task)


@pytest.mark.parametrize("word", ["", "t", "t0", "t01", "41", "t1.", "t1.0", "t4²", "t1\n\x1b[2J", "t9999999999"])
def test_what_is_no_id_is_misuse_and_shown_safely(word: str) -> None:
    with pytest.raises(Misuse) as refused:
        parse_task(word)
    assert refused.value.message.isprintable()


@given(st.text())
def test_printable_text_is_one_safe_line_of_bounded_length(text: str) -> None:
    shown = printable(text, 40)
    assert shown.isprintable()
    assert len(shown) <= 40


@given(st.integers(0, 40), st.sampled_from(["\u0301\u0316", "\u0e47", "\u20dd", "\u064b"]))
def test_marks_are_not_piled_up_over_other_lines(count: int, marks: str) -> None:
    text = f"a{marks * count}b── ─────────…"
    kept = (marks * count)[:MOST_MARKS]
    assert printable(text) == harmless(text) == f"a{kept}b── ─────────…"
    assert printable("Tiếng Việt, שָׁלוֹם, ภาษาไทยที่นี่, नमस्ते") == "Tiếng Việt, שָׁלוֹם, ภาษาไทยที่นี่, नमस्ते"


@given(st.text(min_size=1))
def test_every_brief_gives_a_title_that_is_accepted(brief: str) -> None:
    check_title(derive_title(brief))


@pytest.mark.parametrize(
    ("title", "branch"),
    [
        ("Fix: the parser!", "paddock/t7-fix-the-parser"),
        ("—", "paddock/t7"),
        ("Größe ändern", "paddock/t7-gr-e-ndern"),
        ("../../etc/passwd", "paddock/t7-etc-passwd"),
        ("x" * 300, "paddock/t7-" + "x" * 40),
    ],
)
def test_branches_are_named_after_task_and_title(title: str, branch: str) -> None:
    assert branch_name(task_id(7), title) == branch


def test_every_kind_is_found_by_its_name_and_no_two_share_one() -> None:
    kinds = all_kinds()
    assert all(event_class(kind) is event for kind, event in kinds.items())
    assert len(set(kinds.values())) == len(kinds)
    assert event_class("task.teleported") is None
    assert event_class("unknown") is None


def test_an_attempt_names_its_task() -> None:
    assert task_of(AttemptId("t41.2")) == "t41"
