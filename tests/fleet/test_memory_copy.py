"""A copy of a conversation whose agent is at work on it, and against it."""

import os
from pathlib import Path

import pytest

from paddock.fleet.attempts.memory_copy import copy_conversation
from paddock.git.disk import remove_tree


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "source" / "logs").mkdir(parents=True)
    return tmp_path / "source"


def copied(source: Path, most_bytes: int = 1 << 20) -> dict[str, str]:
    target = source.with_name("copy")
    copy_conversation(source, target, most_bytes)
    files = [path for path in target.rglob("*") if path.is_file() and not path.is_symlink()]
    return {str(path.relative_to(target)): path.read_text() for path in files}


def test_files_are_copied_and_logs_to_their_last_whole_line(source: Path) -> None:
    (source / "logs" / "a.jsonl").write_text("one\ntwo\nthr")
    (source / "logs" / "b.jsonl").write_text("cut")
    (source / "settings").write_text("kept as it is")
    (source / "settings").chmod(0o4755)
    assert copied(source) == {"logs/a.jsonl": "one\ntwo\n", "logs/b.jsonl": "cut", "settings": "kept as it is"}
    assert (source.with_name("copy") / "settings").stat().st_mode & 0o7777 == 0o700


def test_pipes_devices_and_what_is_larger_than_any_conversation_are_left_out(source: Path) -> None:
    os.mkfifo(source / "pipe.jsonl")
    (source / "zero.jsonl").symlink_to("/dev/zero")
    with open(source / "sparse.jsonl", "wb") as file:
        file.truncate(1 << 50)
    (source / "unread").write_text("x")
    (source / "unread").chmod(0)
    (source / "small").write_text("small")
    assert copied(source).keys() - {"unread"} == {"small"}


def test_links_stay_links_and_what_they_lead_to_is_neither_read_nor_cut(source: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.jsonl"
    mine.write_text("a secret\nand more")
    (source / "a.jsonl").symlink_to(mine)
    (source / "folder").symlink_to(tmp_path)
    assert copied(source) == {}
    assert mine.read_text() == "a secret\nand more"
    assert (source.with_name("copy") / "folder").is_symlink()


def test_a_folder_that_becomes_a_link_while_it_is_copied_leads_nowhere(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "key").write_text("a secret")
    (source / "first").write_text("copied before the folders are")
    read = os.read

    def swap(opened: int, count: int) -> bytes:
        if not (source / "logs").is_symlink():
            (source / "logs").rename(source / "moved")
            (source / "logs").symlink_to(tmp_path / "mine")
        return read(opened, count)

    monkeypatch.setattr("os.read", swap)
    assert list(copied(source)) == ["first"]


def test_folders_deeper_than_python_follows_end_the_copy_of_them_only(source: Path) -> None:
    at = os.open(source, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d", dir_fd=at)
        inner = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = inner
    os.close(at)
    (source / "small").write_text("small")
    assert copied(source) == {"small": "small"}
    remove_tree(source)
