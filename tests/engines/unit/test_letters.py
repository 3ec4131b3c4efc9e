"""Letters are read as they were posted, and receipts are what the parser of bridges reads."""

import os
import select
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.trace import DialogClosed, DialogOpened, MessagesTaken
from paddock.engines.bridge_lines import BridgeParser, bridge_line
from paddock.engines.letters import LetterBox, receipt, said
from paddock.sessions.mailbox import Letter, make_mailbox, post


def described(letter: object) -> tuple[object, ...]:
    return tuple(getattr(letter, name) for name in Letter.__struct_fields__)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_mailbox(tmp_path / "mail")
    return tmp_path / "mail"


LETTERS = (
    Letter(12, "plain"),
    Letter(3, "quotes ' \" \\ and \0 NUL, \x1b[31m, \u2028, 🐎", now=True),
    Letter(40, "allow", request="r1"),
    Letter(100, "x" * 200_000),
)


STRANGE = (
    "not json",
    "[" * 100_000,
    "{}",
    "[]",
    '{"number": 7}',
    '{"number": 8, "text": "of another number"}',
    '{"number": 7, "text": ["no text"]}',
    '{"number": 7, "text": "x", "request": 5}',
)


def test_letters_are_found_as_they_were_posted_in_the_order_of_their_numbers(folder: Path) -> None:
    for letter in LETTERS:
        post(folder, letter)
    (folder / "x.letter").write_text("{}")
    box = LetterBox(str(folder))
    expected = sorted(map(described, LETTERS))
    assert [described(letter) for letter in box.waiting()] == expected
    assert [described(letter) for letter in box.take_all()] == expected
    assert box.take_all() == box.waiting() == []
    os.close(box.fileno())


@pytest.mark.parametrize("content", STRANGE, ids=range(len(STRANGE)))
def test_what_is_no_letter_is_passed_over(folder: Path, content: str) -> None:
    (folder / "7.letter").write_text(content)
    post(folder, LETTERS[0])
    box = LetterBox(str(folder))
    assert [letter.number for letter in box.take_all()] == [12]
    os.close(box.fileno())


def test_a_letter_waits_until_it_is_taken_and_one_that_comes_wakes_the_reader(folder: Path) -> None:
    box = LetterBox(str(folder))
    assert box.waiting() == []
    assert select.select([box], [], [], 0)[0] == []
    post(folder, LETTERS[0])
    assert select.select([box], [], [], 10)[0] == [box]
    (letter,) = box.waiting()
    assert select.select([box], [], [], 0)[0] == []
    assert [again.number for again in box.waiting()] == [12]
    box.take(letter)
    post(folder, LETTERS[0])
    assert box.waiting() == []
    os.close(box.fileno())


def test_a_folder_that_is_no_mailbox_is_refused(tmp_path: Path) -> None:
    (tmp_path / "wake").write_text("")
    with pytest.raises(OSError, match="not a mailbox"):
        LetterBox(str(tmp_path))
    with pytest.raises(OSError, match="No such file"):
        LetterBox(str(tmp_path / "nowhere"))


@given(st.lists(st.integers(1, 2**53), max_size=5), st.text())
def test_a_receipt_is_read_as_one(numbers: list[int], evidence: str) -> None:
    taken = MessagesTaken(tuple(numbers), evidence.encode("utf-8", "replace").decode())
    line = receipt(numbers, taken.evidence)
    assert line.count(b"\n") == 1
    assert list(BridgeParser().feed(line)) == [taken] == list(BridgeParser().feed(bridge_line(taken)))


def test_dialogs_are_read_as_they_are_said() -> None:
    opened = said({"type": "dialog", "request": "r1", "text": "May I?", "options": ["yes", "no"]})
    assert list(BridgeParser().feed(opened)) == [DialogOpened("r1", "May I?", ("yes", "no"))]
    assert list(BridgeParser().feed(said({"type": "dialog_closed", "request": "r1"}))) == [DialogClosed("r1")]
