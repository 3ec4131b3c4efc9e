"""What agents' own CLIs leave behind: recorded from the real ones, or in their form."""

import json
from itertools import zip_longest
from pathlib import Path

import pytest
from msgspec.structs import replace

from paddock.core.trace import TokenUsage
from paddock.insight.formats.import_tally import ImportTally
from paddock.insight.formats.importing import origin_of, read_origin
from paddock.insight.formats.sources import FoundRun
from paddock.insight.trace import CostSource, EndState, Result, StepStatus, Trace
from tests.insight.formats.reading import RECORDED, SESSIONS, lines, one_of, read, read_path, recorded

ENGINES = ("claude", "codex", "gemini", "opencode", "qwen", "copilot")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_good_turn_has_its_steps_and_ended_well(engine: str) -> None:
    trace = recorded(f"{engine}-ok")
    assert [step.activity for step in trace.steps] == ["SEARCH", "CREATE:doc"]
    assert {step.status for step in trace.steps} == {StepStatus.OK}
    assert (trace.engine, trace.end_state, trace.model_spoke) == (engine, EndState.OK, True)
    assert trace.outcome is Result.UNKNOWN
    assert trace.run
    if engine != "copilot":
        assert trace.usage is not None
        assert (trace.usage.input_total, trace.usage.output) == (300, 30)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_provider_that_refuses_is_how_it_ended_and_it_did_run(engine: str) -> None:
    throttled, unknown = recorded(f"{engine}-429"), recorded(f"{engine}-401")
    assert (throttled.end_state, unknown.end_state) == (EndState.THROTTLED, EndState.REFUSED)
    assert throttled.error
    assert throttled.model_spoke is True


@pytest.mark.parametrize("engine", ["claude", "codex", "opencode", "copilot"])
def test_a_tool_that_fails_is_a_failed_step(engine: str) -> None:
    (step,) = recorded(f"{engine}-toolfail").steps
    assert (step.status, step.exit) == (StepStatus.ERROR, 3)


def test_what_a_person_refused_is_denied() -> None:
    assert [step.status for step in recorded("claude-denied").steps] == [StepStatus.DENIED]


def test_the_engines_own_totals_win_over_the_sum_of_its_messages() -> None:
    trace = recorded("claude-ok")
    assert trace.cost_source is CostSource.TOLD
    assert trace.usage is not None
    assert trace.usage.cost_usd == pytest.approx(0.0018)


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_the_files_of_conversations_have_what_the_streams_have(name: str) -> None:
    found, problems = read_path(SESSIONS / f"{name}.jsonl")
    assert problems == []
    (run,) = found
    assert run.format == name
    assert [step.activity for step in run.trace.steps] == ["RUN", "RUN"]
    assert run.trace.startup_tokens == 100


def message(number: int, *blocks: object, output: int = 1, **fields: object) -> dict[str, object]:
    usage: dict[str, object] = {"input_tokens": 3, "output_tokens": output}
    usage.update(cache_creation_input_tokens=100, cache_read_input_tokens=900)
    said = {"id": f"m{number}", "model": "claude-opus-5", "role": "assistant", "content": list(blocks)}
    return {
        "type": "assistant",
        "sessionId": "s1",
        "uuid": f"u{number}",
        "timestamp": f"2026-11-15T10:00:{number:02d}Z",
        "cwd": "/home/ana/shop",
        "message": {**said, "usage": usage},
        **fields,
    }


def call(name: str, tool: str, **arguments: object) -> dict[str, object]:
    return {"type": "tool_use", "id": name, "name": tool, "input": arguments}


def answer(name: str, text: str, at: int, *, is_error: bool = False, **fields: object) -> dict[str, object]:
    block = {"type": "tool_result", "tool_use_id": name, "content": text, "is_error": is_error}
    return {
        "type": "user",
        "sessionId": "s1",
        "timestamp": f"2026-11-15T10:00:{at:02d}Z",
        "message": {"role": "user", "content": [block]},
        **fields,
    }


TEXT = {"type": "text", "text": "Done."}


def test_a_message_on_several_lines_is_counted_once_with_its_largest_figures() -> None:
    trace = one_of(
        message(1, TEXT, output=1), message(1, call("c", "Read", file_path="/home/ana/shop/a.py"), output=60)
    )
    assert trace.usage == TokenUsage(3, 100, 900, 60)
    assert (trace.model_calls, trace.startup_tokens, trace.startup_cached) == (1, 1003, 900)
    assert trace.steps[0].target == "a.py"


