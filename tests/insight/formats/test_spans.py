"""Spans of all sorts are runs: one trace, one run."""

import json
from typing import Any

from paddock.core.trace import TokenUsage
from paddock.insight.trace import EndState, Result, StepStatus
from tests.insight.formats.reading import lines, one_of, read

START = "2026-11-15T10:00:00Z"


def span(name: str, id: str, parent: str | None, *children: object, **fields: Any) -> dict[str, Any]:
    attributes = fields.pop("attributes", {})
    return {
        "trace_id": "t1",
        "span_id": id,
        "parent_span_id": parent,
        "span_name": name,
        "timestamp": START,
        "duration": "PT2S",
        "status_code": "Ok",
        "span_attributes": attributes,
        "child_spans": list(children),
        **fields,
    }


def kind(name: str, **attributes: object) -> dict[str, object]:
    return {"openinference.span.kind": name, **{key.replace("__", "."): value for key, value in attributes.items()}}


def llm(id: str, parent: str, **fields: Any) -> dict[str, Any]:
    counts = {"llm__model_name": "o3-mini", "llm__token_count__prompt": "400", "llm__token_count__completion": "20"}
    return span("call", id, parent, attributes=kind("LLM", **counts), **fields)


def tree(**root: Any) -> dict[str, Any]:
    search = kind("TOOL", tool__name="web_search", input__value=json.dumps({"args": [], "kwargs": {"query": "x"}}))
    failing = {"status_code": "Error", "status_message": "TypeError: no"}
    inner = span(
        "ToolCallingAgent.run",
        "b",
        "a",
        llm("b1", "b"),
        span("WebTool", "b2", "b", attributes=search, **failing),
        attributes=kind("AGENT", llm__token_count__prompt=999_999),
    )
    outer = span("CodeAgent.run", "a", "r", llm("a1", "a"), inner, attributes=kind("AGENT"))
    return {"trace_id": "t1", "split": "GAIA", "spans": [span("main", "r", None, outer, **root)]}


def test_a_tree_of_spans_is_a_run_whose_wrappers_are_not_counted() -> None:
    trace = one_of(tree())
    assert (trace.run, trace.kind, trace.engine, trace.model) == ("t1", "GAIA", "CodeAgent", "o3-mini")
    assert trace.usage == TokenUsage(800, 0, 0, 40)
    assert (trace.model_calls, trace.startup_tokens) == (2, 400)
    (step,) = trace.steps
    assert (step.tool, step.activity, step.status) == ("web_search", "NET", StepStatus.ERROR)
    assert (step.agent, step.error, step.seconds) == ("ToolCallingAgent", "TypeError: no", 2.0)
    assert trace.end_state is EndState.OK


def test_the_status_of_the_root_is_how_it_ended() -> None:
    trace = one_of(tree(status_code="Error", status_message="RateLimitError: 429 too many requests"))
    assert trace.end_state is EndState.THROTTLED
    assert trace.error.startswith("RateLimitError")


def test_code_that_an_agent_has_run_is_a_step() -> None:
    step = span("Step 1", "s", "a", llm("l", "s"), attributes=kind("CHAIN"))
    agent = span("CodeAgent.run", "a", None, step, attributes=kind("AGENT"))
    assert [one.tool for one in one_of({"trace_id": "t1", "spans": [agent]}).steps] == ["python_interpreter"]


def otlp(*spans: object) -> dict[str, object]:
    host = {"key": "host.name", "value": {"stringValue": "ci-3"}}
    return {"resourceSpans": [{"resource": {"attributes": [host]}, "scopeSpans": [{"spans": list(spans)}]}]}


def otlp_span(id: str, parent: str, name: str, code: int = 0, **attributes: object) -> dict[str, object]:
    pairs = [
        {
            "key": key.replace("__", "."),
            "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value},
        }
        for key, value in attributes.items()
    ]
    nanoseconds = {"startTimeUnixNano": "1700000000000000000", "endTimeUnixNano": "1700000001500000000"}
    status = {"code": code}
    return {
        "traceId": "t9",
        "spanId": id,
        "parentSpanId": parent,
        "name": name,
        "attributes": pairs,
        "status": status,
        **nanoseconds,
    }


def test_otlp_with_the_names_of_generative_models_is_read() -> None:
    usage = {"gen_ai__usage__input_tokens": 100, "gen_ai__usage__cache_read__input_tokens": 60}
    trace = one_of(
        otlp(otlp_span("1", "", "invoke_agent coder", paddock__task="fix", paddock__outcome="success")),
        otlp(otlp_span("2", "1", "chat m", gen_ai__operation__name="chat", gen_ai__usage__output_tokens=5, **usage)),
        otlp(otlp_span("3", "1", "execute_tool Bash", 2, gen_ai__tool__call__arguments='{"command": "pytest"}')),
    )
    assert (trace.run, trace.task, trace.outcome, trace.host) == ("t9", "fix", Result.SUCCESS, "ci-3")
    assert trace.usage == TokenUsage(40, 0, 60, 5)
    assert [(step.activity, step.status, step.seconds) for step in trace.steps] == [("TEST", StepStatus.ERROR, 1.5)]
    assert (trace.started, trace.ended) == (1_700_000_000.0, 1_700_000_001.5)


def test_flat_spans_are_put_together_by_their_trace_in_any_order() -> None:
    rows = [
        {
            "name": name,
            "context": {"trace_id": f"t{number % 2}", "span_id": f"s{number}"},
            "parent_id": None,
            "start_time": f"2026-11-15T10:00:{59 - number}Z",
            "attributes": {"openinference": {"span": {"kind": kind}}, "tool": {"name": "read_file"}},
        }
        for number, (name, kind) in enumerate([("a", "TOOL"), ("b", "TOOL"), ("c", "LLM"), ("d", "TOOL")])
    ]
    found, problems = read(lines(*rows))
    assert problems == []
    assert [(one.trace.run, len(one.trace.steps), one.trace.model_spoke) for one in found] == [
        ("t0", 1, True),
        ("t1", 2, True),
    ]


def test_a_trace_that_called_no_model_did_not_speak() -> None:
    assert one_of({"trace_id": "t", "spans": [span("x", "a", None, attributes=kind("CHAIN"))]}).model_spoke is False
    assert one_of({"trace_id": "t", "spans": [span("x", "a", None)]}).model_spoke is None


def test_spans_as_jaeger_has_them_are_read() -> None:
    def span(name: str, parent: str | None, **tags: object) -> dict[str, object]:
        references = [{"refType": "CHILD_OF", "traceID": "t", "spanID": parent}] if parent else []
        times = {"startTime": 1_735_689_600_000_000, "duration": 5_000_000}
        pairs = [{"key": key, "type": "string", "value": value} for key, value in tags.items()]
        return {"traceID": "t", "spanID": name, "operationName": name, "references": references, **times, "tags": pairs}

    called = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "bash", "error": True}
    spans = [span("invoke_agent coder", None), span("execute_tool bash", "invoke_agent coder", **called)]
    trace = one_of({"data": [{"traceID": "t", "spans": spans}]})
    assert (trace.started, trace.ended) == (1_735_689_600.0, 1_735_689_605.0)
    assert [(step.tool, step.status, step.seconds) for step in trace.steps] == [("bash", StepStatus.ERROR, 5.0)]
