"""Updates of the Agent Client Protocol as entries of the trace: whatever an agent sends."""

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.summary import TurnSummary, observe
from paddock.core.trace import (
    TEXT_LIMIT,
    FileEdit,
    Partial,
    Text,
    ToolCall,
    ToolResult,
    ToolStatus,
    TraceEntry,
)
from paddock.engines.acp_updates import UpdateReader, read_end, read_usage
from paddock.engines.bridge_lines import BridgeParser, bridge_line
from paddock.engines.jsonline import Node

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
)
kinds = st.sampled_from(
    ["agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan", "usage_update", "new_kind"]
)
call_ids = st.sampled_from(["a", "b", "c"])
content = st.lists(
    st.fixed_dictionaries({"type": st.just("diff"), "path": st.text(max_size=5), "newText": st.text(max_size=30)})
    | st.fixed_dictionaries({"type": st.just("content"), "content": st.just({"type": "text", "text": "out"})})
    | anything,
    max_size=3,
)
updates = st.fixed_dictionaries(
    {"sessionUpdate": kinds},
    optional={
        "toolCallId": call_ids,
        "title": st.text(max_size=10) | anything,
        "status": st.sampled_from(["pending", "in_progress", "completed", "failed", "odd"]),
        "content": st.just({"type": "text", "text": "word "}) | content,
        "rawInput": anything,
        "rawOutput": anything,
        "entries": anything | st.lists(st.just({"content": "x", "status": "completed"}), max_size=2),
        "cost": anything,
        "messageId": st.sampled_from(["m1", "m2"]),
        "_meta": anything,
    },
)


def read_all(*updates: dict[str, Any]) -> list[TraceEntry]:
    reader = UpdateReader()
    entries = [entry for update in updates for entry in reader.read(Node(update))]
    return [*entries, *reader.flush()]


@given(st.lists(updates | anything, max_size=20))
def test_any_update_can_be_read_and_what_is_read_can_be_told(told: list[Any]) -> None:
    summary = TurnSummary()
    for entry in read_all(*told):
        assert list(BridgeParser().feed(bridge_line(entry))) == [entry]
        summary = observe(summary, entry)


@given(st.lists(updates, max_size=30))
def test_a_call_is_told_before_its_result_and_each_once(told: list[dict[str, Any]]) -> None:
    open_calls: set[str] = set()
    for entry in read_all(*told):
        match entry:
            case ToolCall():
                assert entry.call_id not in open_calls
                open_calls.add(entry.call_id)
            case FileEdit():
                assert entry.call_id in open_calls
            case ToolResult():
                open_calls.remove(entry.call_id)


@given(st.lists(st.text(alphabet="ab \n", max_size=12), max_size=30))
def test_words_are_kept_whole_however_they_are_cut(pieces: list[str]) -> None:
    entries = read_all(*({"sessionUpdate": "agent_message_chunk", "content": {"text": piece}} for piece in pieces))
    whole = "".join(pieces)
    assert "".join(entry.text for entry in entries if isinstance(entry, Partial)) == whole
    assert [entry.text for entry in entries if isinstance(entry, Text)] == (
        [whole.strip("\n")] if whole.strip() else []
    )


def test_an_answer_of_any_length_is_held_in_bounds() -> None:
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"text": "x" * 5_000}}
    [text] = [entry for entry in read_all(*[chunk] * 100) if isinstance(entry, Text)]
    assert len(text.text) <= TEXT_LIMIT


def test_messages_of_different_ids_are_different_texts() -> None:
    pieces = [("m1", "one "), ("m1", "still one"), ("m2", "two")]
    told = [
        {"sessionUpdate": "agent_message_chunk", "messageId": message, "content": {"text": text}}
        for message, text in pieces
    ]
    assert [entry.text for entry in read_all(*told) if isinstance(entry, Text)] == ["one still one", "two"]


def test_a_call_is_told_once_its_arguments_are_known_as_claude_agent_acp_sends_them() -> None:
    begun = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Terminal", "status": "pending", "rawInput": {}}
    known = {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "t",
        "rawInput": {"command": "make test"},
        "_meta": {"claudeCode": {"toolName": "Bash"}},
        "content": [{"type": "content", "content": {"type": "text", "text": "Run the tests"}}],
    }
    done = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed", "rawOutput": "3 passed"}
    calls = [entry for entry in read_all(begun, known, done) if isinstance(entry, ToolCall | ToolResult)]
    assert [getattr(call, "tool", "") for call in calls] == ["Bash", ""]
    assert isinstance(calls[0], ToolCall)
    assert calls[0].argument == "make test"
    assert calls[1] == ToolResult("t", ToolStatus.OK, "3 passed")


def test_a_command_as_codex_acp_sends_it_is_the_same_command_every_time() -> None:
    def call(number: int) -> dict[str, Any]:
        raw = {"command": ["/bin/bash", "-lc", "make"], "process_id": number, "started_at_ms": number}
        return {"sessionUpdate": "tool_call", "toolCallId": f"{number}", "kind": "execute", "rawInput": raw}

    ended = {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "1",
        "status": "failed",
        "rawOutput": {"formatted_output": "boom", "exit_code": 2},
    }
    entries = read_all(call(1), ended, call(2))
    first, second = (entry for entry in entries if isinstance(entry, ToolCall))
    assert (first.argument, first.digest) == ("make", second.digest)
    assert ToolResult("1", ToolStatus.ERROR, "boom", 2) in entries


def test_only_the_end_of_a_turn_is_a_success() -> None:
    ends = {
        reason: read_end(reason, 0).success
        for reason in ("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "", "new")
    }
    assert [reason for reason, success in ends.items() if success] == ["end_turn"]
    assert read_end("refusal", 0).refused


@given(anything)
def test_usage_of_any_shape_is_no_negative_number(usage: Any) -> None:
    tokens = read_usage(Node(usage))
    assert min(tokens.input_uncached, tokens.cache_read, tokens.cache_write, tokens.output) >= 0
    assert msgspec.json.encode(tokens)
