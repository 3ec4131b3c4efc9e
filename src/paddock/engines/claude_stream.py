"""The stream-json format of claude, which qwen, the scripted agent and configured commands speak too."""

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from paddock.core import trace
from paddock.engines.edits import read_edits
from paddock.engines.json_stream import JsonStream
from paddock.engines.jsonline import Node, line_text
from paddock.engines.trouble import classify, describe_error

# Messages of parallel sub-agents interleave; older ones than these are finished.
_REMEMBERED_MESSAGES = 64
_ARGUMENT_NAMES = ("command", "file_path", "filePath", "path", "pattern", "url", "query", "description", "prompt")
_DENIED = ("requested permissions to", "haven't granted it")
_BAD_ENDS = ("error", "max_turns", "aborted", "interrupted", "cancelled")
# Those of the whole account; others are of one model.
_WINDOWS = {"five_hour": "5-hour", "seven_day": "7-day"}


class ClaudeStreamParser(JsonStream):
    """Per-message usage is the value at the message's start and repeated on each of its lines, so only what is
    new for a message id is passed on; the figures of `result` then replace the sum. `result_scope` says what
    those cover: claude's the turn, qwen's the conversation. `read_usage` splits one of them into price classes."""

    def __init__(
        self,
        result_scope: trace.UsageScope = trace.UsageScope.TURN,
        read_usage: Callable[[Node], trace.TokenUsage] | None = None,
    ) -> None:
        self._result_scope = result_scope
        self._read_usage = read_usage or read_tokens
        self._session = ""
        self._messages: dict[str, trace.TokenUsage] = {}
        self._finished = trace.TokenUsage()
        self._reported = ""

    def read_event(self, event: Node) -> Iterator[trace.TraceEntry]:
        yield from self._session_of(event)
        match event.word("type"):
            case "stream_event":
                yield from self._piece(event)
            case "assistant":
                yield from self._assistant(event)
            case "user":
                yield from _tool_results(event)
            case "system":
                yield from _system(event)
            case "rate_limit_event":
                yield from _rate_limit_event(event)
            case "result":
                yield from self._result(event)
            case kind:
                yield trace.Progress(kind)

    def _session_of(self, event: Node) -> Iterator[trace.TraceEntry]:
        if event.word("type") == "command_lifecycle":
            # Of a message to it, before it introduces itself.
            return
        session = event.word("session_id")
        if session and not self._session:
            self._session = session
            yield trace.SessionStarted(session, event.word("model"))

    def read_complaint(self, line: bytes) -> Iterator[trace.TraceEntry]:
        text = line_text(line, trace.ERROR_LIMIT)
        trouble = classify(text) if text else None
        if trouble is not None:
            yield trouble
        elif text.lower().startswith("error"):
            yield trace.Error(text)

    def _assistant(self, event: Node) -> Iterator[trace.TraceEntry]:
        message = event.at("message")
        if _is_synthetic(event):
            yield from self._synthetic(event)
            return
        for block in message.items("content"):
            match block.word("type"):
                case "text":
                    yield trace.Text(block.text("text", limit=trace.TEXT_LIMIT))
                case "tool_use":
                    argument = tool_argument(block.at("input"))
                    name, call = block.word("name"), block.word("id")
                    yield trace.ToolCall(call, name, argument, block.digest("input"))
                    yield from read_edits(call, block.at("input"))
                case kind:
                    yield trace.Progress(kind)
        yield from self._message_usage(message)

    def _piece(self, event: Node) -> Iterator[trace.TraceEntry]:
        """A part of an answer that is being written. Its end alone tells how long the answer was."""
        piece = event.at("event")
        if piece.text("type") == "message_delta":
            written = trace.TokenUsage(output=piece.count("usage", "output_tokens"))
            yield from self._count(event.word("api_message_id"), written)
        else:
            yield trace.Partial(piece.text("delta", "text", limit=trace.TEXT_LIMIT))

    def _message_usage(self, message: Node) -> Iterator[trace.TraceEntry]:
        if message.has("usage"):
            yield from self._count(message.word("id"), self._read_usage(message.at("usage")))

    def _count(self, message_id: str, now: trace.TokenUsage) -> Iterator[trace.TraceEntry]:
        known = self._messages.pop(message_id, trace.TokenUsage())
        new = now.minus(known)
        self._messages[message_id] = known.plus(new)
        while len(self._messages) > _REMEMBERED_MESSAGES:
            self._messages.pop(next(iter(self._messages)))
        if new != trace.TokenUsage():
            yield trace.Usage(new, trace.UsageScope.DELTA)

    def _result(self, event: Node) -> Iterator[trace.TraceEntry]:
        if event.has("usage"):
            yield trace.Usage(self._total_with(event), self._result_scope)
        reason = event.word("terminal_reason") or event.word("subtype")
        message = event.text("result", limit=trace.ERROR_LIMIT) or event.text(
            "error", "message", limit=trace.ERROR_LIMIT
        )
        failed = event.flag("is_error") or any(word in reason for word in _BAD_ENDS)
        status = event.whole("api_error_status")
        told = bool(message) and message == self._reported
        if failed and not told and (message or status is not None):
            yield describe_error(message or reason, status)
        denials = sum(1 for _ in event.items("permission_denials"))
        refused = event.text("stop_reason") == "refusal" or reason == "refusal"
        yield trace.End(not failed, reason if not failed else reason or message, denials, refused)

    def _total_with(self, event: Node) -> trace.TokenUsage:
        """The turn's total including this result: tokens are told per result, even in one process.

        `total_cost_usd` is the whole conversation's, resumed turns included, so it only serves for releases
        that do not tell a result's own cost.
        """
        if event.has("model_usage_since_last_result"):
            for model in event.children("model_usage_since_last_result"):
                self._finished = self._finished.plus(_model_tokens(model))
            return replace(self._finished, cost_usd=self._finished.cost_usd or 0.0)
        earlier = self._finished if self._result_scope is trace.UsageScope.TURN else trace.TokenUsage()
        self._finished = earlier.plus(self._read_usage(event.at("usage")))
        return replace(self._finished, cost_usd=event.number("total_cost_usd"))

    def _synthetic(self, event: Node) -> Iterator[trace.TraceEntry]:
        """The CLI's own words in the shape of an answer, nearly always about a failed call."""
        words = "\n".join(block.text("text") for block in event.items("message", "content"))
        code = event.word("error")
        message = f"{code}: {words}" if code and code != "unknown" else words
        status = event.whole("api_error_status")
        if code or event.flag("is_api_error_message") or words.startswith("[API Error:"):
            self._reported = trace.clip(words, trace.ERROR_LIMIT)
            yield describe_error(message, status)
        elif words:
            yield classify(message, status) or trace.Progress("synthetic")


