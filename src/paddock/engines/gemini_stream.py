"""The stream-json format of gemini."""

from collections.abc import Iterator

from paddock.core.trace import (
    ERROR_LIMIT,
    ID_LIMIT,
    OUTPUT_LIMIT,
    TEXT_LIMIT,
    End,
    ModelTokens,
    Partial,
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
from paddock.engines.jsonline import Node, line_text
from paddock.engines.trouble import classify, describe_error


class GeminiParser(JsonStream):
    """An answer comes in pieces; they are put together until something else comes, so that a line of it is whole."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0

    def read_event(self, event: Node) -> Iterator[TraceEntry]:
        if event.text("type") == "message" and event.text("role") == "assistant":
            yield from self._answer(event.text("content"))
        else:
            yield from self._flush()
            yield from _translate(event)

    def close(self) -> Iterator[TraceEntry]:
        return self._flush()

    def read_complaint(self, line: bytes) -> Iterator[TraceEntry]:
        """stderr is full of warnings and stack traces; only an attempt that failed is news."""
        text = line_text(line, ERROR_LIMIT)
        trouble = classify(text) if text.startswith("Attempt ") and "failed" in text else None
        if trouble is not None:
            yield trouble

    def _answer(self, piece: str) -> Iterator[TraceEntry]:
        if self._length + len(piece) > TEXT_LIMIT:
            yield from self._flush()
        self._pieces.append(piece[:TEXT_LIMIT])
        self._length += len(piece)
        yield Partial(piece[:TEXT_LIMIT])

    def _flush(self) -> Iterator[TraceEntry]:
        text = "".join(self._pieces)
        self._pieces, self._length = [], 0
        if text:
            yield Text(text)


def _translate(event: Node) -> Iterator[TraceEntry]:
    match event.text("type"):
        case "init":
            yield SessionStarted(event.text("session_id", limit=ID_LIMIT), event.text("model", limit=ID_LIMIT))
        case "tool_use":
            call, tool = event.text("tool_id", limit=ID_LIMIT), event.text("tool_name", limit=ID_LIMIT)
            yield ToolCall(call, tool, tool_argument(event.at("parameters")), event.digest("parameters"))
            yield from read_edits(call, event.at("parameters"))
        case "tool_result":
            status = ToolStatus.OK if event.text("status") == "success" else ToolStatus.ERROR
            output = event.brief("output", limit=OUTPUT_LIMIT) or event.text("error", "message", limit=OUTPUT_LIMIT)
            yield ToolResult(event.text("tool_id", limit=ID_LIMIT), status, output)
        case "error":
            yield describe_error(event.text("message", limit=ERROR_LIMIT) or "error")
        case "result":
            yield from _result(event)
        case kind:
            yield Progress(kind[:ID_LIMIT])


def _result(event: Node) -> Iterator[TraceEntry]:
    stats = event.at("stats")
    shares = tuple(ModelTokens(name, _tokens(part)) for name, part in stats.named("models"))
    total = TokenUsage()
    for share in shares:
        total = total.plus(share.tokens)
    yield Usage(total if shares else _tokens(stats), UsageScope.TURN, shares)
    success = event.text("status") == "success"
    message = event.text("error", "message", limit=ERROR_LIMIT)
    if not success:
        yield describe_error(message or "error")
    yield End(success, "completed" if success else message or "error")


def _tokens(stats: Node) -> TokenUsage:
    """Thoughts are billed as output; only the total has them."""
    read, cached = stats.count("input_tokens"), stats.count("cached")
    return TokenUsage(
        input_uncached=max(0, read - cached),
        cache_read=cached,
        output=max(stats.count("output_tokens"), stats.count("total_tokens") - read),
    )
