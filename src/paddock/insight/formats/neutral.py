"""The neutral JSON lines: one run a line. Liberal in what it takes, since people convert with scripts of their own."""

from collections.abc import Iterator, Mapping

import msgspec
from msgspec.structs import replace

from paddock.insight.formats.assembly import RunAssembly
from paddock.insight.formats.bounds import (
    MOST_CALLS,
    MOST_FILES,
    MOST_STEPS,
    MOST_TESTS,
    STEPS_LEFT_OUT,
    bounded_attributes,
    error_text,
    last_lines,
    name_text,
    plain_text,
)
from paddock.insight.formats.chat import MESSAGES, messages_of, take_messages
from paddock.insight.formats.completion import complete
from paddock.insight.formats.neutral_fields import (
    CALL_NAMES,
    FACT_NAMES,
    RUN_NAMES,
    by_field,
)
from paddock.insight.formats.neutral_steps import read_steps
from paddock.insight.formats.neutral_usage import read_told_usage
from paddock.insight.formats.words import (
    plain_key,
    read_count,
    read_duration,
    read_end_state,
    read_number,
    read_result,
    read_time,
    word_of,
)
from paddock.insight.trace import ERROR_CHARS, CostSource, EndState, Facts, ModelCall, Result, Step, Trace

_TELLING = frozenset(
    {"task", "kind", "engine", "model", "steps", "outcome", "end_state", "error", "started", "ended", "usage", "tests"}
)
_MISPLACED = frozenset({"outside", "ci"})
UNNAMED = ("a file that is not named",)
"""For one who only says that there was one, or how many."""
_FACT_TYPES = {field.name: field.type for field in msgspec.structs.fields(Facts)}
_SOURCE_CHARS = 1_000
_TAIL_READ = 1 << 20
_VERDICTS = frozenset({"failed", "failure", "fail", "passed", "success", "succeeded", "resolved", "unresolved"})
_LATE_FAILURES = frozenset(
    {"test_timeout", "parse_error", "tests_failed", "test_failed", "tests_timed_out", "verification_failed"}
)
"""Ends that tell of what came after the agent: its work did not pass."""
_VERDICT_KEYS = ("passed", "outcome", "result", "status", "success", "ok")
_LASTED = ("duration_seconds", "duration", "wall_seconds", "wall", "elapsed", "elapsed_seconds", "seconds")


def looks_neutral(record: Mapping[str, object]) -> bool:
    """Whether it names a run and says something of it. What has a type but no name of ours is one record of many."""
    found, _ = by_field(record, RUN_NAMES)
    if "type" in record and not {"run", "run_id", "task", "task_id", "instance_id"} & record.keys():
        return False
    return ("run" in found or "task" in found) and bool(_TELLING & found.keys())


def read_neutral(record: Mapping[str, object], number: int) -> Trace:
    """`number` is the line's, which stands in for a run's name where there is none."""
    told, others = by_field(record, RUN_NAMES)
    outcome, end_state = _read_end(told, others)
    usage, others = read_told_usage(told.get("usage"), others)
    facts, others = _read_facts(told.get("facts"), others)
    started, ended = _read_times(told, others)
    trace = Trace(
        run=name_text(told.get("run")) or f"line {number}",
        task=name_text(told.get("task")),
        kind=name_text(told.get("kind")),
        agent=name_text(told.get("agent")),
        engine=name_text(told.get("engine")),
        engine_version=name_text(told.get("engine_version")),
        model=name_text(told.get("model")),
        label=name_text(told.get("label")),
        host=name_text(told.get("host")),
        account=name_text(told.get("account")),
        started=started,
        ended=ended,
        outcome=outcome,
        end_state=end_state,
        error=error_text(told.get("error"), ERROR_CHARS),
        tail=_read_tail(told),
        model_spoke=_flag(told.get("model_spoke")),
        usage=usage.tokens,
        reasoning_tokens=read_count(told.get("reasoning_tokens", usage.reasoning)),
        cost_source=_cost_source(told.get("cost_source")),
        startup_tokens=read_count(told.get("startup_tokens")),
        startup_cached=read_count(told.get("startup_cached")),
        waited_seconds=read_duration(told.get("waited_seconds")),
        model_calls=read_count(told.get("model_calls")),
        steps=_read_steps(told, others),
        calls=_read_calls(told.get("calls")),
        facts=facts,
        tests=_read_tests(told.get("tests")),
        source=plain_text(told.get("source"), _SOURCE_CHARS),
        attributes=_read_attributes(told.get("attributes"), others),
    )
    trace = _with_messages(trace, record)
    return trace if told.get("as_exported") is True else complete(trace)


