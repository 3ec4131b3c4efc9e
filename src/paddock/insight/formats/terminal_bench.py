"""Terminal-Bench: results of trials, and the failures and steps that others drew from them."""

import re
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from paddock.core.trace import clip
from paddock.insight.formats.bounds import (
    MOST_STEPS,
    MOST_TESTS,
    STEPS_LEFT_OUT,
    bounded_attributes,
    error_text,
    last_lines,
    name_text,
    plain_text,
)
from paddock.insight.formats.neutral import read_neutral
from paddock.insight.formats.neutral_steps import read_steps
from paddock.insight.formats.reader import NotARun, Record
from paddock.insight.formats.swe_agent import SweAgentReader, looks_like_swe_agent, read_trajectory
from paddock.insight.formats.usage_words import read_usage
from paddock.insight.formats.words import read_count, read_end_state, read_result, read_time
from paddock.insight.trace import ERROR_CHARS, EndState, Result, Trace

# What went wrong after the agent: with its tests, or with what reads their results.
_AFTER_THE_AGENT = frozenset({"", "unset", "none", "test_timeout", "parse_error"})
_SUBMISSION = re.compile(r"(?:\d{8}_)?([^_]+)_(.+)\Z")
_TAIL_READ = 1 << 20
_TELLING = frozenset({"trial_name", "trial", "failure_mode", "is_resolved", "parser_results"})
_OWN = frozenset(
    "id trial_name trial task_id task is_resolved resolved failure_mode parser_results parser tail pane_tail last_obs"  # noqa: SIM905
    " harness_error steps submission trial_started_at t0 trial_ended_at t1 instruction run"
    " total_input_tokens total_output_tokens".split()
)


def looks_like_terminal_bench(record: Record) -> bool:
    keys = record.keys()
    named = "trial_name" in keys or "trial" in keys
    return "failure_mode" in keys and named and ("is_resolved" in keys or "resolved" in keys)


class TerminalBenchReader:
    """A trial a record; those of a whole run are a list in one."""

    def __init__(self, name: str) -> None:
        self._name = name

    def take(self, record: Record, number: int) -> Iterator[Trace]:
        if _TELLING.isdisjoint(record):
            raise NotARun("is no result of a trial")
        yield read_trial(record)

    def close(self) -> Iterator[Trace]:
        return iter(())


class TrajectoryReader(SweAgentReader):
    """Trajectories, also where the results of trials were written around them."""

    def take(self, record: Record, number: int) -> Iterator[Trace]:
        if looks_like_terminal_bench(record):
            yield read_trial(record)
        else:
            yield from super().take(record, number)


def read_trial(record: Record) -> Trace:
    """Where nobody knows whether it was resolved, its tests did not run to their end: it was not. What others wrote
    beside the fields of Terminal-Bench is read as it is in neutral lines."""
    beside = read_neutral({name: value for name, value in record.items() if name not in _OWN}, 0)
    mode = name_text(record.get("failure_mode"))
    resolved = record.get("is_resolved", record.get("resolved"))
    outcome = read_result(resolved)
    if outcome is None:
        outcome = Result.FAILURE if mode not in ("", "unset", "none") else Result.UNKNOWN
    submission = name_text(record.get("submission"))
    parts = _SUBMISSION.match(submission)
    tokens = read_usage({name: value for name, value in record.items() if name.startswith("total_")}).tokens
    said = tokens is not None and bool(tokens.input_total or tokens.output)
    trace = replace(
        beside,
        run=name_text(record.get("id")) or name_text(record.get("trial_name") or record.get("trial")),
        task=name_text(record.get("task_id") or record.get("task")),
        engine=parts[1] if parts else beside.engine or beside.agent,
        agent="",
        model=beside.model or (parts[2] if parts else ""),
        label=submission or name_text(record.get("run")) or beside.label,
        started=read_time(record.get("trial_started_at") or record.get("t0")) or beside.started,
        ended=read_time(record.get("trial_ended_at") or record.get("t1")) or beside.ended,
        outcome=outcome,
        end_state=EndState.OK if mode in _AFTER_THE_AGENT else read_end_state(mode) or EndState.UNKNOWN,
        error=_error(record, mode, beside.error),
        tail=_tail(record) or beside.tail,
        model_spoke=True if said else beside.model_spoke,
        usage=tokens if said else beside.usage,
        tests=_tests(record.get("parser_results") or record.get("parser")) or beside.tests,
        attributes=_attributes(record, mode, beside),
    )
    return _with_steps(trace, record)


def _error(record: Record, mode: str, beside: str) -> str:
    told = error_text(record.get("harness_error"), ERROR_CHARS) or beside
    return told or (mode.replace("_", " ") if mode not in _AFTER_THE_AGENT else "")


def _tail(record: Record) -> str:
    """Of the last thing that was seen of the terminal, the end."""
    shown = [record.get("pane_tail") or record.get("tail"), record.get("last_obs")]
    return last_lines("\n".join(plain_text(one, _TAIL_READ) for one in shown if one))


def _with_steps(trace: Trace, record: Record) -> Trace:
    told, attributes = record.get("steps"), trace.attributes
    if looks_like_swe_agent(record):
        trajectory = read_trajectory(record, trace.run)
        steps, left_out = trajectory.steps, trajectory.attributes.get(STEPS_LEFT_OUT, "")
    else:
        steps = read_steps(told, MOST_STEPS) or trace.steps
        left_out = str(len(told) - MOST_STEPS) if isinstance(told, list) and len(told) > MOST_STEPS else ""
    if left_out:
        attributes = {**attributes, STEPS_LEFT_OUT: left_out}
    if steps or read_count(record.get("n_steps")):
        return replace(trace, steps=steps, model_spoke=True, attributes=attributes)
    return trace


def _tests(value: object) -> dict[str, bool]:
    if not isinstance(value, Mapping):
        return {}
    return {clip(str(name), 200): result == "passed" for name, result in list(value.items())[:MOST_TESTS]}


def _attributes(record: Record, mode: str, beside: Trace) -> dict[str, str]:
    known = {"failure_mode": mode} if mode else {}
    trial = name_text(record.get("trial_name") or record.get("trial"))
    return bounded_attributes({**({"trial": trial} if trial else {}), **beside.attributes}, known)
