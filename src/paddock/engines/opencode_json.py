"""The JSON events of `opencode run --format json`."""

from collections.abc import Iterator

from paddock.core import trace
from paddock.engines.claude_stream import tool_argument
from paddock.engines.edits import read_edits
from paddock.engines.json_stream import JsonStream
from paddock.engines.jsonline import Node
from paddock.engines.trouble import describe_error


class OpencodeParser(JsonStream):
    def __init__(self) -> None:
        self._session = ""

    def read_event(self, event: Node) -> Iterator[trace.TraceEntry]:
        session = event.word("sessionID")
        if session and not self._session:
            self._session = session
            yield trace.SessionStarted(session)
        part = event.at("part")
        match event.word("type"):
            case "text":
                yield trace.Text(part.text("text", limit=trace.TEXT_LIMIT))
            case "tool_use":
                yield from _tool(part)
            case "step_finish":
                yield from _step_finish(part)
            case "error":
                yield from _error(event.at("error"))
            case kind:
                yield trace.Progress(kind)


def _tool(part: Node) -> Iterator[trace.TraceEntry]:
    """A tool is reported once, when it has ended."""
    call, state = part.word("callID"), part.at("state")
    yield trace.ToolCall(call, part.word("tool"), tool_argument(state.at("input")), state.digest("input"))
    yield from read_edits(call, state.at("input"))
    code = state.whole("metadata", "exit")
    failed = state.text("status") == "error" or code not in (None, 0)
    output = state.text("output", limit=trace.OUTPUT_LIMIT) or state.text("error", limit=trace.OUTPUT_LIMIT)
    yield trace.ToolResult(call, trace.ToolStatus.ERROR if failed else trace.ToolStatus.OK, output, code)


def _step_finish(part: Node) -> Iterator[trace.TraceEntry]:
    tokens = trace.TokenUsage(
        input_uncached=part.count("tokens", "input"),
        cache_write=part.count("tokens", "cache", "write"),
        cache_read=part.count("tokens", "cache", "read"),
        output=part.count("tokens", "output") + part.count("tokens", "reasoning"),
        cost_usd=part.price("cost"),
    )
    yield trace.Usage(tokens, trace.UsageScope.DELTA)
    reason = part.word("reason")
    if reason != "tool-calls":
        yield trace.End(reason == "stop", reason, refused=reason == "content-filter")


def _error(error: Node) -> Iterator[trace.TraceEntry]:
    data = error.at("data")
    message = data.text("message", limit=trace.ERROR_LIMIT) or error.word("name") or "error"
    status = data.whole("statusCode")
    yield describe_error(message, status, _seconds(data.text("responseHeaders", "retry-after")))
    yield trace.End(success=False, reason=message)


def _seconds(header: str) -> float | None:
    return float(header) if header.isascii() and header.isdigit() and len(header) < 10 else None