def _read_tail(told: dict[str, object]) -> str:
    """Of an error that is too long to be kept as one, the end is kept here."""
    tail = told.get("tail")
    if tail in (None, "", []):
        error = error_text(told.get("error"), _TAIL_READ)
        return last_lines(error) if len(error) > ERROR_CHARS else ""
    return last_lines(plain_text(tail, _TAIL_READ))


def _read_end(told: dict[str, object], others: dict[str, object]) -> tuple[Result, EndState]:
    """The first of several words for one thing that is understood. What is not is kept among the attributes."""
    outcome, as_end = None, None
    for name, value in _candidates(told, others, "outcome"):
        outcome = read_result(value)
        if outcome is not None:
            others.pop(name, None)
            break
        as_end = as_end or (read_end_state(value) if read_number(value) is None else None)
        if value is not None:
            others.setdefault(name, value)
    end_state = None
    for name, value in _candidates(told, others, "end_state"):
        end_state = read_end_state(value)
        if end_state is not None:
            others.pop(name, None)
            break
        if value not in (None, ""):
            others.setdefault(name, value)
    if outcome is None and as_end is not None:
        outcome = Result.UNKNOWN if as_end in (EndState.OK, EndState.UNKNOWN) else Result.FAILURE
    if outcome is None:
        outcome = _verdict_of(word_of(told.get("end_state")))
    return outcome or Result.UNKNOWN, end_state or as_end or EndState.UNKNOWN


def _verdict_of(end: str) -> Result | None:
    if end in _LATE_FAILURES:
        return Result.FAILURE
    return read_result(end) if end in _VERDICTS else None


def _candidates(told: dict[str, object], others: dict[str, object], field: str) -> list[tuple[str, object]]:
    aliases = [(key, value) for key, value in others.items() if RUN_NAMES.get(plain_key(key)) == field]
    return [(field, told.get(field)), *aliases]


def _read_times(told: dict[str, object], others: dict[str, object]) -> tuple[float | None, float | None]:
    """A run that ended before it began has clocks that differ: only its end is kept, which it is filed under."""
    started, ended = read_time(told.get("started")), read_time(told.get("ended"))
    lasted = read_duration(next((others[name] for name in _LASTED if name in others), None))
    if ended is None and started is not None and lasted is not None:
        ended = started + lasted
    elif started is None and ended is not None and lasted is not None:
        started = ended - lasted
    if started is not None and ended is not None and ended < started:
        others.setdefault("clock", f"ended {started - ended:.0f}s before it started")
        return None, ended
    return started, ended


def _read_steps(told: dict[str, object], others: dict[str, object]) -> tuple[Step, ...]:
    """Of several fields the first that is a list: a number only says how many there were."""
    found: list[object] | None = None
    for name, value in _candidates(told, others, "steps"):
        if isinstance(value, list) and found is None:
            found = value
            others.pop(name, None)
        elif value is not None:
            others.setdefault(name, value)
    if found is not None and len(found) > MOST_STEPS:
        others[STEPS_LEFT_OUT] = len(found) - MOST_STEPS
    return read_steps(found, MOST_STEPS)


