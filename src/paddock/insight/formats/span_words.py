"""What the spans of a run say of all of it: its first one, that of its first agent, and their resource."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from paddock.core.trace import clip
from paddock.insight.formats.bounds import name_text
from paddock.insight.formats.entries import end_of_words
from paddock.insight.formats.neutral import read_neutral
from paddock.insight.formats.neutral_fields import RUN_NAMES
from paddock.insight.formats.spans import Span
from paddock.insight.formats.usage_words import read_usage
from paddock.insight.trace import ERROR_CHARS, CostSource, EndState, Trace

OWN_SPACES = ("paddock", "fleet")
AGENT_NAMES = ("gen_ai.agent.name", "agent.name", "graph.node.id")
_TEXTS = ("run", "task", "kind", "agent", "account", "label", "engine_version")
_FIGURES = ("startup_tokens", "startup_cached", "waited_seconds", "model_calls", "reasoning_tokens")


def with_words(trace: Trace, spans: Sequence[Span], kinds: Mapping[str, str]) -> Trace:
    """Whether a model spoke is only known where somebody says which spans are calls of one."""
    known = {span.id for span in spans}
    root = next((span for span in spans if span.parent not in known), spans[0])
    agent = next((span for span in spans if kinds[span.id] == "AGENT"), root)
    told = read_neutral({"run": trace.run, **_told(root, agent)}, 0)
    failed = root if root.failed else agent if agent.failed else None
    end_state = told.end_state
    if end_state is EndState.UNKNOWN:
        end_state = EndState.OK if failed is None else end_of_words(failed.message)
    error = told.error or (clip(failed.message, ERROR_CHARS) if failed is not None else "")
    spoke = trace.model_spoke if any(kinds.values()) or trace.calls else None
    return _with_totals(
        replace(
            trace,
            **_given(told, _TEXTS),
            **_given(told, _FIGURES),
            engine=told.engine or _engine(agent),
            model=trace.model or told.model or name_text(agent.attributes.get("gen_ai.request.model")),
            host=told.host or name_text(root.resource.get("host.name")),
            outcome=told.outcome,
            end_state=end_state,
            error=error,
            model_spoke=told.model_spoke if told.model_spoke is not None else spoke,
            facts=told.facts,
        ),
        agent,
    )


def _with_totals(trace: Trace, agent: Span) -> Trace:
    """An agent adds up what its calls have used; that counts where they themselves do not say it."""
    version = trace.engine_version or name_text(agent.attributes.get("gen_ai.agent.version"))
    trace = replace(trace, engine_version=version)
    if trace.usage is not None:
        return trace
    usage = read_usage(agent.attributes).tokens
    if usage is None or not (usage.input_total or usage.output):
        return trace
    source = CostSource.TOLD if usage.cost_usd is not None else trace.cost_source
    return replace(trace, usage=usage, cost_source=source, model_spoke=trace.model_spoke or usage.output > 0)


def _given(told: Trace, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name in names if (value := getattr(told, name)) not in (None, "")}


def _told(root: Span, agent: Span) -> dict[str, object]:
    """What there is under our own names, with a space of ours before them."""
    found: dict[str, object] = {}
    for attributes in (root.resource, agent.attributes, root.attributes):
        for key, value in attributes.items():
            space, dot, name = key.partition(".")
            field = RUN_NAMES.get(name.replace(".", "_"))
            if dot and space in OWN_SPACES and field is not None:
                found[field] = value
    return found


def name_of_agent(span: Span) -> str:
    return span.text_of(AGENT_NAMES) or span.name.removeprefix("invoke_agent ").removesuffix(".run")


def _engine(agent: Span) -> str:
    if agent.name.startswith("claude_code."):
        return "claude"
    is_agent = any(name in agent.attributes for name in AGENT_NAMES) or agent.name.endswith(".run")
    return name_of_agent(agent) if is_agent or agent.name.startswith("invoke_agent ") else ""
