"""The JSONL format of `codex exec --json`."""

from collections.abc import Iterator

from paddock.core import trace
from paddock.engines.json_stream import JsonStream
from paddock.engines.jsonline import Node, read_object
from paddock.engines.trouble import describe_error

_TOOL_ITEMS = ("command_execution", "file_change", "mcp_tool_call", "web_search", "collab_tool_call")


class CodexParser(JsonStream):
    def __init__(self) -> None:
        self._called: set[str] = set()
        self._reported = ""

    def read_event(self, event: Node) -> Iterator[trace.TraceEntry]:
        match event.word("type"):
            case "thread.started":
                yield trace.SessionStarted(event.word("thread_id"))
            case "item.started" | "item.updated" | "item.completed" as kind:
                yield from self._item(event.at("item"), completed=kind == "item.completed")
            case "turn.completed":
                if event.has("usage"):
                    yield trace.Usage(read_codex_tokens(event.at("usage")), trace.UsageScope.CONVERSATION)
                yield trace.End(success=True, reason="completed")
            case "turn.failed":
                message = event.text("error", "message", limit=trace.ERROR_LIMIT) or "turn failed"
                yield from self._error(message)
                yield trace.End(success=False, reason=message)
            case "error":
                yield from self._error(event.text("message", limit=trace.ERROR_LIMIT) or "error")
            case kind:
                yield trace.Progress(kind)

    def read_log(self, line: bytes) -> Iterator[trace.TraceEntry]:
        """Only here codex tells the account's quota windows, with every call; the rest is on standard output too.

        A limit of another id is one model's own.
        """
        event = read_object(line) if b'"rate_limits"' in line else None
        yield from self.read_windows(event.at("payload", "rate_limits") if event is not None else Node(None))

    def read_windows(self, limits: Node) -> Iterator[trace.TraceEntry]:
        windows = tuple(_windows(limits))
        if windows and limits.text("limit_id") in ("", "codex"):
            yield trace.WindowsTold(
                windows, limits.flag("credits", "has_credits") or limits.flag("credits", "unlimited")
            )

    def _error(self, message: str) -> Iterator[trace.TraceEntry]:
        """A failing turn says why twice, word for word; one refusal must not count as two."""
        if message != self._reported:
            yield describe_error(message)
        self._reported = message

    def _item(self, item: Node, *, completed: bool) -> Iterator[trace.TraceEntry]:
        kind = item.word("type")
        if kind in _TOOL_ITEMS:
            yield from self._tool(item, kind, completed=completed)
        elif kind == "agent_message" and completed:
            yield trace.Text(item.text("text", limit=trace.TEXT_LIMIT))
        elif kind == "error" and completed:
            # Most of these are warnings, such as unknown model metadata: a turn that fails says so itself.
            yield trace.Progress(f"warning: {item.word('message')}")
        else:
            yield trace.Progress(kind)

    def _tool(self, item: Node, kind: str, *, completed: bool) -> Iterator[trace.TraceEntry]:
        call = item.word("id")
        if call not in self._called:
            self._called.add(call)
            # A change of files names the files and not what is changed in them: two are never known to be the same.
            digest = "" if kind == "file_change" else item.digest("command") or item.digest("arguments")
            yield trace.ToolCall(call, item.word("tool") or kind, _argument(item, kind), digest)
        if not completed:
            return
        self._called.discard(call)
        code = item.whole("exit_code")
        state = item.text("status")
        status = trace.ToolStatus.ERROR if state == "failed" or code not in (None, 0) else trace.ToolStatus.OK
        if state == "declined":
            status = trace.ToolStatus.DENIED
        output = item.text("aggregated_output", limit=trace.OUTPUT_LIMIT) or item.brief(
            "error", limit=trace.OUTPUT_LIMIT
        )
        yield trace.ToolResult(call, status, output, code)


def _argument(item: Node, kind: str) -> str:
    match kind:
        case "command_execution":
            return item.text("command", limit=trace.ARGUMENT_LIMIT)
        case "file_change":
            return " ".join(change.text("path") for change in item.items("changes"))[: trace.ARGUMENT_LIMIT]
        case "web_search":
            return item.text("query", limit=trace.ARGUMENT_LIMIT)
        case _:
            return item.brief("arguments", limit=trace.ARGUMENT_LIMIT) or item.text(
                "prompt", limit=trace.ARGUMENT_LIMIT
            )


def read_codex_tokens(usage: Node) -> trace.TokenUsage:
    read, output = usage.count("input_tokens"), usage.count("output_tokens")
    return trace.TokenUsage.of_all_input(read, output, cached=usage.count("cached_input_tokens"))


def _windows(limits: Node) -> Iterator[trace.WindowUse]:
    for place in ("primary", "secondary"):
        told = limits.at(place)
        percent, minutes, resets_at = (told.number(key) for key in ("used_percent", "window_minutes", "resets_at"))
        if percent is not None and minutes is not None and resets_at is not None:
            hours = round(minutes / 60)
            yield trace.WindowUse(f"{hours // 24}-day" if hours >= 48 else f"{hours}-hour", percent / 100, resets_at)