def test_a_session_that_stops_with_a_tool_at_work_ended_in_the_middle() -> None:
    trace = one_of(message(1, call("c", "Bash", command="pytest")))
    assert (trace.end_state, trace.attributes["end"]) == (EndState.UNKNOWN, "in the middle of its work")
    assert trace.steps[0].status is StepStatus.UNKNOWN


def test_exit_codes_and_times_of_tools_are_read() -> None:
    trace = one_of(
        message(1, call("c", "Bash", command="pytest")),
        answer("c", "Exit code 2\nusage: pytest", 5, is_error=True),
        message(6, TEXT),
    )
    (step,) = trace.steps
    assert (step.activity, step.status, step.exit, step.seconds) == ("TEST", StepStatus.ERROR, 2, 4.0)
    assert trace.end_state is EndState.OK


def test_sub_agents_have_their_name_on_their_steps_and_no_part_in_the_start() -> None:
    inner = message(2, call("d", "Grep", pattern="x"), isSidechain=True, agentId="a7")
    trace = one_of(message(1, call("c", "Task", subagent_type="Explore")), inner, answer("c", "found", 9))
    assert [(step.activity, step.agent) for step in trace.steps] == [("DELEGATE", ""), ("SEARCH", "a7")]
    assert trace.usage == TokenUsage(6, 200, 1800, 2)
    assert trace.startup_tokens == 1003


def test_files_of_sub_agents_are_read_with_their_conversation(tmp_path: Path) -> None:
    inner = message(2, call("d", "Grep", pattern="x"), isSidechain=True, agentId="a7")
    (tmp_path / "s1.jsonl").write_bytes(
        lines(message(1, call("c", "Task")), answer("c", "found", 9), message(10, TEXT))
    )
    (tmp_path / "agent-a7.jsonl").write_bytes(lines(inner))
    (tmp_path / "s1" / "subagents").mkdir(parents=True)
    (tmp_path / "s1" / "subagents" / "agent-a8.jsonl").write_bytes(lines({**inner, "agentId": "a8"}))
    found = list(read_origin(origin_of(tmp_path, "auto", ""), ImportTally()))
    (run,) = [one for one in found if isinstance(one, FoundRun)]
    assert len(found) == 1
    assert [(step.activity, step.agent) for step in run.trace.steps] == [
        ("DELEGATE", ""),
        ("SEARCH", "a8"),
        ("SEARCH", "a7"),
    ]
    assert run.trace.end_state is EndState.OK


def test_conversations_whose_lines_are_mixed_are_told_apart() -> None:
    other = {**message(2, TEXT), "sessionId": "s2", "uuid": "v2"}
    found, _ = read(lines(message(1, call("c", "Bash", command="ls")), other, answer("c", "x", 3), other))
    assert [(one.trace.run, len(one.trace.steps)) for one in found] == [("s1", 1), ("s2", 0)]


def test_a_conversation_that_goes_on_under_another_name_is_one_run() -> None:
    resumed = {**message(2, TEXT), "sessionId": "s2", "parentUuid": "u1"}
    assert one_of(message(1, TEXT), resumed).model_calls == 2


def test_a_conversation_without_an_answer_never_ran() -> None:
    trace = one_of({"type": "system", "subtype": "init", "session_id": "s", "model": "m"})
    assert (trace.model_spoke, trace.end_state) == (False, EndState.NEVER_RAN)


def test_conversations_collected_one_a_line_are_read_with_what_stands_beside_them() -> None:
    packed = {"meta": {"session": "x", "host": "h"}, "label": "a", "resolved": True, "events": [message(1, TEXT)]}
    trace = one_of(packed)
    assert (trace.run, trace.host, trace.label, trace.outcome) == ("x", "h", "a", Result.SUCCESS)
    assert trace == one_of(packed, format="claude")
    assert trace.model_calls == 1


def test_gemini_chats_are_read_whole_and_line_by_line() -> None:
    said = {
        "id": "1",
        "type": "gemini",
        "timestamp": "2026-11-15T10:00:00Z",
        "model": "gemini-3-pro",
        "content": "ok",
        "tokens": {"input": 100, "cached": 40, "output": 5, "thoughts": 2},
        "toolCalls": [{"id": "c", "name": "run_shell_command", "args": {"command": "pytest"}, "status": "error"}],
    }
    head = {"sessionId": "s", "projectHash": "p", "startTime": "2026-11-15T09:59:00Z"}
    whole, split = one_of({**head, "messages": [said]}), one_of(head, said)
    for trace in (whole, split):
        assert trace.usage == TokenUsage(60, 0, 40, 7)
        assert [(step.activity, step.status) for step in trace.steps] == [("TEST", StepStatus.ERROR)]
    assert whole.run == split.run == "s"


