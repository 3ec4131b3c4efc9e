"""The stream-json format of gemini."""

from collections.abc import Iterator

from paddock.core import trace
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

    def read_event(self, event: Node) -> Iterator[trace.TraceEntry]:
        if event.text("type") == "message" and event.text("role") == "assistant":
            yield from self._answer(event.text("content"))
        else:
            yield from self._flush()
            yield from _translate(event)

    def close(self) -> Iterator[trace.TraceEntry]:
        return self._flush()

    def read_complaint(self, line: bytes) -> Iterator[trace.TraceEntry]:
        """stderr is full of warnings and stack traces; only an attempt that failed is news."""
        text = line_text(line, trace.ERROR_LIMIT)
        trouble = classify(text) if text.startswith("Attempt ") and "failed" in text else None
        if trouble is not None:
            yield trouble

    def _answer(self, piece: str) -> Iterator[trace.TraceEntry]:
        if self._length + len(piece) > trace.TEXT_LIMIT:
            yield from self._flush()
        self._pieces.append(piece[: trace.TEXT_LIMIT])
        self._length += len(piece)
        yield trace.Partial(piece[: trace.TEXT_LIMIT])

    def _flush(self) -> Iterator[trace.TraceEntry]:
        text = "".join(self._pieces)
        self._pieces, self._length = [], 0
        if text:
            yield trace.Text(text)


def _translate(event: Node) -> Iterator[trace.TraceEntry]:
    match event.word("type"):
        case "init":
            yield trace.SessionStarted(event.word("session_id"), event.word("model"))
        case "tool_use":
            call, tool = event.word("tool_id"), event.word("tool_name")
            yield trace.ToolCall(call, tool, tool_argument(event.at("parameters")), event.digest("parameters"))
            yield from read_edits(call, event.at("parameters"))
        case "tool_result":
            status = trace.ToolStatus.OK if event.text("status") == "success" else trace.ToolStatus.ERROR
            output = event.brief("output", limit=trace.OUTPUT_LIMIT) or event.text(
                "error", "message", limit=trace.OUTPUT_LIMIT
            )
            yield trace.ToolResult(event.word("tool_id"), status, output)
        case "error":
            yield describe_error(event.text("message", limit=trace.ERROR_LIMIT) or "error")
        case "result":
            yield from _result(event)
        case kind:
            yield trace.Progress(kind)


def _result(event: Node) -> Iterator[trace.TraceEntry]:
    stats = event.at("stats")
    shares = tuple(trace.ModelTokens(name, _tokens(part)) for name, part in stats.named("models"))
    total = trace.TokenUsage()
    for share in shares:
        total = total.plus(share.tokens)
    yield trace.Usage(total if shares else _tokens(stats), trace.UsageScope.TURN, shares)
    success = event.text("status") == "success"
    message = event.text("error", "message", limit=trace.ERROR_LIMIT)
    if not success:
        yield describe_error(message or "error")
    yield trace.End(success, "completed" if success else message or "error")


def _tokens(stats: Node) -> trace.TokenUsage:
    """Thoughts are billed as output; only the total has them."""
    read = stats.count("input_tokens")
    output = max(stats.count("output_tokens"), stats.count("total_tokens") - read)
    return trace.TokenUsage.of_all_input(read, output, cached=stats.count("cached"))
