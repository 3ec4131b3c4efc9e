"""Runs from spans: those of OpenInference, of OpenTelemetry's conventions for generative models, and of claude itself.

All spans of one trace are one run. Calls of tools are its steps, calls of models its calls; what wraps those adds
their figures up again and is not counted.
"""

import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from paddock.core.trace import clip
from paddock.engines.trouble import describe_error
from paddock.insight.formats.assembly import RunAssembly
from paddock.insight.formats.bounds import name_text
from paddock.insight.formats.decode import NotJson, decode_json
from paddock.insight.formats.entries import EntryTaker, end_of_words
from paddock.insight.formats.neutral_fields import RUN_NAMES
from paddock.insight.formats.reader import NotARun, Record
from paddock.insight.formats.spans import Span, looks_batched, looks_whole, read_spans
from paddock.insight.formats.usage_words import read_usage
from paddock.insight.formats.words import read_end_state, read_result
from paddock.insight.trace import ERROR_CHARS, EndState, Result, StepStatus, Trace

MOST_HELD = 200_000
_TOOL_NAMES = ("tool.name", "gen_ai.tool.name", "tool_name", "traceloop.entity.name", "mcp.tool.name")
_ARGUMENTS = (
    "gen_ai.tool.call.arguments",
    "input.value",
    "traceloop.entity.input",
    "tool.arguments",
    "tool_input",
    "full_command",
)
_MODELS = (
    *("llm.model_name", "gen_ai.response.model", "gen_ai.request.model", "llm.response.model", "llm.request.model"),
    "model",
)
_OUTPUTS = ("output.value", "llm.output_messages.0.message.content", "gen_ai.completion.0.content")
_AGENTS = ("gen_ai.agent.name", "agent.name", "graph.node.id")
_CODE_STEP = re.compile(r"Step \d+\Z")
_CODER = "CodeAgent"
_FINAL = frozenset({"final_answer", "finish", "submit"})
_OF_OPERATION = {
    "chat": "LLM",
    "text_completion": "LLM",
    "generate_content": "LLM",
    "execute_tool": "TOOL",
    "invoke_agent": "AGENT",
    "create_agent": "",
}
_OF_NAME = (
    (re.compile(r"claude_code\.llm_request\Z|(?:chat|text_completion|generate_content) "), "LLM"),
    (re.compile(r"claude_code\.tool\Z|execute_tool "), "TOOL"),
    (re.compile(r"claude_code\.interaction\Z|invoke_agent "), "AGENT"),
)


