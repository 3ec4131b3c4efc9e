"""Claude Code: the file of a conversation, and what `--output-format stream-json` prints.

Both have the same messages. A record repeats its message's use of tokens on each of its lines, as it was when the
message began; only the `result` of the stream has the turn's own totals.
"""

from collections import deque
from collections.abc import Iterator

from paddock.core import trace as entries
from paddock.engines.claude_session import ClaudeSessionParser
from paddock.engines.claude_stream import ClaudeStreamParser, read_tokens
from paddock.engines.jsonline import Node
from paddock.engines.trouble import describe_error
from paddock.insight.formats.assembly import RunAssembly
from paddock.insight.formats.entries import STATUS_OF_TOOL, EntryTaker
from paddock.insight.formats.reader import Record
from paddock.insight.formats.words import read_time
from paddock.insight.trace import EndState, Trace

ENGINE = "claude"
_KINDS = frozenset({"assistant", "user", "system", "result", "stream_event", "rate_limit_event"})
_FINAL_STOPS = ("end_turn", "stop_sequence", "max_tokens", "refusal", "model_context_window_exceeded")
_REMEMBERED_RECORDS = 20_000
_PROMPT_CHARS = 300


def looks_like_claude(record: Record) -> bool:
    kind = record.get("type")
    message = record.get("message")
    if not isinstance(kind, str):
        return False
    if kind in ("assistant", "user"):
        return isinstance(message, dict) and "parts" not in message
    has_session = "sessionId" in record or "session_id" in record
    return has_session and kind in _KINDS and ("subtype" in record or kind == "rate_limit_event")


class _Conversation:
    """One run. What is told of a sub-agent has its name on it."""

    def __init__(self, engine: str) -> None:
        self.run = RunAssembly(engine=engine)
        self.has_begun = False
        self.uuids: deque[str] = deque(maxlen=_REMEMBERED_RECORDS)
        self._taker = EntryTaker(self.run)
        self._results = ClaudeStreamParser()
        self._session = ClaudeSessionParser()
        self._agents: dict[str, str] = {}

    def take(self, event: Node) -> None:
        at = read_time(event.at("timestamp").value)
        self.run.hear(at)
        self._name(event)
        match event.word("type"):
            case "assistant":
                self._assistant(event, at)
            case "user":
                self._user(event, at)
            case "system":
                self._system(event, at)
            case "result" | "rate_limit_event":
                self._feed(self._results.read_event(event), at)
            case _:
                pass

    def finish(self) -> Trace:
        run = self.run
        if run.is_working and run.end_state in (None, EndState.OK):
            run.end_state = None
            run.attributes.setdefault("end", "in the middle of its work")
        run.ends_itself = True
        return run.finish()

    def _name(self, event: Node) -> None:
        run = self.run
        run.run = run.run or event.word("sessionId") or event.word("session_id")
        run.engine_version = run.engine_version or event.word("version") or event.word("claude_code_version")
        for name in ("cwd", "gitBranch"):
            if name not in run.attributes and (value := event.word(name)):
                run.attributes[name] = value
        run.folder = run.folder or event.text("cwd")

    def _agent_of(self, event: Node) -> str:
        if event.flag("isSidechain"):
            self.run.is_sorted = False
            return event.word("agentId") or "sub-agent"
        parent = event.word("parent_tool_use_id")
        return self._agents.get(parent, "sub-agent") if parent else ""

    def _assistant(self, event: Node, at: float | None) -> None:
        message, agent = event.at("message"), self._agent_of(event)
        if event.flag("isApiErrorMessage") or event.has("error") or message.text("model") == "<synthetic>":
            self._complaint(event, at)
            return
        usage = read_tokens(message.at("usage")) if message.has("usage") else None
        self.run.answer(message.word("id"), usage, model=message.word("model"), at=at, is_main=not agent)
        has_call = False
        for block in message.items("content"):
            match block.word("type"):
                case "text":
                    self.run.say(block.text("text", limit=entries.TEXT_LIMIT))
                case "tool_use" | "server_tool_use":
                    has_call = True
                    self._call(block, at, agent)
                case _:
                    pass
        if agent:
            return
        stopped = message.text("stop_reason")
        self.run.is_working = has_call or (stopped == "tool_use")
        if not self.run.is_working:
            said = any(block.text("type") == "text" for block in message.items("content"))
            self.run.is_working = not (said or stopped in _FINAL_STOPS)
            self.run.end_state = EndState.REFUSED if stopped == "refusal" else EndState.OK
            self.run.error = ""

    def _call(self, block: Node, at: float | None, agent: str) -> None:
        call, tool, arguments = block.word("id"), block.word("name"), block.at("input").value
        if tool in ("Task", "Agent") and isinstance(arguments, dict):
            self._agents[call] = block.word("input", "subagent_type") or "sub-agent"
        self.run.call_tool(
            call, tool, arguments if isinstance(arguments, dict) else block.brief("input", limit=8000), at, agent
        )

    def _complaint(self, event: Node, at: float | None) -> None:
        """The CLI's own words in the shape of an answer, nearly always about a failed call."""
        words = "\n".join(block.text("text") for block in event.items("message", "content"))
        code, status = event.word("error"), event.whole("apiErrorStatus") or event.whole("api_error_status")
        is_error = event.flag("isApiErrorMessage") or bool(code) or words.startswith("API Error")
        if not is_error:
            self.run.say(words)
            return
        self._taker.take(describe_error(f"{code}: {words}" if code else words, status), at)
        self._taker.end(success=False, reason=words or code)

    def _user(self, event: Node, at: float | None) -> None:
        agent = self._agent_of(event)
        for entry in ClaudeStreamParser.read_event(self._results, event):
            if isinstance(entry, entries.ToolResult):
                self.run.is_working = self.run.is_working or not agent
                status = STATUS_OF_TOOL[entry.status]
                code = entry.exit_code if entry.exit_code is not None else _exit_code(entry.output)
                self.run.end_tool(entry.call_id, status, entry.output, exit_code=code, at=at)
        if agent:
            return
        for entry in self._session.read_event(event):
            match entry:
                case entries.Prompted():
                    self.run.attributes.setdefault("prompt", entries.one_line(entry.text, _PROMPT_CHARS))
                    self.run.is_working = True
                case entries.End(success=False):
                    self.run.is_working, self.run.end_state = False, EndState.KILLED
                    self.run.error = entry.reason
                case _:
                    pass

    def _system(self, event: Node, at: float | None) -> None:
        run = self.run
        match event.word("subtype"):
            case "init":
                run.model = run.model or event.word("model")
                self.has_begun = True
            case "turn_duration":
                run.is_working = False
                run.end_state = run.end_state or EndState.OK
            case "api_error":
                delay = event.number("retryInMs")
                status = event.whole("error", "status")
                words = event.text("error", "error", "error", "message") or event.text("error", "message")
                run.refuse(status, None if delay is None else delay / 1000, at, words or "a call of the model failed")
            case _:
                self._feed(self._results.read_event(event), at)

    def _feed(self, found: Iterator[entries.TraceEntry], at: float | None) -> None:
        for entry in found:
            self._taker.take(entry, at)


