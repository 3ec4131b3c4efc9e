"""The JSON events of `opencode run --format json`."""

from collections.abc import Iterator

from paddock.core.trace import (
    ERROR_LIMIT,
    ID_LIMIT,
    OUTPUT_LIMIT,
    TEXT_LIMIT,
    End,
    Progress,
    SessionStarted,
    Text,
    TokenUsage,
    ToolCall,
    ToolResult,
    ToolStatus,
    TraceEntry,
    Usage,
    UsageScope,
)
from paddock.engines.claude_stream import tool_argument
from paddock.engines.edits import read_edits
from paddock.engines.json_stream import JsonStream
from paddock.engines.jsonline import Node
from paddock.engines.trouble import describe_error


class OpencodeParser(JsonStream):
    def __init__(self) -> None:
        self._session = ""

    def read_event(self, event: Node) -> Iterator[TraceEntry]:
        session = event.text("sessionID", limit=ID_LIMIT)
        if session and not self._session:
            self._session = session
            yield SessionStarted(session)
        part = event.at("part")
        match event.text("type"):
            case "text":
                yield Text(part.text("text", limit=TEXT_LIMIT))
            case "tool_use":
                yield from _tool(part)
            case "step_finish":
                yield from _step_finish(part)
            case "error":
                yield from _error(event.at("error"))
            case kind:
                yield Progress(kind[:ID_LIMIT])


def _tool(part: Node) -> Iterator[TraceEntry]:
    """A tool is reported once, when it has ended."""
    call, state = part.text("callID", limit=ID_LIMIT), part.at("state")
    yield ToolCall(call, part.text("tool", limit=ID_LIMIT), tool_argument(state.at("input")), state.digest("input"))
    yield from read_edits(call, state.at("input"))
    code = state.whole("metadata", "exit")
    failed = state.text("status") == "error" or code not in (None, 0)
    output = state.text("output", limit=OUTPUT_LIMIT) or state.text("error", limit=OUTPUT_LIMIT)
    yield ToolResult(call, ToolStatus.ERROR if failed else ToolStatus.OK, output, code)


def _step_finish(part: Node) -> Iterator[TraceEntry]:
    tokens = TokenUsage(
        input_uncached=part.count("tokens", "input"),
        cache_write=part.count("tokens", "cache", "write"),
        cache_read=part.count("tokens", "cache", "read"),
        output=part.count("tokens", "output") + part.count("tokens", "reasoning"),
        cost_usd=part.price("cost"),
    )
    yield Usage(tokens, UsageScope.DELTA)
    reason = part.text("reason", limit=ID_LIMIT)
    if reason != "tool-calls":
        yield End(reason == "stop", reason, refused=reason == "content-filter")


def _error(error: Node) -> Iterator[TraceEntry]:
    data = error.at("data")
    message = data.text("message", limit=ERROR_LIMIT) or error.text("name", limit=ID_LIMIT) or "error"
    status = data.whole("statusCode")
    yield describe_error(message, status, _seconds(data.text("responseHeaders", "retry-after")))
    yield End(success=False, reason=message)


def _seconds(header: str) -> float | None:
    return float(header) if header.isascii() and header.isdigit() and len(header) < 10 else None
