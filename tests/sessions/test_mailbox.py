"""Letters to a running turn: found whatever became of the byte that wakes, and once however often they are posted."""

import contextlib
import os
import select
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.engines.letters import LetterBox
from paddock.sessions.mailbox import Letter, make_mailbox, post

TEXTS = [
    "plain",
    "quotes ' \" ` $(rm -rf /) \\",
    "line\nline\r\n\ttab",
    "\x1b[31mred\x1b[0m",
    "🦙 ümläut \u202e",
    "x" * 200_000,
    "",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_mailbox(tmp_path / "mail")
    return tmp_path / "mail"


@contextlib.contextmanager
def reading(folder: Path) -> Iterator[LetterBox]:
    box = LetterBox(str(folder))
    yield box
    os.close(box.fileno())


def take(box: LetterBox) -> list[Letter]:
    return [Letter(one.number, one.text, one.now, one.request) for one in box.take_all()]


def is_awake(box: LetterBox) -> bool:
    return bool(select.select([box], [], [], 0)[0])


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_letter_arrives_as_it_was_written(folder: Path, text: str) -> None:
    with reading(folder) as mailbox:
        assert not is_awake(mailbox)
        post(folder, Letter(7, text, now=True, request="p1"))
        assert is_awake(mailbox)
        assert take(mailbox) == [Letter(7, text, now=True, request="p1")]
        assert not is_awake(mailbox)


def test_what_was_posted_before_anybody_read_is_found_without_being_woken(folder: Path) -> None:
    for number in (12, 3, 100):
        post(folder, Letter(number, f"m{number}"))
    with reading(folder) as mailbox:
        assert [letter.number for letter in take(mailbox)] == [3, 12, 100]
        assert take(mailbox) == []


def test_posting_it_again_is_no_second_letter_and_changes_nothing(folder: Path) -> None:
    with reading(folder) as mailbox:
        post(folder, Letter(1, "first"))
        assert take(mailbox) == [Letter(1, "first")]
        post(folder, Letter(1, "other words"))
        assert take(mailbox) == []
        with reading(folder) as again:
            assert take(again) == [Letter(1, "first")], "a reader that starts again finds what was posted first"


def test_a_writer_that_leaves_does_not_end_the_pipe(folder: Path) -> None:
    with reading(folder) as mailbox:
        for number in range(1, 4):
            post(folder, Letter(number, "x"))
            assert [letter.number for letter in take(mailbox)] == [number]
            assert not is_awake(mailbox)


def test_strange_files_are_no_letters(folder: Path) -> None:
    (folder / "5.letter").write_bytes(b"{torn")
    (folder / "six.letter").write_bytes(b"{}")
    (folder / "7.draft").write_bytes(b"{}")
    with reading(folder) as mailbox:
        assert take(mailbox) == []


def test_a_pipe_that_was_replaced_by_a_file_is_not_written_to(folder: Path) -> None:
    os.unlink(folder / "wake")
    (folder / "wake").write_bytes(b"")
    post(folder, Letter(1, "x"))
    assert (folder / "wake").read_bytes() == b""
    assert (folder / "1.letter").exists()


@given(st.integers(1, 10**9), st.text(), st.booleans(), st.text(max_size=20))
def test_any_text_survives(
    tmp_path_factory: pytest.TempPathFactory, number: int, text: str, now: bool, request: str
) -> None:
    folder = tmp_path_factory.mktemp("mail")
    make_mailbox(folder)
    text, request = (words.encode("utf-8", "replace").decode() for words in (text, request))
    post(folder, Letter(number, text, now, request))
    with reading(folder) as mailbox:
        assert take(mailbox) == [Letter(number, text, now, request)]


def test_no_letter_is_written_through_what_an_agent_has_put_there(folder: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("as it was")
    for name in ("7.draft", "7.letter"):
        (folder / name).symlink_to(mine)
    post(folder, Letter(7, "hello"))
    os.mkfifo(folder / "8.draft")
    post(folder, Letter(8, "hello"))
    (folder / "9.letter").mkdir()
    post(folder, Letter(9, "hello"))
    assert mine.read_text() == "as it was"
    with reading(folder) as mailbox:
        assert [letter.number for letter in take(mailbox)] == [8]


def test_a_mailbox_that_is_gone_or_leads_elsewhere_gets_no_letter(folder: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    folder.rename(tmp_path / "moved")
    post(folder, Letter(7, "hello"))
    folder.symlink_to(elsewhere)
    post(folder, Letter(7, "hello"))
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("target", ["file", "/dev/zero"])
def test_a_wake_pipe_that_is_none_wakes_nobody(folder: Path, tmp_path: Path, target: str) -> None:
    (tmp_path / "file").write_text("")
    (folder / "wake").unlink()
    (folder / "wake").symlink_to(tmp_path / target)
    post(folder, Letter(7, "hello"))
    assert (tmp_path / "file").read_text() == ""
    assert (folder / "7.letter").exists()
