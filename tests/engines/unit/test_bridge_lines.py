"""A bridge's own lines come out as they went in, and everything else is left to the parser behind it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.trace import (
    TEXT_LIMIT,
    DialogClosed,
    DialogOpened,
    End,
    MessagesTaken,
    Progress,
    SessionStarted,
    Text,
    TokenUsage,
    TraceEntry,
    Usage,
    UsageScope,
)
from paddock.engines.bridge_lines import BridgeParser, bridge_line, reading_parser
from paddock.engines.claude_stream import ClaudeStreamParser
from paddock.engines.command import CommandEngine
from paddock.engines.protocol import MAX_LINE_BYTES, Source
from paddock.engines.settings import EngineSettings

ENTRIES: list[TraceEntry] = [
    MessagesTaken((3, 12), "echoed as a user message"),
    DialogOpened("p1", 'Run "rm -rf build"?\n', ("allow", "deny")),
    DialogClosed("p1"),
    SessionStarted("s-1", "opus"),
    Text("two\nlines"),
    End(success=True),
]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: type(entry).__name__)
def test_an_entry_comes_back_as_it_was_said(entry: TraceEntry) -> None:
    line = bridge_line(entry)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert list(BridgeParser().feed(line)) == [entry]


def test_lines_of_the_cli_go_to_its_own_parser() -> None:
    line = b'{"type":"system","subtype":"init","session_id":"s-1","model":"opus"}'
    assert list(BridgeParser(ClaudeStreamParser()).feed(line)) == list(ClaudeStreamParser().feed(line))


def test_only_standard_output_is_a_bridges_voice() -> None:
    said = bridge_line(MessagesTaken((3,)))
    for source in (Source.STDERR, Source.LOG):
        assert not any(isinstance(entry, MessagesTaken) for entry in BridgeParser().feed(said, source))


def test_a_line_that_only_begins_like_one_is_a_sign_of_life() -> None:
    assert list(BridgeParser().feed(b'{"paddock":{"type":"nonsense"}}')) == [Progress("unreadable line of the bridge")]


@given(st.binary(max_size=200), st.sampled_from(Source))
def test_no_bytes_make_it_raise(line: bytes, source: Source) -> None:
    parser = BridgeParser()
    list(parser.feed(line, source))
    list(parser.feed(b'{"paddock":' + line, source))
    list(parser.close())


@pytest.mark.parametrize(
    "entry",
    [
        b'{"type":"text","text":"x","more":' + b"[" * 100_000,
        b'{"type":"text","text":"\xff\xfe"}}',
        b'{"type":"text","text":"' + b"x" * MAX_LINE_BYTES + b'"}}',
    ],
    ids=["deep", "not UTF-8", "long"],
)
def test_a_line_that_nobody_could_mean_is_a_sign_of_life(entry: bytes) -> None:
    assert list(BridgeParser().feed(b'{"paddock":' + entry)) == [Progress("unreadable line of the bridge")]


def test_what_an_agent_says_in_a_bridges_place_is_bounded() -> None:
    absurd = Usage(TokenUsage(-5, output=2**62, cost_usd=-1e300), UsageScope.TURN)
    assert list(BridgeParser().feed(bridge_line(absurd))) == [
        Usage(TokenUsage(output=2**53, cost_usd=0.0), UsageScope.TURN)
    ]
    [text] = BridgeParser().feed(bridge_line(Text("x" * 1_000_000)))
    assert isinstance(text, Text)
    assert len(text.text) == TEXT_LIMIT


@pytest.mark.parametrize("listens", [True, False])
def test_an_engine_that_has_no_bridge_has_no_bridges_voice(listens: bool) -> None:
    """It prints what it likes, also the words of a file in the repository."""
    engine = CommandEngine("aider", EngineSettings(command=("aider",), listens=listens))
    told = list(reading_parser(engine).feed(bridge_line(DialogOpened("p1", "May I?", ("yes", "no")))))
    assert any(isinstance(entry, DialogOpened) for entry in told) == listens
