"""The `session/update` notifications of the Agent Client Protocol, as entries of the trace.

Pure: an update in, entries out. Agents differ in what they send and when: a tool call may be announced before its
arguments are known, updates repeat what was said, and newer agents send kinds that are not known here.
"""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field

from paddock.core import trace
from paddock.engines.claude_stream import tool_argument
from paddock.engines.edits import TEXT_LIMIT, describe_edit, read_edits
from paddock.engines.jsonline import Node

_DONE = ("completed", "failed")
# Those that say nothing of a prompt: an agent may send them at any time.
_ASIDE = frozenset(
    {
        "available_commands_update",
        "current_mode_update",
        "config_option_update",
        "session_info_update",
    }
)
_HELD_TEXT = 4 * trace.TEXT_LIMIT
_MOST_CALLS = 1_000
_PLAN = "plan"
_MARKS = {"completed": "[x]", "in_progress": "[>]"}


@dataclass
class _Call:
    """A tool call that is not over. `told`: its ToolCall was passed on."""

    id: str
    title: str = ""
    kind: str = ""
    name: str = ""
    status: str = ""
    arguments: Node = field(default_factory=lambda: Node(None))
    content: list[Node] = field(default_factory=list)
    output: Node = field(default_factory=lambda: Node(None))
    told: bool = False
    shows_edit: bool = False

    def take(self, update: Node) -> None:
        """What an update leaves out stays as it was."""
        self.title = update.text("title", limit=trace.ARGUMENT_LIMIT) or self.title
        self.kind = update.word("kind") or self.kind
        self.name = update.word("_meta", "claudeCode", "toolName") or self.name
        self.status = update.word("status") or self.status
        self.arguments = update.at("rawInput") if update.at("rawInput").value else self.arguments
        self.content = list(update.items("content")) or self.content
        self.output = update.at("rawOutput") if update.has("rawOutput") else self.output

    @property
    def is_ready(self) -> bool:
        """Agents announce calls whose arguments they do not know yet."""
        return bool(self.arguments.value) or self.status not in ("", "pending")


class UpdateReader:
    """Reads the updates of one turn. `flush` after the last: words are passed on when something else follows them."""

    def __init__(self) -> None:
        self._words: list[str] = []
        self._length = 0
        self._message = ""
        self._calls: dict[str, _Call] = {}
        self._denied: set[str] = set()
        self._plan = ""
        self.cost: float | None = None
        self.model = ""
        self.denials = 0

    def read(self, update: Node) -> Iterator[trace.TraceEntry]:
        kind = update.word("sessionUpdate")
        if kind == "agent_message_chunk":
            yield from self._chunk(update)
            return
        if not is_aside(update):
            yield from self.flush()
        match kind:
            case "agent_thought_chunk":
                yield trace.Progress("thinking")
            case "tool_call" | "tool_call_update":
                yield from self._tool(update)
            case "plan" | "plan_update":
                yield from self._read_plan(update)
            case "usage_update":
                self._read_cost(update)
                yield trace.Progress(kind)
            case _:
                yield trace.Progress(kind or "update")

    def flush(self) -> Iterator[trace.TraceEntry]:
        """The words so far, as a whole."""
        text, self._words, self._length = "".join(self._words), [], 0
        if text.strip():
            yield trace.Text(trace.clip(text.strip("\n"), trace.TEXT_LIMIT))

    def deny(self, call_id: str) -> None:
        """The permission for this call was refused: what its agent calls a failure is a denial."""
        self.denials += 1
        self._denied.add(call_id)

    def show(self, call: Node) -> Iterator[trace.TraceEntry]:
        """A call of which the agent asks whether it may: it is told before the question."""
        yield from self.flush()
        known = self._call(call.word("toolCallId"))
        known.take(call)
        yield from self._tell(known)

    def _chunk(self, update: Node) -> Iterator[trace.TraceEntry]:
        message = update.word("messageId")
        if message and self._message and message != self._message:
            yield from self.flush()
        self._message = message
        text = update.text("content", "text", limit=TEXT_LIMIT)
        if not text:
            yield trace.Progress(update.word("content", "type") or "chunk")
            return
        self._words.append(text)
        self._length += len(text)
        if self._length > _HELD_TEXT:
            self._words = [trace.clip("".join(self._words), 2 * trace.TEXT_LIMIT)]
            self._length = len(self._words[0])
        yield trace.Partial(trace.clip(text, trace.TEXT_LIMIT))

    def _call(self, call_id: str) -> _Call:
        while len(self._calls) >= _MOST_CALLS and call_id not in self._calls:
            self._calls.pop(next(iter(self._calls)))
        return self._calls.setdefault(call_id, _Call(call_id))

    def _tool(self, update: Node) -> Iterator[trace.TraceEntry]:
        call_id = update.word("toolCallId")
        if not call_id:
            yield trace.Progress("tool call without an id")
            return
        call = self._call(call_id)
        call.take(update)
        if call.is_ready:
            yield from self._tell(call)
        else:
            yield trace.Progress("tool call announced")
        if call.status in _DONE:
            del self._calls[call_id]
            yield self._result(call, list(update.items("content")))

    def _tell(self, call: _Call) -> Iterator[trace.TraceEntry]:
        if not call.told:
            call.told = True
            name = call.name or call.kind or "tool"
            yield trace.ToolCall(call.id, name, read_argument(call.arguments) or call.title, _digest(call.arguments))
        elif call.status not in _DONE:
            yield trace.Progress("tool call goes on")
        if not call.shows_edit:
            edits = list(_edits(call))
            call.shows_edit = bool(edits)
            yield from edits

    def _result(self, call: _Call, said: list[Node]) -> trace.TraceEntry:
        """`said` is the content of the last update: what an earlier one told of a call is not its output."""
        output = "\n".join(filter(None, map(_content_text, said))) or _output_text(call.output)
        code = call.output.whole("exit_code")
        code = call.output.whole("exitCode") if code is None else code
        status = trace.ToolStatus.OK
        if call.id in self._denied:
            status = trace.ToolStatus.DENIED
            self._denied.discard(call.id)
        elif call.status == "failed" or code not in (None, 0):
            status = trace.ToolStatus.ERROR
        return trace.ToolResult(call.id, status, trace.clip(output, trace.OUTPUT_LIMIT), code)

    def _read_plan(self, update: Node) -> Iterator[trace.TraceEntry]:
        """As the call of a tool that keeps a list, which is what it is with most agents."""
        entries = list(update.items("entries")) or list(update.items("plan", "entries"))
        lines = [f"{_MARKS.get(e.text('status'), '[ ]')} {trace.one_line(e.text('content'), 200)}" for e in entries]
        plan = "\n".join(lines)
        if not plan or plan == self._plan:
            yield trace.Progress(_PLAN)
            return
        self._plan = plan
        yield trace.ToolCall(_PLAN, _PLAN, trace.clip(plan, trace.ARGUMENT_LIMIT), Node(plan).digest())
        yield trace.ToolResult(_PLAN, trace.ToolStatus.OK)

    def _read_cost(self, update: Node) -> None:
        self.model = update.word("_meta", "_claude/model") or self.model
        if update.text("cost", "currency") == "USD":
            amount = update.price("cost", "amount")
            self.cost = amount if amount is not None else self.cost