def test_qwen_chats_are_read() -> None:
    trace = one_of(
        {
            "uuid": "u",
            "sessionId": "s",
            "type": "assistant",
            "timestamp": "2026-11-15T10:00:00Z",
            "model": "qwen3",
            "message": {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "edit", "args": {}}}]},
            "usageMetadata": {"promptTokenCount": 50, "cachedContentTokenCount": 20, "candidatesTokenCount": 4},
        },
        {
            "uuid": "v",
            "sessionId": "s",
            "type": "tool_result",
            "message": {"role": "user", "parts": [{"functionResponse": {"id": "c", "response": {"error": "no"}}}]},
        },
    )
    assert (trace.engine, trace.usage) == ("qwen", TokenUsage(30, 0, 20, 4))
    assert [(step.activity, step.status) for step in trace.steps] == [("EDIT", StepStatus.ERROR)]


def test_what_opencode_exports_is_read() -> None:
    part = {
        "type": "tool",
        "callID": "c",
        "tool": "bash",
        "state": {"status": "completed", "input": {"command": "ls"}, "metadata": {"exit": 0}, "time": {"start": 2000}},
    }
    info = {
        "role": "assistant",
        "id": "m",
        "modelID": "big",
        "cost": 0.5,
        "tokens": {"input": 3, "output": 4, "reasoning": 1, "cache": {"read": 2, "write": 0}},
        "time": {"created": 1000, "completed": 9000},
    }
    trace = one_of({"info": {"id": "s"}, "messages": [{"info": info, "parts": [part]}]})
    assert (trace.run, trace.usage, trace.model) == ("s", TokenUsage(3, 0, 2, 5, 0.5), "big")
    assert (trace.end_state, trace.cost_source) == (EndState.OK, CostSource.TOLD)


def swe(**fields: object) -> Trace:
    steps = [
        {"action": "open a.py\n", "observation": "[File: a.py]", "thought": "look"},
        {"action": "edit 1:1\nx\nend_of_edit", "observation": "Your proposed edit has introduced new syntax error(s)"},
        {"action": "pytest -q", "observation": "= 1 failed, 2 passed in 3s ="},
        {"action": "submit", "observation": "diff --git"},
    ]
    return one_of({"steps": steps, **fields})


def test_a_trajectory_is_read_with_its_cost_and_its_end() -> None:
    stats = {"instance_cost": 0.5, "total_cost": 900.0, "tokens_sent": 1000, "tokens_received": 20, "api_calls": 4}
    trace = swe(run="set 1", instance_id="i-1", resolved=False, exit_status="submitted (exit_cost)", model_stats=stats)
    assert (trace.run, trace.task, trace.label) == ("set 1/i-1", "i-1", "set 1")
    assert (trace.outcome, trace.end_state) == (Result.FAILURE, EndState.BUDGET)
    assert (trace.usage, trace.model_calls) == (TokenUsage(1000, 0, 0, 20, 0.5), 4)
    assert [(step.activity, step.status.value) for step in trace.steps] == [
        ("READ:src", "ok"),
        ("EDIT", "error"),
        ("TEST", "error"),
        ("SUBMIT", "ok"),
    ]


def test_a_trajectory_file_is_named_by_its_task(tmp_path: Path) -> None:
    file = tmp_path / "django__django-1.traj"
    file.write_text(
        json.dumps(
            {"trajectory": [{"action": "ls", "observation": ""}], "info": {"exit_status": "submitted"}}, indent=2
        )
    )
    found, problems = read_path(file)
    assert problems == []
    assert [(one.format, one.trace.run, one.trace.task) for one in found] == [
        ("swe-agent", "django__django-1", "django__django-1")
    ]


def test_a_trajectory_that_broke_off_before_its_first_step_is_a_run() -> None:
    trace = one_of({"trajectory": [], "history": [], "info": {"exit_status": "exit_error"}, "instance_id": "i"})
    assert (trace.task, trace.end_state, trace.model_spoke) == ("i", EndState.CRASHED, False)


def test_mini_swe_agents_messages_are_read() -> None:
    trace = one_of(
        {
            "trajectory_format": "mini-swe-agent-1",
            "instance_id": "i",
            "info": {"exit_status": "Submitted", "model_stats": {"instance_cost": 0.1, "api_calls": 1}},
            "messages": [
                {"role": "user", "content": "do it"},
                {"role": "assistant", "content": "THOUGHT: x\n```bash\ncat b.py\n```"},
                {"role": "user", "content": "<returncode>1</returncode>\n<output>cat: b.py: no</output>"},
            ],
        }
    )
    assert [(step.activity, step.exit) for step in trace.steps] == [("READ:src", 1)]
    assert (trace.engine, trace.end_state) == ("mini-swe-agent", EndState.OK)


