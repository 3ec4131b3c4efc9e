"""The file in which codex keeps a conversation: `~/.codex/sessions/Y/M/D/rollout-TIME-SESSION.jsonl`."""

from collections.abc import Iterator

from paddock.core import trace
from paddock.engines.claude_stream import tool_argument
from paddock.engines.codex_jsonl import CodexParser, read_codex_tokens
from paddock.engines.jsonline import Node, read_object
from paddock.engines.protocol import MAX_LINE_BYTES
from paddock.engines.trouble import describe_error

_ABORTED = "aborted by user"
_EXIT = "exited with code "


class CodexSessionParser(CodexParser):
    """What a turn has used is told in one of two ways, by the version: a record for each call, or running totals."""

    def __init__(self) -> None:
        super().__init__()
        self._prompts_by = ""
        self._has_records = False
        self._total: trace.TokenUsage | None = None

    def read_event(self, event: Node) -> Iterator[trace.TraceEntry]:
        payload = event.at("payload")
        match event.word("type"):
            case "session_meta":
                yield trace.SessionStarted(payload.word("id") or payload.word("session_id"))
            case "response_item":
                yield from self._response(payload)
            case "event_msg":
                yield from self._event(payload)
            case "token_usage_record":
                self._has_records = True
                yield trace.Usage(read_codex_tokens(payload.at("usage")), trace.UsageScope.DELTA)
            case kind:
                yield trace.Progress(kind)

    def _response(self, item: Node) -> Iterator[trace.TraceEntry]:
        match item.word("type"):
            case "message" if item.text("role") == "assistant":
                parts = (part.text("text", limit=trace.TEXT_LIMIT) for part in item.items("content"))
                yield trace.Text(trace.clip("\n".join(parts), trace.TEXT_LIMIT))
            case "function_call":
                arguments = read_object(item.text("arguments", limit=MAX_LINE_BYTES).encode("utf-8", "replace"))
                argument = _call_argument(arguments) or item.text("arguments", limit=trace.ARGUMENT_LIMIT)
                yield trace.ToolCall(item.word("call_id"), item.word("name"), argument, item.digest("arguments"))
            case "custom_tool_call":
                patch = item.text("input", limit=trace.ARGUMENT_LIMIT)
                yield trace.ToolCall(item.word("call_id"), item.word("name"), patch, item.digest("input"))
            case "function_call_output" | "custom_tool_call_output":
                yield _result(item)
            case kind:
                yield trace.Progress(kind)

    def _event(self, said: Node) -> Iterator[trace.TraceEntry]:
        match said.word("type"):
            case "user_message":
                yield from self._prompted("user_message", said.text("message", limit=MAX_LINE_BYTES))
            case "item_completed":
                yield from self._completed(said.at("item"))
            case "token_count":
                yield from self.read_windows(said.at("rate_limits"))
                yield from self._counted(said.at("info"))
            case "error" | "stream_error":
                yield from self._error(said.text("message", limit=trace.ERROR_LIMIT) or "error")
            case "task_complete" | "turn_complete":
                yield from self._complete(said)
            case "turn_aborted":
                yield trace.End(success=False, reason=said.word("reason") or "aborted")
            case kind:
                yield trace.Progress(kind)

    def _completed(self, item: Node) -> Iterator[trace.TraceEntry]:
        match item.word("type"):
            case "UserMessage":
                parts = (part.text("text", limit=MAX_LINE_BYTES) for part in item.items("content"))
                yield from self._prompted("UserMessage", "\n".join(parts))
            case "FileChange":
                for path, change in item.named("changes"):
                    yield _edit(item.word("id"), path, change)
            case kind:
                yield trace.Progress(kind)

    def _prompted(self, by: str, text: str) -> Iterator[trace.TraceEntry]:
        """Versions between the two ways tell a message in both."""
        self._prompts_by = self._prompts_by or by
        self._reported = ""
        yield trace.Prompted(text) if by == self._prompts_by else trace.Progress(by)

    def _complete(self, said: Node) -> Iterator[trace.TraceEntry]:
        if not said.has("error"):
            yield trace.End(success=True, reason="completed")
            return
        message = said.text("error", "message", limit=trace.ERROR_LIMIT) or "the turn failed"
        if message != self._reported:
            yield describe_error(message, _status(said.at("error", "codex_error_info")))
        self._reported = message
        yield trace.End(success=False, reason=message)

    def _counted(self, info: Node) -> Iterator[trace.TraceEntry]:
        if self._has_records or not info.has("total_token_usage"):
            return
        total = read_codex_tokens(info.at("total_token_usage"))
        new = total.minus(self._total) if self._total else read_codex_tokens(info.at("last_token_usage"))
        self._total = total
        if new != trace.TokenUsage():
            yield trace.Usage(new, trace.UsageScope.DELTA)


def _status(info: Node) -> int | None:
    return next((code for kind in info.children() if (code := kind.whole("http_status_code")) is not None), None)


def _call_argument(arguments: Node | None) -> str:
    if arguments is None:
        return ""
    return arguments.text("cmd", limit=trace.ARGUMENT_LIMIT) or tool_argument(arguments)


def _result(item: Node) -> trace.ToolResult:
    output = item.at("output")
    text = output.text("content", limit=trace.OUTPUT_LIMIT) or output.brief(limit=trace.OUTPUT_LIMIT)
    code = _exit_code(text)
    failed = code not in (None, 0) or _ABORTED in text[-100:]
    return trace.ToolResult(item.word("call_id"), trace.ToolStatus.ERROR if failed else trace.ToolStatus.OK, text, code)


def _exit_code(text: str) -> int | None:
    """As the head of an output tells it."""
    for line in text[:400].splitlines()[:6]:
        _, found, rest = line.partition(_EXIT)
        if found and rest.strip().lstrip("-").isdecimal() and len(rest) < 8:
            return int(rest)
    return None


def _edit(call: str, path: str, change: Node) -> trace.FileEdit:
    diff = change.text("unified_diff", limit=40_000)
    lines = [line for line in diff.splitlines() if not line.startswith(("---", "+++", "@@"))]
    if not diff:
        sign = "-" if change.text("type") == "delete" else "+"
        lines = [f"{sign}{line}" for line in change.text("content", limit=40_000).splitlines()]
    added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    return trace.FileEdit(
        call, trace.clip(path, trace.ARGUMENT_LIMIT), "\n".join(lines)[: trace.DIFF_LIMIT], added, removed
    )
