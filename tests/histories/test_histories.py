"""Logs that were written once open for ever, and tell the same story."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from paddock.core.kinds import all_kinds
from paddock.store.protocol import Author
from paddock.store.sqlite import SqliteStore
from tests.histories.record import FOLDER, Line, status_of
from tests.store.drafts import add

HISTORIES = sorted(FOLDER.glob("*.jsonl"))


def lines(history: Path) -> list[Line]:
    return [msgspec.json.decode(line, type=Line) for line in history.read_bytes().splitlines()]


def assert_holds(expected: Any, found: Any, place: str = "status") -> None:
    """Everything that was told then is told now; more may be told now."""
    if isinstance(expected, dict):
        for key, value in expected.items():
            assert key in found, f"{place}.{key} is gone"
            assert_holds(value, found[key], f"{place}.{key}")
    elif isinstance(expected, list):
        assert len(expected) == len(found), place
        for index, value in enumerate(expected):
            assert_holds(value, found[index], f"{place}[{index}]")
    else:
        assert expected == found, place


@pytest.mark.parametrize("history", HISTORIES, ids=lambda path: str(path.stem))
def test_a_recorded_history_opens_holds_and_tells_the_same_status(history: Path, tmp_path: Path) -> None:
    rows = [line.row() for line in lines(history)]
    store = SqliteStore(tmp_path / "log.db", create=True, announce=False)
    assert store.restore(rows) == len(rows)
    assert list(store.rows()) == rows
    board = store.board()
    assert board.unknown == {}
    expected = msgspec.json.decode(history.with_suffix(".status.json").read_bytes())
    assert_holds(expected, status_of(board))
    assert store.rebuild() is True
    assert store.append(add(), Author("ana"))[-1].task == f"t{len(board.tasks) + 1}"
    store.close()


def test_every_kind_of_event_is_in_some_history() -> None:
    recorded = {line.kind for history in HISTORIES for line in lines(history)}
    missing = sorted(set(all_kinds()) - recorded)
    assert missing == [], "add a chapter to tests/histories/story.py and run `python -m tests.histories.record NAME`"


def test_a_history_is_noticed_when_it_tells_another_status() -> None:
    with pytest.raises(AssertionError, match=r"status.a\[0\].b"):
        assert_holds({"a": [{"b": 1}]}, {"a": [{"b": 2, "c": 3}]})