def test_a_terminal_bench_trial_is_read() -> None:
    record = {
        "id": "u1",
        "trial_name": "t.1-of-1",
        "task_id": "t",
        "is_resolved": None,
        "failure_mode": "agent_timeout",
        "parser_results": {"a": "passed", "b": "failed"},
        "total_input_tokens": 0,
        "submission": "20260101_goose_claude-4",
        "harness_error": "docker daemon is gone",
    }
    trace = one_of(record)
    assert (trace.run, trace.task, trace.label) == ("u1", "t", "20260101_goose_claude-4")
    assert (trace.engine, trace.model) == ("goose", "claude-4")
    assert (trace.outcome, trace.end_state) == (Result.FAILURE, EndState.TIMEOUT)
    assert (trace.usage, trace.model_spoke) == (None, None)
    assert (trace.tests, trace.error) == ({"a": True, "b": False}, "docker daemon is gone")
    assert one_of({**record, "failure_mode": "test_timeout", "is_resolved": True}).end_state is EndState.OK


def test_trials_are_read_as_such_also_where_they_are_called_trajectories() -> None:
    record = {"id": "u1", "trial_name": "t.1-of-1", "task_id": "t", "failure_mode": "unset", "is_resolved": None}
    trace = one_of({**record, "steps": [], "pane_tail": "agent: not found"}, format="swe-agent")
    assert (trace.run, trace.task, trace.end_state, trace.tail) == ("u1", "t", EndState.OK, "agent: not found")


def test_a_tau_bench_result_is_read() -> None:
    calls = [{"id": "c", "function": {"name": "book_flight", "arguments": "{}"}}]
    trace = one_of(
        {
            "task_id": 3,
            "trial": 1,
            "reward": 1.0,
            "traj": [
                {"role": "system", "content": "rules"},
                {"role": "assistant", "content": None, "tool_calls": calls},
                {"role": "tool", "tool_call_id": "c", "content": "Error: no seat"},
            ],
        }
    )
    assert (trace.run, trace.task, trace.outcome) == ("3.1", "3", Result.SUCCESS)
    assert [(step.activity, step.status) for step in trace.steps] == [("CREATE", StepStatus.ERROR)]


@pytest.mark.parametrize("format", ["terminal-bench", "swe-agent"])
def test_what_is_in_another_format_is_not_taken_for_a_run_of_this(format: str) -> None:
    found, problems = read(lines({"run": "r", "task": "t", "outcome": "fail", "error": "it broke"}), format)
    assert (found, len(problems)) == ([], 1)


def alternating(*names: str) -> list[object]:
    """The lines of recorded turns, one of each in turn."""
    recorded = [(RECORDED / f"{name}.jsonl").read_text().splitlines() for name in names]
    return [json.loads(line) for group in zip_longest(*recorded) for line in group if line]


@pytest.mark.parametrize("other", [one for one in ENGINES if one not in ("claude", "qwen")])
def test_streams_whose_lines_alternate_are_each_read_whole(other: str) -> None:
    found, problems = read(lines(*alternating("claude-ok", f"{other}-ok")))
    assert problems == []
    assert sorted(one.format for one in found) == ["claude", other]
    for one in found:
        assert one.trace.steps == recorded(f"{one.format}-ok").steps
        assert (one.trace.end_state, one.trace.usage) == (EndState.OK, recorded(f"{one.format}-ok").usage)


def test_files_of_conversations_whose_lines_alternate_are_each_read_whole() -> None:
    files = [(SESSIONS / f"{name}.jsonl").read_bytes().splitlines() for name in ("claude", "codex")]
    found, problems = read(b"\n".join(line for pair in zip_longest(*files) for line in pair if line))
    assert problems == []
    assert sorted(one.format for one in found) == ["claude", "codex"]
    for one in found:
        ((alone,), _) = read_path(SESSIONS / f"{one.format}.jsonl")
        assert one.trace == replace(alone.trace, source="file.jsonl")


def test_neutral_lines_amid_a_stream_are_runs_of_their_own() -> None:
    neutral = [{"run": f"r{number}", "outcome": True} for number in range(3)]
    stream = alternating("codex-ok")
    found, problems = read(lines(*neutral[:1], *stream[:2], *neutral[1:], *stream[2:]))
    assert problems == []
    assert sorted(one.format for one in found) == ["codex", "jsonl", "jsonl", "jsonl"]
