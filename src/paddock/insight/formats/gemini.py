"""gemini: the file of a conversation, whole or a record a line, and what `--output-format stream-json` prints."""

from collections.abc import Iterator

from paddock.core.trace import TokenUsage
from paddock.engines.gemini_stream import GeminiParser
from paddock.engines.jsonline import Node
from paddock.insight.formats.assembly import RunAssembly
from paddock.insight.formats.entries import EntryTaker
from paddock.insight.formats.reader import NotARun, Record
from paddock.insight.formats.words import read_step_status, read_time
from paddock.insight.trace import EndState, StepStatus, Trace

ENGINE = "gemini"
_PRINTED = frozenset({"init", "message", "tool_use", "tool_result", "error", "result"})
_TEXT_CHARS = 8_000


def looks_like_gemini(record: Record) -> bool:
    return looks_printed(record) or looks_whole(record) or looks_kept(record)


def looks_printed(record: Record) -> bool:
    kind = record.get("type")
    if kind == "init":
        return "session_id" in record and "subtype" not in record
    if kind == "tool_result":
        return "tool_id" in record
    if kind == "tool_use":
        return "tool_name" in record
    if kind == "message":
        return record.get("role") in ("user", "assistant") and isinstance(record.get("content"), str)
    return kind == "result" and "stats" in record


def looks_whole(record: Record) -> bool:
    return "sessionId" in record and isinstance(record.get("messages"), list)


def looks_kept(record: Record) -> bool:
    """A record of a conversation that is written line by line: its head, or a message."""
    if "sessionId" in record and "type" not in record and ("projectHash" in record or "startTime" in record):
        return True
    return record.get("type") == "gemini" and ("content" in record or "toolCalls" in record)


class GeminiReader:
    """An `init` or a head with a name of its own begins a run."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._run: RunAssembly | None = None

    def take(self, record: Record, number: int) -> Iterator[Trace]:
        node = Node(record)
        if looks_whole(record):
            yield self._whole(node)
            return
        is_head = node.word("type") == "init" or (looks_kept(record) and "sessionId" in record)
        if self._run is None or (is_head and node.word("session_id") + node.word("sessionId") != self._run.run):
            yield from self.close()
            self._begin()
        assert self._run is not None
        at = read_time(node.at("timestamp").value)
        self._run.hear(at)
        if is_head:
            self._run.run = node.word("session_id") or node.word("sessionId")
            self._run.model = node.word("model")
            self._run.hear(read_time(node.at("startTime").value))
        if node.word("type") in _PRINTED:
            for entry in self._parser.read_event(node):
                self._taker.take(entry, at)
        else:
            _take_message(self._run, node)

    def close(self) -> Iterator[Trace]:
        run, self._run = self._run, None
        if run is None or (run.is_empty and not run.run):
            return
        for entry in self._parser.close():
            self._taker.take(entry, None)
        run.run = run.run or self._name
        yield run.finish()

    def _begin(self) -> None:
        self._run = RunAssembly(engine=ENGINE, ends_itself=True)
        self._parser = GeminiParser()
        self._taker = EntryTaker(self._run)

    def _whole(self, node: Node) -> Trace:
        run = RunAssembly(engine=ENGINE, run=node.word("sessionId") or self._name, ends_itself=True)
        for when in ("startTime", "lastUpdated"):
            run.hear(read_time(node.at(when).value))
        for message in node.items("messages"):
            run.hear(read_time(message.at("timestamp").value))
            _take_message(run, message)
        if run.is_empty:
            raise NotARun("has no message of a conversation")
        return run.finish()


def _take_message(run: RunAssembly, message: Node) -> None:
    at = read_time(message.at("timestamp").value)
    match message.word("type"):
        case "gemini" | "model" | "assistant":
            model = message.word("model")
            run.answer(message.word("id"), _usage(message.at("tokens")), model=model, at=at)
            run.say(message.text("content", limit=_TEXT_CHARS))
            run.end_state, run.error = EndState.OK, ""
            for call in message.items("toolCalls"):
                _take_call(run, call)
        case "error":
            run.error = message.text("content", limit=_TEXT_CHARS)
            run.say(run.error)
            run.end_state = EndState.CRASHED
        case _:
            pass


def _take_call(run: RunAssembly, call: Node) -> None:
    name, at = call.word("id"), read_time(call.at("timestamp").value)
    arguments = call.at("args").value
    run.call_tool(name, call.word("name"), arguments if isinstance(arguments, dict) else "", at)
    output = call.text("resultDisplay", limit=_TEXT_CHARS) or call.brief("result", limit=_TEXT_CHARS)
    run.end_tool(name, read_step_status(call.at("status").value) or StepStatus.UNKNOWN, output)


def _usage(tokens: Node) -> TokenUsage | None:
    """Thoughts are billed as output."""
    if not isinstance(tokens.value, dict):
        return None
    output = tokens.count("output") + tokens.count("thoughts")
    return TokenUsage.of_all_input(tokens.count("input") + tokens.count("tool"), output, cached=tokens.count("cached"))
