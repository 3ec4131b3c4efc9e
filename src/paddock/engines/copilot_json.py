"""The JSON events of `copilot -p … --output-format json`. They tell durations and no tokens."""

from collections.abc import Iterator

from paddock.core.trace import (
    ERROR_LIMIT,
    ID_LIMIT,
    OUTPUT_LIMIT,
    TEXT_LIMIT,
    End,
    Error,
    Progress,
    SessionStarted,
    Text,
    ToolCall,
    ToolResult,
    ToolStatus,
    TraceEntry,
)
from paddock.engines.claude_stream import tool_argument
from paddock.engines.jsonline import Node, read_object
from paddock.engines.protocol import Source
from paddock.engines.trouble import describe_error, read_complaint


class CopilotParser:
    def feed(self, line: bytes, source: Source = Source.STDOUT) -> Iterator[TraceEntry]:
        if source is not Source.STDOUT:
            yield from read_complaint(line)
            return
        event = read_object(line)
        if event is None:
            if line.strip():
                yield Progress("unreadable line")
            return
        yield from _translate(event)

    def close(self) -> Iterator[TraceEntry]:
        return iter(())


def _translate(event: Node) -> Iterator[TraceEntry]:
    data = event.at("data")
    match event.text("type"):
        case "assistant.message":
            text = data.text("content", limit=TEXT_LIMIT)
            yield Text(text) if text else Progress("assistant.message")
        case "tool.execution_start":
            call, tool = data.text("toolCallId", limit=ID_LIMIT), data.text("toolName", limit=ID_LIMIT)
            yield ToolCall(call, tool, tool_argument(data.at("arguments")), data.digest("arguments"))
        case "tool.execution_complete":
            yield _tool_result(data)
        case "model.call_failure":
            message = data.text("errorMessage", limit=ERROR_LIMIT) or "model call failed"
            yield describe_error(message, data.whole("statusCode"))
        case "session.error":
            # The calls that failed have been counted; this is the summing up.
            yield Error(data.text("message", limit=ERROR_LIMIT) or "error")
        case "result":
            code = event.whole("exitCode")
            yield SessionStarted(event.text("sessionId", limit=ID_LIMIT))
            yield End(success=code == 0, reason="completed" if code == 0 else f"exit code {code}")
        case kind:
            yield Progress(kind[:ID_LIMIT])


def _tool_result(data: Node) -> ToolResult:
    code = data.whole("shellExecution", "exitCode")
    failed = not data.flag("success") or code not in (None, 0)
    output = data.text("result", "content", limit=OUTPUT_LIMIT) or data.text("error", "message", limit=OUTPUT_LIMIT)
    status = ToolStatus.ERROR if failed else ToolStatus.OK
    if data.text("error", "code") in ("denied", "rejected"):
        status = ToolStatus.DENIED
    return ToolResult(data.text("toolCallId", limit=ID_LIMIT), status, output, code)