def is_aside(update: Node) -> bool:
    """Whether it is no sign that the agent works on its prompt."""
    return update.word("sessionUpdate") in _ASIDE


def read_usage(usage: Node) -> trace.TokenUsage:
    """Of the answer to a prompt. The figure for input is without what the cache gave and took."""
    return trace.TokenUsage(
        input_uncached=usage.count("inputTokens"),
        cache_write=usage.count("cachedWriteTokens"),
        cache_read=usage.count("cachedReadTokens"),
        output=usage.count("outputTokens"),
    )


def read_end(stop_reason: str, denials: int) -> trace.End:
    """What the last answer to a prompt says of the turn. A reason that is not known is no success."""
    ended_well = stop_reason == "end_turn"
    words = {"refusal": "the model refused", "max_tokens": "max_tokens: the answer was cut off"}
    reason = words.get(stop_reason, trace.one_line(stop_reason, trace.STEP_LIMIT) or "no stop reason")
    return trace.End(ended_well, reason, denials, refused=stop_reason == "refusal")


def read_argument(arguments: Node) -> str:
    """The one that people want to see."""
    words = [word.value for word in arguments.items("command") if isinstance(word.value, str)]
    if words:
        is_shell = len(words) == 3 and words[1] in ("-c", "-lc")
        return trace.clip(words[2] if is_shell else shlex.join(words), trace.ARGUMENT_LIMIT)
    return tool_argument(arguments) if isinstance(arguments.value, dict) else ""


def _digest(arguments: Node) -> str:
    """Some agents put ids and times beside the command, which are different every time."""
    return (arguments.digest("command") or arguments.digest()) if arguments.value else ""


def _edits(call: _Call) -> Iterator[trace.FileEdit]:
    diffs = [part for part in call.content if part.text("type") == "diff" and part.text("path")]
    for part in diffs:
        path = part.text("path", limit=trace.ARGUMENT_LIMIT)
        old, new = (part.text(name, limit=TEXT_LIMIT) for name in ("oldText", "newText"))
        yield describe_edit(call.id, path, old, new)
    if not diffs:
        yield from read_edits(call.id, call.arguments)


def _content_text(part: Node) -> str:
    return part.text("content", "text", limit=TEXT_LIMIT) if part.text("type") == "content" else ""


def _output_text(output: Node) -> str:
    for name in ("formatted_output", "aggregated_output", "output", "stdout"):
        if isinstance(output.at(name).value, str):
            return output.text(name, limit=TEXT_LIMIT)
    return output.brief(limit=trace.OUTPUT_LIMIT)
