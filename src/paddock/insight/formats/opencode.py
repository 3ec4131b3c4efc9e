"""opencode: what `opencode run --format json` prints, and what `opencode export` writes."""

from collections.abc import Iterator

from paddock.core.trace import TokenUsage
from paddock.engines.jsonline import Node
from paddock.engines.opencode_json import OpencodeParser
from paddock.insight.formats.assembly import RunAssembly
from paddock.insight.formats.entries import EntryTaker, end_of_words
from paddock.insight.formats.reader import NotARun, Record
from paddock.insight.formats.words import read_time
from paddock.insight.trace import EndState, StepStatus, Trace

ENGINE = "opencode"
_TEXT_CHARS = 8_000


def looks_like_opencode(record: Record) -> bool:
    if isinstance(record.get("sessionID"), str):
        return "part" in record or record.get("type") == "error"
    return looks_exported(record)


def looks_exported(record: Record) -> bool:
    info, messages = record.get("info"), record.get("messages")
    if not isinstance(info, dict) or not isinstance(messages, list):
        return False
    return not messages or (isinstance(messages[0], dict) and "parts" in messages[0] and "info" in messages[0])


class OpencodeReader:
    """Records of several conversations may come mixed."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._runs: dict[str, tuple[RunAssembly, OpencodeParser, EntryTaker]] = {}

    def take(self, record: Record, number: int) -> Iterator[Trace]:
        if looks_exported(record):
            yield read_export(record, self._name)
            return
        event = Node(record)
        session = event.word("sessionID")
        if session not in self._runs:
            run = RunAssembly(engine=ENGINE, run=session, ends_itself=True)
            self._runs[session] = run, OpencodeParser(), EntryTaker(run)
        run, parser, taker = self._runs[session]
        at = read_time(event.at("timestamp").value)
        run.hear(at)
        for entry in parser.read_event(event):
            taker.take(entry, at)

    def close(self) -> Iterator[Trace]:
        for run, _, _ in self._runs.values():
            run.run = run.run or self._name
            yield run.finish()


def read_export(record: Record, name: str) -> Trace:
    """Of a message its `info`, and its parts."""
    node = Node(record)
    run = RunAssembly(engine=ENGINE, run=node.word("info", "id") or name, ends_itself=True)
    run.engine_version = node.word("info", "version")
    run.folder = node.text("info", "directory")
    for message in node.items("messages"):
        info = message.at("info")
        for when in ("created", "completed"):
            run.hear(read_time(info.at("time", when).value))
        for part in message.items("parts"):
            _take_part(run, part)
        if info.text("role") == "assistant":
            _take_answer(run, info)
    if run.is_empty:
        raise NotARun("has no message of a conversation")
    return run.finish()


def _take_part(run: RunAssembly, part: Node) -> None:
    match part.word("type"):
        case "text":
            run.say(part.text("text", limit=_TEXT_CHARS))
        case "tool":
            state, call = part.at("state"), part.word("callID") or part.word("id")
            began, ended = (read_time(state.at("time", when).value) for when in ("start", "end"))
            arguments = state.at("input").value
            run.call_tool(call, part.word("tool"), arguments if isinstance(arguments, dict) else "", began)
            code = state.whole("metadata", "exit")
            status = StepStatus.OK
            if state.text("status") == "error" or code not in (None, 0):
                status = StepStatus.ERROR
            elif state.text("status") != "completed":
                status = StepStatus.UNKNOWN
            output = state.text("error", limit=_TEXT_CHARS) or state.text("output", limit=_TEXT_CHARS)
            run.end_tool(call, status, output, exit_code=code, at=ended)
        case _:
            pass


def _take_answer(run: RunAssembly, info: Node) -> None:
    tokens = info.at("tokens")
    usage = TokenUsage(
        tokens.count("input"),
        tokens.count("cache", "write"),
        tokens.count("cache", "read"),
        tokens.count("output") + tokens.count("reasoning"),
        info.price("cost"),
    )
    at, reasoning = read_time(info.at("time", "created").value), tokens.count("reasoning") or None
    error = info.text("error", "data", "message") or info.word("error", "name")
    if error and not usage.output:
        run.refuse(info.whole("error", "data", "statusCode"), None, at, error)
    else:
        run.answer(info.word("id"), usage, model=info.word("modelID"), at=at, reasoning=reasoning)
    run.error = error
    if info.word("error", "name") == "MessageAbortedError":
        run.end_state = EndState.KILLED
    elif error:
        run.end_state = end_of_words(error)
    else:
        run.end_state = EndState.OK if info.at("time").has("completed") else None
