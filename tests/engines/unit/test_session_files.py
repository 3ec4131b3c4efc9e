"""The files in which claude 2.1.325 and codex 0.166.0 kept a conversation held in a terminal, read again.

In both: a refusal for an hour, a bad key, a tool with a message sent while it ran, and a turn interrupted or ended.
"""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.core.trace import (
    End,
    Prompted,
    RateLimited,
    SessionStarted,
    Text,
    TokenUsage,
    ToolCall,
    ToolResult,
    ToolStatus,
    TraceEntry,
    TroubleKind,
    Usage,
    UsageScope,
)
from paddock.engines.protocol import Parser
from paddock.engines.registry import load_engine
from paddock.engines.settings import EngineSettings

FILES = Path(__file__).parent / "session_files"
MINE = {"mine": EngineSettings(command=("mine",), interactive=("mine",), session_log="/x/{session}.jsonl")}
NAMES = ("claude", "codex", "mine")


def session_parser(name: str) -> Parser:
    parser = load_engine(name, MINE).session_parser()
    assert parser is not None
    return parser


def read(name: str) -> list[TraceEntry]:
    parser = session_parser(name)
    lines = (FILES / f"{name}.jsonl").read_bytes().splitlines(keepends=True)
    return [entry for line in lines for entry in parser.feed(line)]


def words(entries: list[TraceEntry]) -> list[str]:
    return [entry.text.partition(" <<")[0] for entry in entries if isinstance(entry, Prompted)]


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_every_message_of_the_user_is_told_once(name: str) -> None:
    assert words(read(name)) == ["limited", "auth", "gated", "while busy\nplease", "interrupted"]


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_the_session_its_tools_and_its_words_are_told(name: str) -> None:
    entries = read(name)
    [session] = [entry for entry in entries if isinstance(entry, SessionStarted)]
    assert len(session.session_id) == 36
    calls = [entry for entry in entries if isinstance(entry, ToolCall)]
    assert [call.argument for call in calls] == ["sleep 6", "sleep 60"]
    results = [entry for entry in entries if isinstance(entry, ToolResult)]
    assert [result.call_id for result in results] == [call.call_id for call in calls]
    assert [result.status for result in results] == [ToolStatus.OK, ToolStatus.ERROR]
    said = [entry.text for entry in entries if isinstance(entry, Text)]
    assert said == {"claude": ["done gated", "never"], "codex": ["Done."]}[name]


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_a_turn_has_one_end_and_a_refused_one_is_no_success(name: str) -> None:
    entries = read(name)
    ends = [entry.success for entry in entries if isinstance(entry, End)]
    # codex was still waiting out the first refusal when the second message joined its turn.
    assert ends == {"claude": [False, False, True, True], "codex": [False, True, False]}[name]
    refusals = [entry.kind for entry in entries if isinstance(entry, RateLimited)]
    expected = {"claude": [TroubleKind.PER_MINUTE, TroubleKind.AUTH], "codex": [TroubleKind.AUTH]}
    assert refusals == expected[name]


@pytest.mark.parametrize(("name", "calls"), [("claude", 4), ("codex", 3)])
def test_the_tokens_of_each_call_add_up(name: str, calls: int) -> None:
    used = [entry for entry in read(name) if isinstance(entry, Usage)]
    assert {entry.scope for entry in used} == {UsageScope.DELTA}
    total = TokenUsage()
    for entry in used:
        total = total.plus(entry.tokens)
    assert (total.input_total, total.output) == (100 * calls, 10 * calls)


def test_a_file_of_unknown_format_tells_its_texts() -> None:
    [entry] = session_parser("mine").feed(b'{"a": ["one", {"b": "two\\nlines"}], "c": 3}\n')
    assert entry == Prompted("one\ntwo\nlines")
    assert list(session_parser("mine").feed(b"user> plain words\n")) == [Prompted("user> plain words")]


LINES = [line for name in ("claude", "codex") for line in (FILES / f"{name}.jsonl").read_bytes().splitlines()]


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_no_bytes_make_a_reader_of_session_files_raise(name: str, data: st.DataObject) -> None:
    parser = session_parser(name)
    for _ in range(3):
        line = data.draw(st.binary(max_size=100) | st.sampled_from(LINES))
        cut = data.draw(st.integers(0, len(line)))
        for piece in (line, line[:cut], line.replace(b'"', b"", cut % 9), line.replace(b"{", b"[1,", 1)):
            for entry in parser.feed(piece):
                assert msgspec.json.decode(msgspec.json.encode(entry), type=TraceEntry) == entry
    assert list(parser.close()) == []
