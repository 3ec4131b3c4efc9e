"""Conversations as chat messages, in the form of OpenAI's and Anthropic's interfaces, and tau-bench's results."""

from collections.abc import Iterator, Mapping

from paddock.core.trace import one_line
from paddock.engines.jsonline import Node
from paddock.insight.formats.assembly import RunAssembly
from paddock.insight.formats.failed_output import says_failed
from paddock.insight.formats.reader import NotARun, Record
from paddock.insight.formats.usage_words import read_usage
from paddock.insight.formats.words import read_end_state, read_result, read_time
from paddock.insight.trace import EndState, Result, StepStatus, Trace

MESSAGES = ("messages", "traj", "conversation", "chat", "dialogue")
_ROLES = frozenset({"system", "user", "assistant", "tool", "developer", "function"})
_TEXT_CHARS = 8_000
_PROMPT_CHARS = 300


def messages_of(record: Record) -> list[object] | None:
    """Those of a record that has a conversation in it."""
    for name in MESSAGES:
        value = record.get(name)
        if isinstance(value, list) and value and isinstance(value[0], dict):
            role = value[0].get("role")
            if isinstance(role, str) and role in _ROLES:
                return value
    return None


def looks_like_tau(record: Record) -> bool:
    return messages_of(record) is not None and "task_id" in record and ("reward" in record or "reward_info" in record)


class TauReader:
    """A trial of a task a record."""

    def __init__(self, name: str) -> None:
        self._name = name

    def take(self, record: Record, number: int) -> Iterator[Trace]:
        node = Node(record)
        task, trial = _id(node, "task_id"), _id(node, "trial")
        own = node.word("id") or ".".join(part for part in (task, trial) if part)
        run = RunAssembly(engine="tau-bench", run=own, task=task)
        for when in ("start_time", "timestamp", "end_time"):
            run.hear(read_time(node.at(when).value))
        take_messages(run, messages_of(record) or [])
        run.outcome = read_result(_reward(node)) or Result.UNKNOWN
        reason = node.word("termination_reason")
        run.end_state = read_end_state(reason) if reason and not reason.endswith("_stop") else EndState.OK
        run.error = node.text("info", "error", limit=_TEXT_CHARS) or node.text("info", "traceback", limit=_TEXT_CHARS)
        if run.error:
            run.end_state = EndState.CRASHED
        if trial:
            run.attributes["trial"] = trial
        if (cost := node.price("agent_cost")) is not None:
            run.told_cost = cost
        if run.is_empty and run.outcome is Result.UNKNOWN:
            raise NotARun("has no message of a conversation")
        yield run.finish()

    def close(self) -> Iterator[Trace]:
        return iter(())


def _reward(node: Node) -> object:
    return node.at("reward").value if node.has("reward") else node.at("reward_info", "reward").value


def _id(node: Node, name: str) -> str:
    number = node.whole(name)
    return node.word(name) if number is None else str(number)


def take_messages(run: RunAssembly, messages: list[object]) -> None:
    """The steps and answers in them."""
    for message in messages:
        if isinstance(message, dict):
            node = Node(message)
            at = read_time(node.at("timestamp").value)
            run.hear(at)
            _take_message(run, node, at)


def _take_message(run: RunAssembly, message: Node, at: float | None) -> None:
    match message.text("role"):
        case "assistant":
            told = message.at("usage").value
            usage = read_usage(told).tokens if isinstance(told, dict) else None
            run.answer(message.word("id"), usage, model=message.word("model"), at=at)
            _take_calls(run, message, at)
            _say_content(run, message)
        case "tool" | "function":
            call = message.word("tool_call_id") or message.word("id") or message.word("name")
            _end(run, call, message.brief("content", limit=_TEXT_CHARS), failed=message.flag("error"), at=at)
        case "user":
            for block in message.items("content"):
                if block.text("type") == "tool_result":
                    output = block.brief("content", limit=_TEXT_CHARS)
                    _end(run, block.word("tool_use_id"), output, failed=block.flag("is_error"), at=at)
            text = message.text("content", limit=_TEXT_CHARS)
            run.attributes.setdefault("prompt", one_line(text, _PROMPT_CHARS))
        case _:
            pass


def _take_calls(run: RunAssembly, message: Node, at: float | None) -> None:
    for call in message.items("tool_calls"):
        function = call.at("function") if call.has("function") else call
        _begin(run, call.word("id") or function.word("name"), function, at)
    if message.has("function_call"):
        function = message.at("function_call")
        _begin(run, function.word("name"), function, at)
    for block in message.items("content"):
        if block.text("type") == "tool_use":
            _begin(run, block.word("id"), block, at)


def _begin(run: RunAssembly, call: str, function: Node, at: float | None) -> None:
    told = next((v for name in ("arguments", "input", "args") if (v := function.at(name).value) is not None), "")
    arguments: str | Mapping[str, object] = told if isinstance(told, str | dict) else ""
    run.call_tool(call, function.word("name"), arguments, at)


def _end(run: RunAssembly, call: str, output: str, *, failed: bool, at: float | None) -> None:
    status = StepStatus.ERROR if failed or says_failed(output) else StepStatus.OK
    run.end_tool(call, status, output, at=at)


def _say_content(run: RunAssembly, message: Node) -> None:
    run.say(message.text("content", limit=_TEXT_CHARS))
    for block in message.items("content"):
        run.say(block.text("text", limit=_TEXT_CHARS))
