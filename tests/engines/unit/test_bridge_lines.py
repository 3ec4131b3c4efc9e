"""A bridge's own lines come out as they went in, and everything else is left to the parser behind it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.trace import (
    DialogClosed,
    DialogOpened,
    End,
    MessagesTaken,
    Progress,
    SessionStarted,
    Text,
    TraceEntry,
)
from paddock.engines.bridge_lines import BridgeParser, bridge_line
from paddock.engines.claude_stream import ClaudeStreamParser
from paddock.engines.protocol import Source

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