def _is_synthetic(event: Node) -> bool:
    if event.has("error") or event.flag("is_api_error_message") or event.text("message", "model") == "<synthetic>":
        return True
    # qwen marks its own words in no other way.
    block = next(event.items("message", "content"), Node(None))
    return block.text("text").startswith("[API Error:") and event.at("message", "usage").count("output_tokens") == 0


def read_tokens(usage: Node) -> trace.TokenUsage:
    return trace.TokenUsage(
        input_uncached=usage.count("input_tokens"),
        cache_write=usage.count("cache_creation_input_tokens"),
        cache_read=usage.count("cache_read_input_tokens"),
        output=usage.count("output_tokens"),
    )


def read_tokens_of_all_input(usage: Node) -> trace.TokenUsage:
    """As qwen tells them."""
    read, output = usage.count("input_tokens"), usage.count("output_tokens")
    return trace.TokenUsage.of_all_input(read, output, cached=usage.count("cache_read_input_tokens"))


def tool_argument(arguments: Node) -> str:
    """The one argument a person wants to see; all of them when none stands out."""
    for name in _ARGUMENT_NAMES:
        value = arguments.text(name, limit=trace.ARGUMENT_LIMIT)
        if value:
            return value
    return arguments.brief(limit=trace.ARGUMENT_LIMIT)


def _model_tokens(model: Node) -> trace.TokenUsage:
    return trace.TokenUsage(
        input_uncached=model.count("inputTokens"),
        cache_write=model.count("cacheCreationInputTokens"),
        cache_read=model.count("cacheReadInputTokens"),
        output=model.count("outputTokens"),
        cost_usd=model.number("costUSD"),
    )


def _tool_results(event: Node) -> Iterator[trace.TraceEntry]:
    rejected = {
        meta.word("id")
        for meta in event.items("tool_result_meta")
        if meta.text("permission_decision", "decision") == "reject"
    }
    found = False
    for block in event.items("message", "content"):
        if block.text("type") == "tool_result":
            found = True
            yield _tool_result(block, rejected)
    if not found:
        yield trace.Progress("user")


def _tool_result(block: Node, rejected: set[str]) -> trace.ToolResult:
    content = block.at("content")
    if isinstance(content.value, list):
        output = trace.clip(
            "\n".join(part.text("text", limit=trace.OUTPUT_LIMIT) for part in content.items()), trace.OUTPUT_LIMIT
        )
    else:
        output = content.brief(limit=trace.OUTPUT_LIMIT)
    call = block.word("tool_use_id")
    status = trace.ToolStatus.OK
    if block.flag("is_error"):
        denied = call in rejected or any(word in output for word in _DENIED)
        status = trace.ToolStatus.DENIED if denied else trace.ToolStatus.ERROR
    return trace.ToolResult(call, status, output)


def _system(event: Node) -> Iterator[trace.TraceEntry]:
    match event.word("subtype"):
        case "api_retry" | "retry" | "api_error":
            yield _retry(event)
        case kind:
            yield trace.Progress(kind)


def _retry(event: Node) -> trace.TraceEntry:
    """A call that is tried again has failed for the provider's sake or the network's, whatever the word for it."""
    word = event.brief("error", limit=trace.ID_LIMIT) or event.word("data", "reason") or "unknown"
    delay_ms = event.number("retry_delay_ms") or event.number("data", "delayMs")
    status, delay = event.whole("error_status"), None if delay_ms is None else delay_ms / 1000
    known = classify(word, status, delay)
    return known or trace.RateLimited(trace.TroubleKind.OVERLOAD, status, delay, message=f"call failed: {word}")


def _rate_limit_event(event: Node) -> Iterator[trace.TraceEntry]:
    info = event.at("rate_limit_info")
    windows = tuple(_windows(info))
    # A window that is used up refuses nothing where paid use covers what is beyond it.
    extra = info.flag("isUsingOverage") or info.text("overageStatus").startswith("allowed")
    yield trace.WindowsTold(windows, extra) if windows else trace.Progress("rate_limit_event")
    if info.text("status") != "rejected":
        return
    kind = info.word("rateLimitType")
    message = f"usage limit reached ({kind})" if kind else "usage limit reached"
    trouble = classify(message, 429, resets_at=info.number("resetsAt"))
    yield trouble or trace.Error(message)


def _windows(info: Node) -> Iterator[trace.WindowUse]:
    """Of every window, where the account has them told; else of the one that limits it now."""
    for key, name in _WINDOWS.items():
        told = info.at("unifiedWindows", key)
        if info.text("rateLimitType") == key and not told.has("utilization"):
            told = info
        used, resets_at = told.number("utilization"), told.number("resetsAt")
        if used is not None and resets_at is not None:
            yield trace.WindowUse(name, used, resets_at)