class SpanReader:
    """Spans of a trace may be spread over a file; so may be those of several."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._held: OrderedDict[str, list[Span]] = OrderedDict()
        self._count = 0

    def take(self, record: Record, number: int) -> Iterator[Trace]:
        if looks_whole(record) and not looks_batched(record):
            spans = list(read_spans(record))
            yield replace(run_of_spans(spans), kind=name_text(record.get("split")))
            return
        for span in read_spans(record):
            if not span.trace:
                raise NotARun("has a span of no trace")
            self._held.setdefault(span.trace, []).append(span)
            self._held.move_to_end(span.trace)
            self._count += 1
        while self._count > MOST_HELD and len(self._held) > 1:
            _, spans = self._held.popitem(last=False)
            self._count -= len(spans)
            yield run_of_spans(spans)

    def close(self) -> Iterator[Trace]:
        for spans in self._held.values():
            yield run_of_spans(spans)


def run_of_spans(spans: Sequence[Span]) -> Trace:
    """Raises NotARun where there is none."""
    if not spans:
        raise NotARun("has no spans")
    kinds = {span.id: kind_of(span) for span in spans}
    parents = {span.id: span for span in spans}
    in_order = sorted(spans, key=lambda span: span.started if span.started is not None else float("inf"))
    run = RunAssembly(run=spans[0].trace)
    taker = EntryTaker(run)
    wraps_tools = {span.parent for span in spans if kinds[span.id] == "TOOL" and _tool(span) not in _FINAL}
    for span in in_order:
        run.hear(span.started)
        run.hear(span.ended)
        agent = _agent_of(span, parents, kinds)
        match kinds[span.id]:
            case "TOOL":
                _take_tool(run, span, _tool(span), _argument(span), agent)
            case "LLM":
                _take_call(run, taker, span, agent)
            case "CHAIN" if _runs_code(span, parents) and span.id not in wraps_tools:
                # An agent that writes code has it run here; only what the code calls has spans of its own.
                _take_tool(run, span, "python_interpreter", "", agent)
    knows = any(kinds.values())
    return _with_words(run.finish(), in_order, kinds, knows_calls=knows)


def _runs_code(span: Span, parents: Mapping[str, Span]) -> bool:
    return _CODE_STEP.match(span.name) is not None and _CODER in getattr(parents.get(span.parent), "name", "")


def kind_of(span: Span) -> str:
    """LLM, TOOL, AGENT, CHAIN or empty."""
    attributes = span.attributes
    told = attributes.get("openinference.span.kind") or attributes.get("traceloop.span.kind")
    if isinstance(told, str):
        kind = told.upper()
        return {"WORKFLOW": "CHAIN", "TASK": "CHAIN"}.get(kind, kind)
    operation = attributes.get("gen_ai.operation.name")
    if isinstance(operation, str) and operation in _OF_OPERATION:
        return _OF_OPERATION[operation]
    if "llm.request.type" in attributes or "gen_ai.usage.output_tokens" in attributes:
        return "AGENT" if "gen_ai.agent.name" in attributes and "gen_ai.request.model" not in attributes else "LLM"
    if "gen_ai.tool.name" in attributes:
        return "TOOL"
    return next((kind for pattern, kind in _OF_NAME if pattern.match(span.name)), "")


def _agent_of(span: Span, parents: Mapping[str, Span], kinds: Mapping[str, str]) -> str:
    """The sub-agent that it belongs to: the nearest agent above it that has one above it again."""
    above: list[Span] = []
    at, seen = span.parent, set[str]()
    while at in parents and at not in seen and len(seen) < 200:
        seen.add(at)
        if kinds[at] == "AGENT":
            above.append(parents[at])
        at = parents[at].parent
    return "" if len(above) < 2 else _name_of_agent(above[0])


def _name_of_agent(span: Span) -> str:
    return _text_of(span, _AGENTS) or span.name.removeprefix("invoke_agent ").removesuffix(".run")


def _tool(span: Span) -> str:
    return _text_of(span, _TOOL_NAMES) or span.name.removeprefix("execute_tool ")


def _text_of(span: Span, names: tuple[str, ...]) -> str:
    for name in names:
        value = span.attributes.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def _argument(span: Span) -> str | Mapping[str, object]:
    """What it was called with; of a Python function its keywords, or its first argument."""
    told = next((value for name in _ARGUMENTS if (value := span.attributes.get(name)) is not None), "")
    if isinstance(told, str) and told.startswith("{"):
        told = _object(told)
    if isinstance(told, dict):
        inner, args = told.get("kwargs"), told.get("args")
        if isinstance(inner, dict) and inner:
            return inner
        if isinstance(args, list) and args and isinstance(args[0], str):
            return args[0]
        return told
    return told if isinstance(told, str) else ""


def _object(text: str) -> object:
    try:
        return decode_json(text.encode("utf-8", "replace"))
    except NotJson:
        return text


def _take_tool(run: RunAssembly, span: Span, tool: str, argument: str | Mapping[str, object], agent: str) -> None:
    run.call_tool(span.id, tool, argument, span.started, agent)
    output = span.message or next((value for name in _OUTPUTS if (value := span.attributes.get(name))), "")
    status = StepStatus.ERROR if span.failed else StepStatus.OK
    run.end_tool(span.id, status, output, seconds=span.seconds)


def _take_call(run: RunAssembly, taker: EntryTaker, span: Span, agent: str) -> None:
    model = _text_of(span, _MODELS)
    usage = read_usage(span.attributes)
    if span.failed and usage.tokens is None:
        taker.take(describe_error(span.message or "a call of the model failed"), span.started)
        return
    run.answer(
        span.id,
        usage.tokens,
        model=model,
        at=span.started,
        seconds=span.seconds,
        reasoning=usage.reasoning,
        is_main=not agent,
    )
    run.say(clip(str(next((value for name in _OUTPUTS if (value := span.attributes.get(name))), "")), 8_000))


def _with_words(trace: Trace, spans: Sequence[Span], kinds: Mapping[str, str], *, knows_calls: bool) -> Trace:
    """What the first span and the resource say of the whole."""
    known = {span.id for span in spans}
    root = next((span for span in spans if span.parent not in known), spans[0])
    agent = next((span for span in spans if kinds[span.id] == "AGENT"), root)
    told = _told(root, agent)
    failed = root if root.failed else agent if agent.failed else None
    end_state = read_end_state(told.get("end_state"))
    if end_state is None:
        end_state = EndState.OK if failed is None else end_of_words(failed.message)
    refused = trace.model_spoke is False and trace.calls
    return replace(
        trace,
        task=name_text(told.get("task")),
        kind=name_text(told.get("kind")),
        agent=name_text(told.get("agent")),
        engine=name_text(told.get("engine")) or _engine(agent),
        engine_version=name_text(root.attributes.get("gen_ai.agent.version") or ""),
        host=name_text(root.resource.get("host.name")),
        account=name_text(told.get("account")),
        label=name_text(told.get("label")),
        outcome=read_result(told.get("outcome")) or Result.UNKNOWN,
        end_state=end_state,
        error=clip(failed.message, ERROR_CHARS) if failed is not None else "",
        model_spoke=trace.model_spoke if knows_calls or refused else None,
    )


def _told(root: Span, agent: Span) -> dict[str, object]:
    """What there is under our own names, `fleet.` or `paddock.` before them."""
    found: dict[str, object] = {}
    for attributes in (root.resource, agent.attributes, root.attributes):
        for key, value in attributes.items():
            space, dot, name = key.partition(".")
            field = RUN_NAMES.get(name.replace(".", "_"))
            if dot and space in ("fleet", "paddock") and field is not None:
                found[field] = value
    return found


def _engine(agent: Span) -> str:
    if agent.name.startswith("claude_code."):
        return "claude"
    named = agent.attributes.get("gen_ai.agent.name")
    return named if isinstance(named, str) else name_text(_name_of_agent(agent) if kind_of(agent) == "AGENT" else "")
