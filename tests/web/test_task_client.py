"""What the task page works out by itself: lines and words of a change, drafts, and a transcript in parts."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.web.client import Client, client_in

HUNK: dict[str, Any] = {
    "header": "@@ -1,4 +1,4 @@",
    "lines": [
        {"k": " ", "old": 1, "new": 1, "t": "def parse(text):"},
        {"k": "-", "old": 2, "new": None, "t": '    total = int("x")'},
        {"k": "-", "old": 3, "new": None, "t": "    gone = 1"},
        {"k": "+", "old": None, "new": 2, "t": '    total = float("x")'},
        {"k": " ", "old": 4, "new": 3, "t": '    """begins'},
        {"k": "+", "old": None, "new": 4, "t": "    ends <script>alert(1)</script>"},
        {"k": "\\", "old": None, "new": None, "t": "no newline at the end of the file"},
    ],
}
FILE = {"path": "src/parse.py", "hunks": [HUNK]}


@pytest.fixture(scope="module")
def client(launch: Callable[[], Browser]) -> Iterator[Client]:
    with client_in(launch()) as found:
        yield found


def test_pieces_of_a_line_are_the_line_and_words_that_differ_are_marked(client: Client) -> None:
    pieces = client.run("lib/code.js", "return m.piecesOf(given.hunks[0], m.languageOf(given.path))", FILE)
    assert ["".join(piece["text"] for piece in line) for line in pieces] == [line["t"] for line in HUNK["lines"]]
    assert [piece["text"] for piece in pieces[1] if piece["marked"]] == ["int"]
    assert [piece["text"] for piece in pieces[3] if piece["marked"]] == ["float"]
    assert [piece["kind"] for piece in pieces[0] if piece["text"] == "def"] == ["kw"]
    assert not any(piece["marked"] for piece in pieces[2])


def test_lines_with_nothing_in_common_are_not_marked_word_by_word(client: Client) -> None:
    lines = [{"k": "-", "t": "alpha beta"}, {"k": "+", "t": "return 17 + 4"}]
    pieces = client.run("lib/code.js", "return m.piecesOf({lines: given}, null)", lines)
    assert not any(piece["marked"] for line in pieces for piece in line)


@pytest.mark.parametrize("text", ["x" * 300_000, "'" * 5_000, "\ufffd<b>\u202e", "`${" * 2_000])
def test_hostile_lines_are_only_cut_into_pieces(client: Client, text: str) -> None:
    lines = [{"k": "-", "t": text}, {"k": "+", "t": f"{text}!"}]
    code = "return given.flatMap((path) => m.piecesOf({lines: given.lines}, m.languageOf(path)))"
    pieces = client.run(
        "lib/code.js", code.replace("given.flatMap", "given.paths.flatMap"), {"paths": ["a.js", "b.py"], "lines": lines}
    )
    assert ["".join(piece["text"] for piece in line) for line in pieces] == [text, f"{text}!"] * 2


def test_unified_and_split_show_the_same_lines(client: Client) -> None:
    seen = client.run(
        "parts/task/diff-rows.js",
        """
        const places = (rows) => rows.flatMap((row) => row.header ? [] : m.placesOf(row, given.path));
        const split = m.splitRows(given);
        return {unified: places(m.unifiedRows(given)), split: places(split), rows: split.length};
        """,
        FILE,
    )
    assert sorted(seen["unified"]) == sorted(seen["split"])
    assert seen["rows"] == 1 + 5


def test_a_click_is_about_the_side_it_was_made_on(client: Client) -> None:
    seen = client.run(
        "parts/task/diff-rows.js",
        """
        const on = (side) => ({target: {closest: () => ({dataset: {side}})}});
        const [, , changed] = m.splitRows(given);
        const added = m.splitRows(given).at(-1);
        const clicks = [["old", changed], ["new", changed], ["old", added]];
        return clicks.map(([side, row]) => m.pointOf(on(side), row, "p"))
          .map(({side, line}) => `${side} ${line}`);
        """,
        FILE,
    )
    assert seen == ["old 2", "new 2", "new 4"]


def test_drafts_stay_in_the_browser_in_order_until_they_are_cleared(client: Client) -> None:
    seen = client.run(
        "lib/comment-drafts.js",
        """
        const drafts = m.draftsOf("repo", "t1");
        drafts.put({path: "b.py", side: "new", line: 2, text: "two"});
        drafts.put({path: "a.py", side: "old", line: 9, text: "nine"});
        drafts.put({path: "b.py", side: "new", line: 1, text: "one"});
        drafts.put({path: "b.py", side: "new", line: 2, text: "again"});
        drafts.put({path: "c.py", side: "new", line: 1, text: "  "});
        const kept = new m.Drafts("drafts.repo.t1").list.value.map(({path, line, text}) => `${path}:${line} ${text}`);
        drafts.remove({path: "a.py", side: "old", line: 9});
        const left = drafts.list.value.length;
        drafts.clear();
        return {kept, left, gone: localStorage.getItem("paddock.drafts.repo.t1")};
        """,
    )
    assert seen == {"kept": ["a.py:9 nine", "b.py:1 one", "b.py:2 again"], "left": 2, "gone": None}


def entries(*numbers: int) -> list[dict[str, Any]]:
    return [{"n": number, "type": "text", "text": str(number)} for number in numbers]


def test_only_the_last_entries_are_kept_and_what_is_before_them_can_be_asked_for(client: Client) -> None:
    parts = [
        {"turn": 1, "entries": entries(1, 2, 3), "first": 1, "more_before": False, "opening": {"said": []}},
        {"turn": 2, "entries": entries(1, 2), "first": 1, "more_before": False, "opening": {"said": []}},
    ]
    kept = client.run("lib/talk.js", "return m.trim(given, 3)", parts)
    assert [(part["turn"], [one["n"] for one in part["entries"]]) for part in kept] == [(1, [3]), (2, [1, 2])]
    assert (kept[0]["first"], kept[0]["more_before"], kept[0]["opening"]) == (3, True, None)
    assert client.run("lib/talk.js", "return m.trim(given, 2).length", parts) == 1


def test_a_call_is_shown_with_its_edits_and_its_result_whatever_comes_between(client: Client) -> None:
    part = {
        "turn": 1,
        "entries": [
            {"n": 1, "type": "call", "call_id": "c1", "tool": "Edit", "argument": "a.py"},
            {"n": 2, "type": "edit", "call_id": "c1", "path": "a.py", "diff": "+x"},
            {"n": 3, "type": "text", "text": "meanwhile"},
            {"n": 4, "type": "result", "call_id": "c1", "status": "ok", "output": "done"},
            {"n": 5, "type": "result", "call_id": "lost", "status": "ok", "output": "of an earlier page"},
            {"n": 6, "type": "call", "call_id": "c2", "tool": "Bash", "argument": "ls"},
        ],
    }
    [joined] = client.run("lib/talk.js", "return m.joined([given])", part)
    assert [one["n"] for one in joined["shown"]] == [1, 3, 5, 6]
    call, last = joined["shown"][0], joined["shown"][-1]
    assert (call["result"]["output"], len(call["edits"]), last["result"]) == ("done", 1, None)
