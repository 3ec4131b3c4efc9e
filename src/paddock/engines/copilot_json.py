"""The JSON events of `copilot -p … --output-format json`, and those it keeps of the session.

What is printed tells durations and no tokens; the session's own file ends with the tokens of the whole conversation.
"""

from collections.abc import Iterator

from paddock.core import trace
from paddock.engines.claude_stream import tool_argument
from paddock.engines.edits import read_edits
from paddock.engines.json_stream import JsonStream
from paddock.engines.jsonline import Node, read_object
from paddock.engines.trouble import describe_error


class CopilotParser(JsonStream):
    def __init__(self) -> None:
        self._accounts: Node | None = None

    def close(self) -> Iterator[trace.TraceEntry]:
        if self._accounts is None:
            return
        model = self._accounts.word("currentModel")
        if model:
            yield trace.SessionStarted("", model)
        total = trace.TokenUsage()
        for used in self._accounts.children("modelMetrics"):
            total = total.plus(_tokens(used.at("usage")))
        yield trace.Usage(total, trace.UsageScope.CONVERSATION)

    def read_log(self, line: bytes) -> Iterator[trace.TraceEntry]:
        """The accounts of an earlier turn say nothing of one that was killed before it could write its own."""
        event = read_object(line) or Node(None)
        match event.word("type"):
            case "session.shutdown":
                self._accounts = event.at("data")
            case "session.start" | "session.resume":
                self._accounts = None
        return iter(())

    def read_event(self, event: Node) -> Iterator[trace.TraceEntry]:
        data = event.at("data")
        match event.word("type"):
            case "assistant.message":
                text = data.text("content", limit=trace.TEXT_LIMIT)
                yield trace.Text(text) if text else trace.Progress("assistant.message")
            case "tool.execution_start":
                call, tool = data.word("toolCallId"), data.word("toolName")
                yield trace.ToolCall(call, tool, tool_argument(data.at("arguments")), data.digest("arguments"))
                yield from read_edits(call, data.at("arguments"))
            case "assistant.message_delta":
                yield trace.Partial(data.text("deltaContent", limit=trace.TEXT_LIMIT))
            case "tool.execution_complete":
                yield _tool_result(data)
            case "model.call_failure":
                message = data.text("errorMessage", limit=trace.ERROR_LIMIT) or "model call failed"
                yield describe_error(message, data.whole("statusCode"))
            case "session.error":
                # The calls that failed have been counted; this is the summing up.
                yield trace.Error(data.text("message", limit=trace.ERROR_LIMIT) or "error")
            case "result":
                code = event.whole("exitCode")
                yield trace.SessionStarted(event.word("sessionId"))
                yield trace.End(success=code == 0, reason="completed" if code == 0 else f"exit code {code}")
            case kind:
                yield trace.Progress(kind)


def _tokens(usage: Node) -> trace.TokenUsage:
    read, output = usage.count("inputTokens"), usage.count("outputTokens")
    cached, written = usage.count("cacheReadTokens"), usage.count("cacheWriteTokens")
    return trace.TokenUsage.of_all_input(read, output, cached=cached, written=written)


def _tool_result(data: Node) -> trace.ToolResult:
    code = data.whole("shellExecution", "exitCode")
    failed = not data.flag("success") or code not in (None, 0)
    output = data.text("result", "content", limit=trace.OUTPUT_LIMIT) or data.text(
        "error", "message", limit=trace.OUTPUT_LIMIT
    )
    status = trace.ToolStatus.ERROR if failed else trace.ToolStatus.OK
    if data.text("error", "code") in ("denied", "rejected"):
        status = trace.ToolStatus.DENIED
    return trace.ToolResult(data.word("toolCallId"), status, output, code)
