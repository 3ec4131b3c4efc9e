"""The file in which claude keeps a conversation: `~/.claude/projects/FOLDER/SESSION.jsonl`.

It has the messages of the stream and more about them, but no `result`: a turn has ended where the model stopped for
good, where a call has failed, or where somebody interrupted it.
"""

from collections.abc import Iterator

from paddock.core import trace
from paddock.engines.claude_stream import ClaudeStreamParser
from paddock.engines.jsonline import Node
from paddock.engines.protocol import MAX_LINE_BYTES

_FINAL_STOPS = ("end_turn", "max_tokens", "refusal", "stop_sequence", "model_context_window_exceeded")
_INTERRUPTED = "[Request interrupted by user"
# What the CLI writes in the user's name when a command of its own was typed.
_COMMANDS = ("<command-name>", "<command-message>", "<local-command-", "<bash-", "Caveat: ")


class ClaudeSessionParser(ClaudeStreamParser):
    """Of sub-agents only what they used is passed on: their turns are not the conversation's."""

    def __init__(self) -> None:
        super().__init__()
        self._ended = True

    def read_event(self, event: Node) -> Iterator[trace.TraceEntry]:
        yield from self._started(event)
        if event.flag("isSidechain"):
            yield from self._message_usage(event.at("message"))
            return
        match event.word("type"):
            case "assistant":
                yield from self._answer(event)
            case "user":
                yield from self._user(event)
            case "attachment":
                yield from self._attachment(event.at("attachment"))
            case "system" if event.word("subtype") == "turn_duration":
                yield from self._over(trace.End(success=True, reason="completed"))
            case "system":
                yield from super().read_event(event)
            case kind:
                yield trace.Progress(kind)

    def _started(self, event: Node) -> Iterator[trace.TraceEntry]:
        session = event.word("sessionId")
        if session and not self._session:
            self._session = session
            yield trace.SessionStarted(session)

    def _answer(self, event: Node) -> Iterator[trace.TraceEntry]:
        self._ended = False
        if event.flag("isApiErrorMessage") or event.text("message", "model") == "<synthetic>":
            yield from self._synthetic(_as_in_stream(event))
            reason = event.word("error") or "the call of the model failed"
            yield from self._over(trace.End(success=False, reason=reason))
            return
        yield from self._assistant(event)
        stopped = event.text("message", "stop_reason")
        if stopped in _FINAL_STOPS:
            yield from self._over(trace.End(success=True, reason=stopped, refused=stopped == "refusal"))

    def _user(self, event: Node) -> Iterator[trace.TraceEntry]:
        results = [block for block in event.items("message", "content") if block.text("type") == "tool_result"]
        if results:
            self._ended = False
            # As the stream has them, so that denials are found in the same way.
            yield from super().read_event(event)
        text = _words(event.at("message", "content"))
        if text.startswith(_INTERRUPTED):
            self._ended = False
            yield from self._over(trace.End(success=False, reason="interrupted"))
        elif text and _is_of_a_person(event, text):
            self._ended = False
            yield trace.Prompted(text)

    def _attachment(self, attachment: Node) -> Iterator[trace.TraceEntry]:
        """A message that was typed while the model worked joins its turn as one of these."""
        if attachment.text("type") == "queued_command" and attachment.text("commandMode") in ("", "prompt"):
            self._ended = False
            yield trace.Prompted(_words(attachment.at("prompt")))
        else:
            yield trace.Progress("attachment")

    def _over(self, end: trace.End) -> Iterator[trace.TraceEntry]:
        if not self._ended:
            self._ended = True
            yield end


def _as_in_stream(event: Node) -> Node:
    value = event.value if isinstance(event.value, dict) else {}
    status = {"api_error_status": value.get("apiErrorStatus"), "is_api_error_message": value.get("isApiErrorMessage")}
    return Node({**value, **status})


def _words(content: Node) -> str:
    if isinstance(content.value, str):
        return content.text(limit=MAX_LINE_BYTES)
    blocks = (block for block in content.items() if block.text("type") == "text")
    return "\n".join(block.text("text", limit=MAX_LINE_BYTES) for block in blocks)


def _is_of_a_person(event: Node, text: str) -> bool:
    if event.has("origin"):
        return event.text("origin", "kind") == "human"
    made_up = event.flag("isMeta") or event.flag("isCompactSummary") or event.flag("isVisibleInTranscriptOnly")
    return not made_up and not text.startswith(_COMMANDS)
