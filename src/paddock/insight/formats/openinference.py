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
from paddock.insight.formats.entries import EntryTaker
from paddock.insight.formats.reader import NotARun, Record
from paddock.insight.formats.span_words import name_of_agent, with_words
from paddock.insight.formats.spans import Span, looks_batched, looks_whole, read_spans
from paddock.insight.formats.usage_words import read_usage
from paddock.insight.formats.words import read_count, read_duration
from paddock.insight.phases import Activity
from paddock.insight.trace import StepStatus, Trace

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
_MESSAGES = ("gen_ai.response.id", "llm.response.id")
_OUTPUTS = ("output.value", "llm.output_messages.0.message.content", "gen_ai.completion.0.content")
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
    return with_words(run.finish(), in_order, kinds)


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
    return "" if len(above) < 2 else name_of_agent(above[0])


def _tool(span: Span) -> str:
    return span.text_of(_TOOL_NAMES) or span.name.removeprefix("execute_tool ")


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
    told = span.attributes.get("paddock.activity")
    seen = Activity(told, name_text(span.attributes.get("paddock.target"))) if isinstance(told, str) and told else None
    run.call_tool(span.id, tool, argument, span.started, agent, seen)
    output = span.message or next((value for name in _OUTPUTS if (value := span.attributes.get(name))), "")
    status = StepStatus.ERROR if span.failed else StepStatus.OK
    code = read_count(span.attributes.get("process.exit.code"))
    run.end_tool(span.id, status, output, exit_code=code, seconds=span.seconds)


def _take_call(run: RunAssembly, taker: EntryTaker, span: Span, agent: str) -> None:
    model = span.text_of(_MODELS)
    usage = read_usage(span.attributes)
    status = read_count(span.attributes.get("http.response.status_code"))
    if status is not None and 400 <= status < 600:
        wait = read_duration(span.attributes.get("paddock.retry_after"))
        run.refuse(status, wait, span.started, span.message or f"refused with status {status}")
        return
    if span.failed and usage.tokens is None:
        taker.take(describe_error(span.message or "a call of the model failed"), span.started)
        return
    run.answer(
        span.text_of(_MESSAGES) or span.id,
        usage.tokens,
        model=model,
        at=span.started,
        seconds=span.seconds,
        reasoning=usage.reasoning,
        is_main=not agent,
    )
    run.say(clip(str(next((value for name in _OUTPUTS if (value := span.attributes.get(name))), "")), 8_000))
