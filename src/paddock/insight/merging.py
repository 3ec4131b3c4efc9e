"""Two records of one run as one run: whether they are, and what both tell together."""

from collections.abc import Iterator

from msgspec.structs import replace

from paddock.core.trace import TokenUsage
from paddock.insight.formats.bounds import MOST_ATTRIBUTES
from paddock.insight.paths import Symbols, path_of
from paddock.insight.trace import CostSource, EndState, Facts, KeptTrace, Result, Trace

SOURCE_CHARS = 1_000
UNNAMED_RUN = "run"
_TELLING = (
    *("task", "agent", "engine", "model", "host", "account"),
    *("started", "ended", "outcome", "end_state", "usage", "tests"),
)
_LATER_WINS = (
    *("task", "kind", "agent", "engine", "engine_version", "model", "host", "account", "tail"),
    *("steps", "calls", "tests"),
)
_NUMBERS = ("started", "ended", "reasoning_tokens", "startup_tokens", "startup_cached", "waited_seconds", "model_calls")


def is_same_run(known: KeptTrace, trace: Trace, symbols: Symbols, *, same_file: bool) -> bool:
    """Of two records under one name. Those that began at the same time are of one run, of which one may tell more.
    Where not both tell when, a file has a record for each run, and only one that is there twice is the same; so is the
    name of a task no name of one attempt at it. Records of several files must not contradict each other in anything."""
    told = known.trace
    if told.started is not None and trace.started is not None:
        return told.started == trace.started and (not told.task or not trace.task or told.task == trace.task)
    if same_file or trace.run in ("", UNNAMED_RUN, trace.task):
        return _is_alike(known, trace, symbols)
    return _is_in_accord(known, trace, symbols)


def _is_alike(known: KeptTrace, trace: Trace, symbols: Symbols) -> bool:
    told = known.trace
    if any(getattr(told, name) != getattr(trace, name) for name in (*_TELLING, "kind", "error", "tail")):
        return False
    return known.step_count == len(trace.steps) and known.path == path_of(trace.steps, symbols)


def _is_in_accord(known: KeptTrace, trace: Trace, symbols: Symbols) -> bool:
    told = known.trace
    errors = {error for one in (told, trace) if (error := _own_error(one))}
    if len(errors) > 1 or any(_differs(told, trace, name) for name in _TELLING):
        return False
    if not known.step_count or not trace.steps:
        return True
    return known.step_count == len(trace.steps) and known.path == path_of(trace.steps, symbols)


def _differs(known: Trace, trace: Trace, name: str) -> bool:
    one, other = getattr(known, name), getattr(trace, name)
    return one != other and _tells(one) and _tells(other)


def _tells(value: object) -> bool:
    return value is not None and value not in ("", {}, Result.UNKNOWN, EndState.UNKNOWN)


def merged(known: Trace, later: Trace) -> Trace:
    """Under the name and label of the one that is known, which it is itself where the later one adds nothing. What both
    tell is taken from the later one."""
    usage, cost_source = _usage(known, later)
    spoke = (known.model_spoke, later.model_spoke)
    both = replace(
        known,
        **{name: getattr(later, name) or getattr(known, name) for name in _LATER_WINS},
        **{name: _later(getattr(known, name), getattr(later, name)) for name in _NUMBERS},
        outcome=known.outcome if later.outcome is Result.UNKNOWN else later.outcome,
        end_state=known.end_state if later.end_state is EndState.UNKNOWN else later.end_state,
        error=_own_error(later) or _own_error(known) or later.error or known.error,
        # One record may lack the calls that another has seen.
        model_spoke=True if True in spoke else _later(*spoke),
        usage=usage,
        cost_source=cost_source,
        facts=replace(known.facts, **{name: value for name, value in _facts(later) if value not in (None, "")}),
        attributes=dict(list({**known.attributes, **later.attributes}.items())[:MOST_ATTRIBUTES]),
    )
    return known if both == known else replace(both, source=_sources(known.source, later.source))


def _own_error(trace: Trace) -> str:
    """Empty where it only says in words what an attribute says, such as `failure_mode`."""
    return "" if trace.error.replace(" ", "_") in trace.attributes.values() else trace.error


def _later(known: object, later: object) -> object:
    return known if later is None else later


def _facts(trace: Trace) -> Iterator[tuple[str, object]]:
    return ((name, getattr(trace.facts, name)) for name in Facts.__struct_fields__)


def _usage(known: Trace, later: Trace) -> tuple[TokenUsage | None, CostSource]:
    """With the cost of the earlier one where the later one tells none."""
    if later.usage is None:
        return known.usage, known.cost_source
    if later.usage.cost_usd is None and known.usage is not None and known.usage.cost_usd is not None:
        return replace(later.usage, cost_usd=known.usage.cost_usd), known.cost_source
    return later.usage, later.cost_source


def _sources(known: str, later: str) -> str:
    """Both, unless that is too long."""
    both = f"{known}, {later}" if known and later and later not in known.split(", ") else known or later
    return both if len(both) <= SOURCE_CHARS else known
