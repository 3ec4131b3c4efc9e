"""qwen: the file of a conversation, and what it prints: claude's stream with figures of its own."""

from collections.abc import Iterator

from paddock.core.trace import UsageScope
from paddock.engines.claude_stream import ClaudeStreamParser, read_tokens_of_all_input
from paddock.engines.jsonline import Node
from paddock.insight.formats.assembly import RunAssembly
from paddock.insight.formats.entries import EntryTaker
from paddock.insight.formats.reader import Record
from paddock.insight.formats.usage_words import read_usage
from paddock.insight.formats.words import read_step_status, read_time
from paddock.insight.trace import EndState, StepStatus, Trace

ENGINE = "qwen"
_TEXT_CHARS = 8_000


def looks_like_qwen(record: Record) -> bool:
    message = record.get("message")
    if "qwen_code_version" in record:
        return True
    return isinstance(message, dict) and isinstance(message.get("parts"), list) and "sessionId" in record


class QwenReader:
    def __init__(self, name: str) -> None:
        self._name = name
        self._runs: dict[str, RunAssembly] = {}
        self._printed: dict[str, tuple[ClaudeStreamParser, EntryTaker]] = {}

    def take(self, record: Record, number: int) -> Iterator[Trace]:
        event = Node(record)
        session = event.word("sessionId") or event.word("session_id")
        run = self._runs.setdefault(session, RunAssembly(engine=ENGINE, run=session, ends_itself=True))
        at = read_time(event.at("timestamp").value)
        run.hear(at)
        run.engine_version = run.engine_version or event.word("version") or event.word("qwen_code_version")
        run.folder = run.folder or event.text("cwd")
        if event.at("message").has("parts"):
            _take_message(run, event, at)
        else:
            if session not in self._printed:
                parser = ClaudeStreamParser(UsageScope.CONVERSATION, read_tokens_of_all_input)
                self._printed[session] = parser, EntryTaker(run)
            parser, taker = self._printed[session]
            run.model = run.model or event.word("message", "model")
            for entry in parser.read_event(event):
                taker.take(entry, at)
        return iter(())

    def close(self) -> Iterator[Trace]:
        for run in self._runs.values():
            if not run.is_empty:
                run.run = run.run or self._name
                yield run.finish()


def _take_message(run: RunAssembly, event: Node, at: float | None) -> None:
    if event.text("type") == "assistant":
        told = event.at("usageMetadata").value
        usage = read_usage(told if isinstance(told, dict) else {})
        model = event.word("model")
        run.answer(event.word("uuid"), usage.tokens, model=model, at=at, reasoning=usage.reasoning)
        run.end_state, run.error = EndState.OK, ""
    for part in event.items("message", "parts"):
        run.say(part.text("text", limit=_TEXT_CHARS) if event.text("type") == "assistant" else "")
        call, answer = part.at("functionCall"), part.at("functionResponse")
        if isinstance(call.value, dict):
            arguments = call.at("args").value
            run.call_tool(call.word("id"), call.word("name"), arguments if isinstance(arguments, dict) else "", at)
        if isinstance(answer.value, dict):
            result = event.at("toolCallResult")
            status = read_step_status(result.at("status").value) or StepStatus.OK
            if answer.at("response").has("error"):
                status = StepStatus.ERROR
            output = answer.brief("response", "output", limit=_TEXT_CHARS) or answer.brief(
                "response", "error", limit=_TEXT_CHARS
            )
            run.end_tool(answer.word("id"), status, output, at=at)