def _exit_code(output: str) -> int | None:
    """As the shell tool tells it at the head of a failure."""
    _, found, rest = output[:200].partition("Exit code ")
    number = rest.split(None, 1)[0] if found and rest.strip() else ""
    return int(number) if number.isascii() and number.isdigit() and len(number) < 6 else None


class ClaudeReader:
    """Records of several conversations may come mixed. A record whose conversation has another name continues the one
    that has its parent: a conversation that is resumed may get a new name."""

    def __init__(self, name: str, engine: str = ENGINE) -> None:
        self._name = name
        self._engine = engine
        self._runs: dict[str, _Conversation] = {}
        self._last: _Conversation | None = None

    def take(self, record: Record, number: int) -> Iterator[Trace]:
        event = Node(record)
        conversation = self._conversation_of(event)
        conversation.take(event)
        self._last = conversation
        return iter(())

    def close(self) -> Iterator[Trace]:
        seen = {id(one): one for one in self._runs.values()}
        if self._last is not None:
            seen.setdefault(id(self._last), self._last)
        for conversation in seen.values():
            if conversation.has_begun or not conversation.run.is_empty:
                conversation.run.run = conversation.run.run or self._name
                yield conversation.finish()

    def _conversation_of(self, event: Node) -> _Conversation:
        session = event.word("sessionId") or event.word("session_id")
        if not session:
            return self._last or _Conversation(self._engine)
        known = self._runs.get(session)
        if known is None:
            parent = event.word("parentUuid")
            known = next((one for one in self._runs.values() if parent and parent in one.uuids), None)
            known = known or self._unnamed() or _Conversation(self._engine)
            self._runs[session] = known
        if uuid := event.word("uuid"):
            known.uuids.append(uuid)
        return known

    def _unnamed(self) -> _Conversation | None:
        """What came before the first name."""
        return self._last if not self._runs else None
