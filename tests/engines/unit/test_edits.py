"""Edits as small diffs, from the arguments of each CLI's tools."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.trace import DIFF_LIMIT, FileEdit
from paddock.engines.edits import DIFF_LINES, read_edits
from paddock.engines.jsonline import Node
from paddock.engines.registry import load_engine

anything = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.parametrize(
    "arguments",
    [
        {"file_path": "a.py", "old_string": "x = 1\ny = 2", "new_string": "x = 1\ny = 3"},
        {"filePath": "a.py", "oldString": "x = 1\ny = 2", "newString": "x = 1\ny = 3"},
        {"path": "a.py", "old_str": "x = 1\ny = 2", "new_str": "x = 1\ny = 3"},
        {"file_path": "a.py", "edits": [{"old_string": "x = 1\ny = 2", "new_string": "x = 1\ny = 3"}]},
    ],
)
def test_a_replacement_is_shown_by_its_lines(arguments: dict[str, object]) -> None:
    assert list(read_edits("1", Node(arguments))) == [FileEdit("1", "a.py", " x = 1\n-y = 2\n+y = 3", 1, 1)]


def test_a_whole_file_is_all_new() -> None:
    assert list(read_edits("1", Node({"file_path": "a", "content": "one\ntwo\n"}))) == [
        FileEdit("1", "a", "+one\n+two", 2, 0)
    ]


@pytest.mark.parametrize("arguments", [{"file_path": "a"}, {"command": "ls"}, {"content": "no file"}, [], None, "x"])
def test_a_call_that_shows_no_change_is_no_edit(arguments: object) -> None:
    assert list(read_edits("1", Node(arguments))) == []


def test_a_long_edit_is_cut_and_says_so() -> None:
    whole = "\n".join(f"line {n}" for n in range(100))
    [edit] = read_edits("1", Node({"file_path": "a", "content": whole}))
    lines = edit.diff.splitlines()
    assert len(lines) == DIFF_LINES
    assert lines[-1] == "… 87 more lines"
    assert (edit.insertions, edit.deletions) == (100, 0), "those that are not shown count"


@given(anything)
def test_no_argument_makes_it_fail(value: object) -> None:
    for edit in read_edits("1", Node(value)):
        assert len(edit.diff) <= DIFF_LIMIT


def test_claudes_edit_follows_its_call() -> None:
    block = {"type": "tool_use", "id": "c1", "name": "Edit"}
    block["input"] = {"file_path": "a", "old_string": "x", "new_string": "y"}  # type: ignore[assignment]
    line = json.dumps({"type": "assistant", "message": {"id": "m", "content": [block]}}).encode()
    entries = list(load_engine("claude").parser().feed(line))
    assert [type(entry).__name__ for entry in entries] == ["ToolCall", "FileEdit"]
    assert entries[1] == FileEdit("c1", "a", "-x\n+y", 1, 1)