def _with_messages(trace: Trace, record: Mapping[str, object]) -> Trace:
    """With what a conversation in it tells, where nothing else does."""
    messages = messages_of(record)
    if messages is None or trace.steps:
        return trace
    run = RunAssembly()
    take_messages(run, messages)
    seen = run.finish()
    left_out = {name: value for name, value in seen.attributes.items() if name == STEPS_LEFT_OUT}
    return replace(
        trace,
        steps=seen.steps,
        tail=trace.tail or seen.tail,
        calls=trace.calls or seen.calls,
        usage=trace.usage or seen.usage,
        model=trace.model or seen.model,
        attributes={**{name: value for name, value in trace.attributes.items() if name not in MESSAGES}, **left_out},
    )


def _read_facts(told: object, others: dict[str, object]) -> tuple[Facts, dict[str, object]]:
    inner = told if isinstance(told, dict) else {}
    beside, rest = by_field(others, FACT_NAMES)
    given, _ = by_field(inner, FACT_NAMES)
    known = {name: fact for name, value in {**beside, **given}.items() if (fact := _fact(name, value)) is not None}
    return msgspec.convert(known, Facts), rest


def _fact(name: str, value: object) -> object:
    if name in _MISPLACED and isinstance(value, int):
        return UNNAMED if value > 0 else ()
    if isinstance(value, list):
        value = [path for path in value if isinstance(path, str)][:MOST_FILES]
    if isinstance(value, str):
        value = value[:200]
    try:
        return msgspec.convert(value, _FACT_TYPES[name], strict=False)
    except (msgspec.ValidationError, OverflowError, ValueError):
        return None


def _read_calls(value: object) -> tuple[ModelCall, ...]:
    if not isinstance(value, list):
        return ()
    return tuple(_read_call(item) for item in value[:MOST_CALLS] if isinstance(item, dict))


def _read_call(item: dict[str, object]) -> ModelCall:
    told, others = by_field(item, CALL_NAMES)
    usage, _ = read_told_usage(told.get("usage"), others)
    status = read_count(told.get("status"))
    return ModelCall(
        id=name_text(told.get("id")),
        model=name_text(told.get("model")),
        usage=usage.tokens,
        at=read_time(told.get("at")),
        seconds=read_duration(told.get("seconds")),
        status=status if status is None or status < 1000 else None,
        retry_after=read_duration(told.get("retry_after")),
    )


def _read_tests(value: object) -> dict[str, bool]:
    """Results by name, a list of results with their names, or the names of those that passed and failed."""
    results = {name_text(name): read_result(result) for name, result in _test_pairs(value)}
    return {name: result is Result.SUCCESS for name, result in results.items() if result not in (None, Result.UNKNOWN)}


def _test_pairs(value: object) -> Iterator[tuple[object, object]]:
    if isinstance(value, dict):
        for name, result in list(value.items())[:MOST_TESTS]:
            if isinstance(result, list):
                yield from ((one, name) for one in result[:MOST_TESTS] if isinstance(one, str))
            elif isinstance(result, dict):
                yield name, next((result[key] for key in _VERDICT_KEYS if key in result), None)
            else:
                yield name, result
    elif isinstance(value, list):
        for item in value[:MOST_TESTS]:
            if isinstance(item, dict):
                name = next((item[key] for key in ("name", "test", "id", "nodeid") if key in item), None)
                yield name, next((item[key] for key in _VERDICT_KEYS if key in item), None)


def _read_attributes(told: object, others: dict[str, object]) -> dict[str, str]:
    if isinstance(told, dict):
        return bounded_attributes(others, bounded_attributes(told))
    return bounded_attributes(others if told is None else {**others, "attributes": told})


def _flag(value: object) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    result = read_result(value)
    return None if result in (None, Result.UNKNOWN) else result is Result.SUCCESS


def _cost_source(value: object) -> CostSource:
    try:
        return CostSource(word_of(value))
    except ValueError:
        return CostSource.UNKNOWN
