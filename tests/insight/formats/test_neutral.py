"""Neutral lines mean what their authors meant, and nothing that they did not say."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from paddock.core.trace import TokenUsage
from paddock.insight.formats.neutral_lines import to_neutral
from paddock.insight.formats.neutral_reader import LOOKED_AT
from paddock.insight.trace import (
    CostSource,
    EndState,
    Facts,
    ModelCall,
    Result,
    Step,
    StepStatus,
    Trace,
)
from tests.insight.formats.reading import lines, one_of, read


def run(**fields: object) -> Trace:
    return one_of({"run": "r1", "task": "t", **fields}, format="jsonl")


def test_our_own_names_give_a_whole_run() -> None:
    trace = run(
        kind="fix",
        engine="claude",
        model="m",
        label="a",
        host="h",
        account="acc",
        started=100,
        ended="1970-01-01T00:03:20Z",
        outcome="failure",
        end_state="timeout",
        error="it took too long",
        usage={"input_tokens": 5, "cache_read_input_tokens": 20, "output_tokens": 7, "cost_usd": 0.5},
        steps=[{"tool": "Edit", "target": "src/a.py", "status": "error", "error": "no", "at": 110.5, "seconds": 2}],
        tests={"a": True, "b": "failed"},
    )
    assert (trace.kind, trace.engine, trace.model, trace.label, trace.host) == ("fix", "claude", "m", "a", "h")
    assert (trace.account, trace.started, trace.ended) == ("acc", 100.0, 200.0)
    assert (trace.outcome, trace.end_state, trace.error) == (Result.FAILURE, EndState.TIMEOUT, "it took too long")
    assert trace.usage == TokenUsage(5, 0, 20, 7, 0.5)
    assert trace.cost_source is CostSource.TOLD
    assert trace.steps == (Step("Edit", "EDIT:src", "src/a.py", StepStatus.ERROR, "no", 110.5, 2.0),)
    assert trace.tests == {"a": True, "b": False}
    assert trace.model_spoke is True


def test_other_spellings_give_the_same() -> None:
    trace = one_of(
        {
            "Instance ID": "t",
            "trial_id": "r1",
            "is_resolved": False,
            "failure-mode": "agent_timeout",
            "hostname": "h",
            "t0": 1_700_000_000_000,
            "trajectory": [{"name": "bash", "arguments": '{"command": "pytest -q"}', "exit_code": 1}],
        }
    )
    assert (trace.run, trace.task, trace.host, trace.started) == ("r1", "t", "h", 1_700_000_000.0)
    assert (trace.outcome, trace.end_state) == (Result.FAILURE, EndState.TIMEOUT)
    assert [(step.activity, step.status, step.exit) for step in trace.steps] == [("TEST", StepStatus.ERROR, 1)]


def test_a_hump_in_a_name_is_a_gap() -> None:
    trace = one_of(
        {
            "runId": "r1",
            "taskID": "t",
            "endState": "agent_timeout",
            "errorText": "it took too long",
            "startedAt": 1_700_000_000_000,
            "isResolved": False,
            "toolCalls": [{"toolName": "bash", "filePath": "src/a.py", "exitCode": 1}],
        }
    )
    assert (trace.run, trace.task, trace.error, trace.started) == ("r1", "t", "it took too long", 1_700_000_000.0)
    assert (trace.outcome, trace.end_state) == (Result.FAILURE, EndState.TIMEOUT)
    assert [(step.tool, step.status) for step in trace.steps] == [("bash", StepStatus.ERROR)]


@pytest.mark.parametrize(
    ("told", "outcome", "end"),
    [
        ({"outcome": "resolved"}, Result.SUCCESS, EndState.UNKNOWN),
        ({"reward": 1.0}, Result.SUCCESS, EndState.UNKNOWN),
        ({"reward": 0.5}, Result.FAILURE, EndState.UNKNOWN),
        ({"score": 87}, Result.UNKNOWN, EndState.UNKNOWN),
        ({"passed": 12, "success": False}, Result.FAILURE, EndState.UNKNOWN),
        ({"result": "The error was fixed and all is well now, see the log", "resolved": True}, Result.SUCCESS, None),
        ({"outcome": "timeout"}, Result.FAILURE, EndState.TIMEOUT),
        ({"outcome": None, "status": "failed"}, Result.FAILURE, None),
        ({"status": "completed"}, Result.UNKNOWN, EndState.OK),
        ({"resolved": None, "failure_mode": "test_timeout"}, Result.FAILURE, EndState.OK),
        ({"resolved": True, "failure_mode": "parse_error"}, Result.SUCCESS, EndState.OK),
        ({"outcome": "success", "exit_status": "submitted (exit_cost)"}, Result.SUCCESS, EndState.BUDGET),
        ({"end_state": "rate_limited", "engine": "x"}, Result.UNKNOWN, EndState.THROTTLED),
        ({"outcome": "as expected", "engine": "x"}, Result.UNKNOWN, EndState.UNKNOWN),
        ({"outcome": "n/a"}, Result.UNKNOWN, EndState.UNKNOWN),
        ({"outcome": "partially resolved"}, Result.FAILURE, EndState.UNKNOWN),
        ({"outcome": "all tests passed"}, Result.SUCCESS, EndState.UNKNOWN),
        ({"outcome": "0 failed", "engine": "x"}, Result.UNKNOWN, None),
        ({"outcome": {"reward": 0.0}}, Result.FAILURE, EndState.UNKNOWN),
        ({"outcome": "Outcome.FAIL", "end_state": "FailureMode.AGENT_TIMEOUT"}, Result.FAILURE, EndState.TIMEOUT),
        ({"outcome": False, "exit_status": 137}, Result.FAILURE, EndState.KILLED),
        ({"outcome": False, "exit_status": "exit code 1"}, Result.FAILURE, EndState.CRASHED),
        ({"outcome": True, "exit_status": 0}, Result.SUCCESS, EndState.OK),
        ({"outcome": False, "end_state": "not submitted"}, Result.FAILURE, EndState.GAVE_UP),
        ({"outcome": False, "end_state": "container did not start"}, Result.FAILURE, EndState.NEVER_RAN),
    ],
)
def test_words_say_what_became_of_it(told: dict[str, object], outcome: Result, end: EndState | None) -> None:
    trace = run(**told)
    assert trace.outcome is outcome
    assert end is None or trace.end_state is end


def test_what_is_not_understood_is_kept() -> None:
    trace = run(outcome="as expected", colour="red", nested={"a": [1]})
    assert trace.attributes == {"outcome": "as expected", "colour": "red", "nested": '{"a":[1]}'}


@pytest.mark.parametrize(
    ("told", "spoke"),
    [
        ({"steps": []}, None),
        ({"steps": [], "api_calls": 0}, False),
        ({"end_state": "never_ran"}, False),
        ({"steps": [{"tool": "Read"}]}, True),
        ({"usage": {"output_tokens": 3}}, True),
        ({"usage": {"input_tokens": 0, "output_tokens": 0}}, None),
        ({"calls": [{"id": "m", "status": 429, "retry_after": 4}]}, False),
        ({"model_spoke": False, "engine": "e"}, False),
    ],
)
def test_whether_the_model_spoke_is_told_or_follows_but_is_never_guessed(
    told: dict[str, object], spoke: bool | None
) -> None:
    assert run(outcome="failure", **told).model_spoke is spoke


def test_no_tokens_and_no_dollars_are_not_known() -> None:
    assert run(usage={"prompt_tokens": 0, "completion_tokens": 0, "cost": 0}, outcome=True).usage is None
    assert run(usage={"prompt_tokens": 10, "completion_tokens": 1, "cost": 0}).usage == TokenUsage(10, 0, 0, 1)


def test_usage_of_messages_told_several_times_is_counted_once_with_the_most() -> None:
    trace = run(
        calls=[
            {"message_id": "m1", "usage": {"input_tokens": 9, "cache_read_input_tokens": 90, "output_tokens": 1}},
            {"message_id": "m1", "usage": {"input_tokens": 9, "cache_read_input_tokens": 90, "output_tokens": 40}},
            {"message_id": "m2", "usage": {"input_tokens": 1, "cache_read_input_tokens": 99, "output_tokens": 5}},
        ]
    )
    assert trace.usage == TokenUsage(10, 0, 189, 45)
    assert (trace.model_calls, trace.startup_tokens) == (2, 99)


def test_a_run_that_ended_before_it_began_keeps_its_end() -> None:
    trace = run(started=500, ended=400)
    assert (trace.started, trace.ended) == (None, 400.0)
    assert trace.attributes["clock"] == "ended 100s before it started"


@pytest.mark.parametrize(
    ("step", "activity", "status"),
    [
        ("Bash: pytest -q", "TEST", StepStatus.OK),
        ("Edit(src/a.py)", "EDIT:src", StepStatus.OK),
        ("EDIT:test!", "EDIT:test", StepStatus.ERROR),
        ({"action": "git commit -m x", "observation": "ok"}, "GIT_WRITE", StepStatus.OK),
        ({"action": "python a.py", "observation": "x\nValueError: no"}, "RUN", StepStatus.ERROR),
        ({"function": {"name": "read_file", "arguments": '{"path": "docs/a.md"}'}}, "READ:doc", StepStatus.OK),
        ({"tool": "Bash", "command": ["bash", "-lc", "npm test"], "returncode": 2}, "TEST", StepStatus.ERROR),
        ({"tool": "Write", "path": "a.py", "status": "rejected"}, "CREATE:src", StepStatus.DENIED),
        ({"activity": "EDIT:src", "is_error": True}, "EDIT:src", StepStatus.ERROR),
        ({"tool": "frobnicate", "status": 200}, "OTHER", StepStatus.OK),
        ({"activity": "run_tests", "status": "fail"}, "TEST", StepStatus.ERROR),
        ({"activity": "Edit file", "target": "src/a.py"}, "EDIT:src", StepStatus.OK),
        ({"activity": "localize"}, "OTHER:localize", StepStatus.OK),
        ({"tool_call": {"name": "bash", "args": {"command": "npm test"}}}, "TEST", StepStatus.OK),
    ],
)
def test_a_step_is_understood_however_it_is_told(step: object, activity: str, status: StepStatus) -> None:
    (read_step,) = run(steps=[step]).steps
    assert (read_step.activity, read_step.status) == (activity, status)


def test_a_thought_is_no_step() -> None:
    assert run(steps=[{"thought": "hm", "time": 4}, 17, None]).steps == ()


def test_a_conversation_in_a_line_gives_its_steps() -> None:
    trace = run(
        messages=[
            {"role": "user", "content": "do it"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c", "function": {"name": "bash", "arguments": '{"command": "make"}'}}],
            },
            {"role": "tool", "tool_call_id": "c", "content": "make: *** [all] Error 2"},
        ]
    )
    assert [(step.activity, step.status) for step in trace.steps] == [("BUILD", StepStatus.ERROR)]
    assert trace.model_spoke is True


def test_the_field_that_differs_from_line_to_line_names_the_runs() -> None:
    found, _ = read(lines(*({"run": "batch 1", "id": f"u{n}", "task": f"t{n}", "resolved": True} for n in range(8))))
    assert [one.trace.run for one in found] == [f"u{n}" for n in range(8)]
    assert {one.trace.label for one in found} == {"batch 1"}


def test_where_no_field_differs_the_task_and_the_trial_do() -> None:
    found, _ = read(
        lines(*({"run": "b", "task": f"t{n % 3}", "trial": n // 3, "success": True} for n in range(6))), "jsonl"
    )
    assert [one.trace.run for one in found] == ["b/t0/0", "b/t1/0", "b/t2/0", "b/t0/1", "b/t1/1", "b/t2/1"]


_texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
_counts = st.integers(0, 10**9)
_usages = st.builds(TokenUsage, st.integers(1, 10**9), _counts, _counts, _counts, st.none() | st.floats(0.01, 99))
_steps = st.builds(
    Step,
    tool=st.sampled_from(["Read", "Bash", ""]),
    activity=st.sampled_from(["READ:src", "TEST", "OTHER"]),
    target=_texts,
    status=st.sampled_from(list(StepStatus)),
    error=st.just("") | _texts,
    at=st.none() | st.floats(0, 2e9),
    seconds=st.none() | st.floats(0, 1e4),
    exit=st.none() | st.integers(-9, 255),
    agent=st.just("") | _texts,
    turn=st.integers(0, 9),
)
_calls = st.builds(
    ModelCall,
    id=_texts,
    model=_texts,
    usage=st.none() | _usages,
    status=st.none() | st.sampled_from([200, 429]),
    retry_after=st.none() | st.floats(0, 99),
)
_traces = st.builds(
    Trace,
    run=_texts,
    task=_texts,
    label=_texts,
    outcome=st.sampled_from(list(Result)),
    end_state=st.sampled_from(list(EndState)),
    started=st.none() | st.floats(0, 1e9),
    ended=st.none() | st.floats(1e9, 2e9),
    error=_texts,
    model_spoke=st.none() | st.booleans(),
    usage=st.none() | _usages,
    cost_source=st.sampled_from(list(CostSource)),
    startup_tokens=st.none() | st.integers(1, 10**6),
    startup_cached=st.none() | _counts,
    waited_seconds=st.none() | st.floats(0, 1e5),
    model_calls=st.none() | _counts,
    steps=st.lists(_steps, max_size=4).map(tuple),
    calls=st.lists(_calls, max_size=2).map(tuple),
    facts=st.builds(Facts, files=st.none() | st.lists(_texts, max_size=3).map(tuple), no_verify=st.booleans()),
    tests=st.dictionaries(_texts, st.booleans(), max_size=3),
    attributes=st.dictionaries(st.sampled_from("xyz"), _texts, max_size=2),
)


@given(_traces)
def test_a_trace_comes_out_of_a_neutral_line_as_it_went_in(trace: Trace) -> None:
    found, problems = read(to_neutral(trace), "jsonl")
    assert problems == []
    assert [one.trace for one in found] == [trace if trace.source else _from_a_file(trace)]


def _from_a_file(trace: Trace) -> Trace:
    return replace(trace, source="file.jsonl:1")


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
_WORDS = """
run id task steps trajectory outcome status usage tokens calls messages events spans started error tests type info
action tool argument exit model_stats reward sessionId message payload part traj trace_id span_id name data role content
"""
_fields = st.sampled_from(_WORDS.split())


@given(st.dictionaries(_fields, _json | st.lists(st.dictionaries(_fields, _json, max_size=4), max_size=2), max_size=7))
def test_any_object_is_read_or_said_to_be_unreadable(record: dict[str, Any]) -> None:
    found, problems = read(json.dumps(record).encode())
    assert found or problems or not record


@pytest.mark.parametrize(
    "told",
    [
        {"in": 10, "out": 5},
        {"Input Tokens": 10, "Output Tokens": "5"},
        {"anthropic": {"input_tokens": 10, "output_tokens": 5}},
        {"a": {"prompt_tokens": 7, "completion_tokens": 2}, "b": {"prompt_tokens": 3, "completion_tokens": 3}},
        [{"input_tokens": 4, "output_tokens": 5}, {"input_tokens": 6, "output_tokens": 0}],
    ],
)
def test_tokens_are_found_under_other_names_and_in_parts(told: object) -> None:
    assert run(usage=told).usage == TokenUsage(10, 0, 0, 5)


@pytest.mark.parametrize("told", ["90s", "1.5 min", "0:01:30", "PT1M30S", 90, "90"])
def test_how_long_it_took_is_read_in_several_ways(told: object) -> None:
    assert run(started=100, outcome=True, duration=told).ended == 190


@pytest.mark.parametrize(
    "told", ["Sun, 10 Aug 2025 05:47:50 GMT", "2025/08/10 05:47:50", "20250810T054750Z", 1_754_804_870_000]
)
def test_times_are_read_in_several_ways(told: object) -> None:
    assert run(started=told).started == 1_754_804_870


def test_records_of_several_authors_in_one_file_are_each_named_by_their_own_field() -> None:
    ours = [{"run": f"r{number}", "task": "fix", "outcome": "failure"} for number in range(6)]
    theirs = [{"session_id": f"s{number}", "task_key": "fix", "passed": False} for number in range(6)]
    found, _ = read(lines(*ours, *theirs))
    assert [one.trace.run for one in found] == [
        *(f"r{number}" for number in range(6)),
        *(f"s{number}" for number in range(6)),
    ]


def test_a_run_is_from_its_own_line_however_many_lines_its_names_were_found_from() -> None:
    runs = ({"run": f"r{number}", "outcome": True} for number in range(1, LOOKED_AT + 51))
    found, _ = read(lines(*runs, {"run": "told", "outcome": True, "source": "elsewhere"}))
    assert [one.trace.source for one in found[:-1]] == [f"file.jsonl:{number}" for number in range(1, LOOKED_AT + 51)]
    assert found[-1].trace.source == "elsewhere"
    assert one_of({"run": "r1", "outcome": True}).source == "file.jsonl:1"
