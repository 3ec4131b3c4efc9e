"""No parser ever raises, whatever the bytes; what it yields can be written and stays small."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.core.summary import TurnSummary, observe
from paddock.core.trace import Progress, TraceEntry
from paddock.engines.claude_stream import ClaudeStreamParser
from paddock.engines.protocol import MAX_LINE_BYTES, Parser, Source
from paddock.engines.registry import BUILT_IN, load_engine
from paddock.engines.settings import EngineSettings

RECORDED = Path(__file__).parent / "recorded"
COMMANDS = {
    "text": EngineSettings(command=("x",), session_id_regex=r"id=(\w+)"),
    "stream": EngineSettings(command=("x",), format="claude-stream", session_id_regex=r"id=(\w+)"),
    "jsonl": EngineSettings(command=("x",), format="codex-jsonl"),
}
NAMES = (*BUILT_IN, *COMMANDS)
ENTRY_LIMIT = 64_000

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def recorded_lines() -> list[bytes]:
    return [line for path in sorted(RECORDED.iterdir()) for line in path.read_bytes().splitlines()]


LINES = recorded_lines()


def parser_of(name: str) -> Parser:
    return load_engine(name, COMMANDS).parser()


def absorb(parser: Parser, lines: list[bytes], source: Source) -> TurnSummary:
    summary = TurnSummary()
    entries: list[TraceEntry] = []
    for line in lines:
        entries += parser.feed(line, source)
    entries += parser.close()
    for entry in entries:
        encoded = msgspec.json.encode(entry)
        assert len(encoded) < ENTRY_LIMIT
        assert msgspec.json.decode(encoded, type=TraceEntry) == entry
        summary = observe(summary, entry)
    return summary


@st.composite
def damaged_lines(draw: st.DrawFn) -> bytes:
    """A recorded line with one value, at any depth, replaced by anything."""
    line = draw(st.sampled_from(LINES))
    try:
        document = json.loads(line)
    except ValueError:
        return line[: draw(st.integers(0, len(line)))]
    spots = list(_spots(document))
    if spots:
        holder, key = draw(st.sampled_from(spots))
        holder[key] = draw(json_values)
    return json.dumps(document).encode()


def _spots(value: Any) -> Any:
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _spots(value[key])


@pytest.mark.parametrize("name", NAMES)
@given(lines=st.lists(st.binary(max_size=200), max_size=8), source=st.sampled_from(Source))
@settings(max_examples=40, deadline=None)
def test_no_parser_raises_on_garbage(name: str, lines: list[bytes], source: Source) -> None:
    absorb(parser_of(name), lines, source)


@pytest.mark.parametrize("name", NAMES)
@given(lines=st.lists(damaged_lines(), min_size=1, max_size=6), source=st.sampled_from(Source))
@settings(max_examples=60, deadline=None)
def test_no_parser_raises_on_lines_with_a_field_of_the_wrong_type(
    name: str, lines: list[bytes], source: Source
) -> None:
    absorb(parser_of(name), lines, source)


ODDITIES = {
    "huge": b'{"type":"assistant","x":"' + b"a" * MAX_LINE_BYTES + b'"}',
    "huge and binary": b"\xff" * (MAX_LINE_BYTES + 1),
    "deep": b'{"type":' * 100_000,
    "deep and closed": b'{"type":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "half a surrogate": b'{"type":"text","part":{"text":"\\ud83d"},"text":"\\udc00","message":"\\ud800"}',
    "not a number": b'{"type":"result","total_cost_usd":NaN,"usage":{"input_tokens":Infinity,"output_tokens":-5}}',
    "endless number": b'{"type":"result","usage":{"output_tokens":' + b"9" * 10_000 + b"}}",
    "nul": b"\0\0\0",
    "empty object": b"{}",
    "no object": b'["type"]',
    "carriage returns": b"\r\r\r\n",
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("oddity", ODDITIES)
def test_no_parser_raises_on_a_huge_deep_or_malformed_line(name: str, oddity: str) -> None:
    for source in Source:
        absorb(parser_of(name), [ODDITIES[oddity], ODDITIES[oddity]], source)


@pytest.mark.parametrize("name", ["claude", "codex", "gemini", "opencode", "copilot"])
def test_an_unreadable_line_is_a_sign_of_life_and_nothing_more(name: str) -> None:
    assert list(parser_of(name).feed(b"\xff\xfe")) == [Progress("unreadable line")]
    assert list(parser_of(name).feed(b"  \n")) == []
    assert list(parser_of(name).feed(ODDITIES["huge"])) == [Progress("unreadable line")]


def test_numbers_no_machine_could_count_to_are_not_believed() -> None:
    summary = absorb(parser_of("claude"), [ODDITIES["not a number"], ODDITIES["endless number"]], Source.STDOUT)
    assert summary.usage.output <= 2**53
    assert summary.usage.input_total == 0


def test_a_parser_remembers_only_so_many_messages() -> None:
    parser = ClaudeStreamParser()
    for number in range(1000):
        line = {"type": "assistant", "message": {"id": f"m{number}", "content": [], "usage": {"input_tokens": 1}}}
        list(parser.feed(json.dumps(line).encode()))
    assert len(vars(parser)["_messages"]) <= 64


def test_a_message_on_several_lines_is_counted_once() -> None:
    line = {
        "type": "assistant",
        "message": {"id": "m", "content": [], "usage": {"input_tokens": 9, "output_tokens": 1}},
    }
    summary = absorb(parser_of("claude"), [json.dumps(line).encode()] * 3, Source.STDOUT)
    assert (summary.usage.input_uncached, summary.usage.output) == (9, 1)
