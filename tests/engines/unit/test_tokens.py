"""Tokens as the provider counts them, read from what each CLI prints; tests/engines/real compares with a server."""

import json
from collections.abc import Mapping, Sequence

import pytest

from paddock.core.summary import TurnSummary, main_model, observe, turn_usage, uncounted_calls
from paddock.core.trace import ModelTokens, TokenUsage, TraceEntry, UsageScope
from paddock.engines.protocol import Source
from paddock.engines.registry import load_engine


def read(name: str, *events: Mapping[str, object], log: Sequence[Mapping[str, object]] = ()) -> TurnSummary:
    parser, summary = load_engine(name).parser(), TurnSummary()
    entries: list[TraceEntry] = []
    for event in events:
        entries += parser.feed(json.dumps(event).encode())
    for event in log:
        entries += parser.feed(json.dumps(event).encode(), Source.LOG)
    for entry in (*entries, *parser.close()):
        summary = observe(summary, entry)
    return summary


def test_qwen_counts_cached_input_once() -> None:
    usage = {"input_tokens": 2624, "output_tokens": 96, "cache_read_input_tokens": 618, "total_tokens": 2720}
    summary = read("qwen", {"type": "result", "subtype": "success", "is_error": False, "usage": usage})
    assert summary.usage == TokenUsage(input_uncached=2006, cache_read=618, output=96)


def test_gemini_counts_thoughts_as_output_and_tells_which_model_did_what() -> None:
    models = {
        "gemini-2.5-pro": {"total_tokens": 150, "input_tokens": 100, "output_tokens": 20, "cached": 40},
        "gemini-2.5-flash": {"total_tokens": 12, "input_tokens": 10, "output_tokens": 2, "cached": 0},
    }
    stats = {"total_tokens": 162, "input_tokens": 110, "output_tokens": 22, "cached": 40, "models": models}
    summary = read("gemini", {"type": "result", "status": "success", "stats": stats})
    assert summary.usage == TokenUsage(input_uncached=70, cache_read=40, output=52)
    assert summary.models == (
        ModelTokens("gemini-2.5-pro", TokenUsage(input_uncached=60, cache_read=40, output=50)),
        ModelTokens("gemini-2.5-flash", TokenUsage(input_uncached=10, output=2)),
    )
    assert main_model(summary) == "gemini-2.5-pro"


def test_gemini_without_models_still_counts() -> None:
    stats = {"total_tokens": 150, "input_tokens": 100, "output_tokens": 20, "cached": 40}
    summary = read("gemini", {"type": "result", "status": "success", "stats": stats})
    assert (summary.usage, summary.models) == (TokenUsage(input_uncached=60, cache_read=40, output=50), ())


def shutdown(tokens: int, cached: int, output: int) -> dict[str, object]:
    usage = {"inputTokens": tokens, "cacheReadTokens": cached, "cacheWriteTokens": 0, "outputTokens": output}
    data = {"currentModel": "gpt-5", "modelMetrics": {"gpt-5": {"usage": usage}}}
    return {"type": "session.shutdown", "data": data}


SPOKE = {"type": "assistant.message", "data": {"content": "hello"}}


def test_copilots_tokens_are_in_its_sessions_file_and_are_the_conversations() -> None:
    summary = read("copilot", SPOKE, log=({"type": "session.start"}, shutdown(2624, 618, 96)))
    first = TokenUsage(input_uncached=2006, cache_read=618, output=96)
    assert (summary.usage, summary.usage_scope, summary.model) == (first, UsageScope.CONVERSATION, "gpt-5")
    resumed = (
        {"type": "session.start"},
        shutdown(2624, 618, 96),
        {"type": "session.resume"},
        shutdown(5320, 1290, 300),
    )
    second = turn_usage(read("copilot", SPOKE, log=resumed), first)
    assert second == TokenUsage(input_uncached=2024, cache_read=672, output=204)


def test_a_copilot_that_was_killed_has_told_nothing_though_its_earlier_turn_had() -> None:
    log = ({"type": "session.start"}, shutdown(2624, 618, 96), {"type": "session.resume"})
    summary = read("copilot", SPOKE, log=log)
    assert not summary.usage_told
    assert uncounted_calls(summary) == 1


@pytest.mark.parametrize(("cost", "known"), [(0, None), (0.0, None), (0.25, 0.25), ("x", None), (-1, None)])
def test_a_cost_of_nothing_is_no_cost(cost: object, known: float | None) -> None:
    tokens = {"input": 10, "output": 5, "cache": {"read": 0, "write": 0}}
    part = {"tokens": tokens, "cost": cost, "reason": "stop"}
    assert read("opencode", {"type": "step_finish", "part": part}).usage.cost_usd == known
    properties = {"prompt_tokens": 10, "completion_tokens": 5, "cost": cost}
    assert read("aider", log=({"event": "message_send", "properties": properties},)).usage.cost_usd == known


def test_each_commit_of_aider_is_a_call_that_is_in_no_figure() -> None:
    parser, summary = load_engine("aider").parser(), TurnSummary()
    lines = (
        "Edits.",
        "Tokens: 600 sent, 9 received.",
        "Applied edit to a.txt",
        "Commit 1a2b3c Add a",
        "Commit 2b Add b",
    )
    for line in lines:
        for entry in parser.feed(line.encode()):
            summary = observe(summary, entry)
    assert uncounted_calls(summary) == 2


def test_a_model_that_spoke_and_told_no_tokens_is_one_call_at_the_least() -> None:
    assert uncounted_calls(TurnSummary(saw_llm_call=True)) == 1
    assert uncounted_calls(TurnSummary(saw_llm_call=True, usage_told=True)) == 0
    assert uncounted_calls(TurnSummary()) == 0, "one that never came to speak cost nothing"


@pytest.mark.parametrize("resumed", [None, "ses_1"])
def test_opencode_gives_a_new_conversation_its_title_so_that_no_model_is_asked_for_one(resumed: str | None) -> None:
    from pathlib import Path

    from paddock.engines.protocol import TurnRequest

    request = TurnRequest("long prompt", Path("/w"), Path("/f"), task_text="-rm\nthe gate " * 9, session_id=resumed)
    argv = load_engine("opencode").launch(request).argv
    assert ("--title" in argv) is (resumed is None)
    if resumed is None:
        title = argv[argv.index("--title") + 1]
        assert title.startswith(" -rm the gate")
        assert len(title) <= 62
