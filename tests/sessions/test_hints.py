"""Files that agents without a fence can replace by anything: whatever is there, nobody waits and nothing is raised."""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from paddock.sessions.hints import MOST_BYTES, read_hint, write_hint


class Told(msgspec.Struct):
    at: float = 0.0
    words: str = ""


def _sparse(path: Path) -> None:
    path.touch()
    os.truncate(path, MOST_BYTES + 1)


PLANTED: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a folder": Path.mkdir,
    "a link to what never ends": lambda path: path.symlink_to("/dev/zero"),
    "no UTF-8": lambda path: path.write_bytes(b'{"at": 1, "words": "\xff\xfe"}'),
    "no number": lambda path: path.write_bytes(b'{"at": NaN}'),
    "too large a number": lambda path: path.write_bytes(b'{"at": 1e999}'),
    "too deep": lambda path: path.write_bytes(b'{"x": ' + b"[" * 300_000),
    "too large": _sparse,
    "something else": lambda path: path.write_bytes(b"[]"),
}


@pytest.mark.parametrize("what", PLANTED)
def test_what_is_planted_counts_as_missing(tmp_path: Path, what: str) -> None:
    PLANTED[what](tmp_path / "hint.json")
    assert read_hint(tmp_path / "hint.json", Told) is None


@pytest.mark.parametrize("what", ["a pipe", "a link to what never ends", "no UTF-8"])
def test_a_draft_that_is_planted_holds_nobody_up(tmp_path: Path, what: str) -> None:
    PLANTED[what](tmp_path / "hint.new")
    write_hint(tmp_path / "hint.json", Told(2.0))
    assert read_hint(tmp_path / "hint.json", Told) == Told(2.0)
