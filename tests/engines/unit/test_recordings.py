"""What real CLIs printed, line by line, against what the parsers make of it.

The recordings are of claude 2.1.325, codex 0.166.0, aider 0.86.2, opencode 1.18.33, gemini 0.61.0, qwen 0.24.4,
cn 1.5.47 and copilot 1.0.102 against a mock model server, with long lists and paths taken out.
"""

from pathlib import Path

import pytest
from msgspec.structs import replace

from paddock.core.summary import Final, TurnSummary, observe, turn_usage
from paddock.core.tasks.outcome import AttemptFacts, judge
from paddock.core.tasks.vocabulary import Outcome
from paddock.core.trace import (
    End,
    Partial,
    Progress,
    RequestFault,
    Text,
    TokenUsage,
    ToolCall,
    ToolResult,
    ToolStatus,
    TraceEntry,
    TroubleKind,
    Usage,
    UsageScope,
)
from paddock.engines.protocol import Source
from paddock.engines.registry import load_engine
from tests.engines.refusals import pause_of, refusal_of

RECORDED = Path(__file__).parent / "recorded"
SOURCES = {"jsonl": Source.STDOUT, "txt": Source.STDOUT, "stderr.txt": Source.STDERR, "log.jsonl": Source.LOG}
RECORDINGS = sorted({path.name.split(".")[0] for path in RECORDED.iterdir()})


def replay(name: str) -> tuple[TurnSummary, list[TraceEntry]]:
    parser = load_engine(name.split("-")[0]).parser()
    entries: list[TraceEntry] = []
    for suffix, source in SOURCES.items():
        path = RECORDED / f"{name}.{suffix}"
        if path.exists():
            for line in path.read_bytes().splitlines(keepends=True):
                entries += parser.feed(line, source)
    entries += parser.close()
    summary = TurnSummary()
    for entry in entries:
        summary = observe(summary, entry)
    return summary, entries


EIGHT = ("claude", "codex", "aider", "opencode", "gemini", "qwen", "copilot", "cn")
ENGINES_WITHOUT_IDS = ("aider", "cn")
ENGINES_WITHOUT_USAGE = ("cn", "copilot")


@pytest.mark.parametrize("engine", ["claude", "codex", "opencode", "gemini", "qwen", "copilot", "cn"])
def test_a_good_turn_is_seen_as_one(engine: str) -> None:
    summary, _ = replay(f"{engine}-ok")
    assert (summary.final, refusal_of(summary)) == (Final.SUCCESS, "none")
    assert summary.saw_llm_call
    assert summary.last_step == "All done"
    assert bool(summary.session_id) == (engine not in ENGINES_WITHOUT_IDS)
    if engine not in ENGINES_WITHOUT_USAGE:
        assert (summary.usage.input_total, summary.usage.output) == (300, 30)
    assert summary.steps == (0 if engine == "cn" else 2)


@pytest.mark.parametrize("engine", ["claude", "codex", "opencode", "gemini", "qwen", "copilot"])
def test_every_call_of_a_tool_has_its_result(engine: str) -> None:
    _, entries = replay(f"{engine}-ok")
    calls = [entry.call_id for entry in entries if isinstance(entry, ToolCall)]
    results = [entry.call_id for entry in entries if isinstance(entry, ToolResult)]
    assert calls == results
    assert len(set(calls)) == 2


@pytest.mark.parametrize("engine", ["claude", "codex", "opencode", "copilot"])
def test_a_tool_that_fails_is_a_failed_step_and_the_turn_goes_on(engine: str) -> None:
    summary, entries = replay(f"{engine}-toolfail")
    failed = [entry for entry in entries if isinstance(entry, ToolResult)]
    assert [entry.status for entry in failed] == [ToolStatus.ERROR]
    assert "No such file" in failed[0].output
    assert (summary.failed_steps, summary.final, summary.noop_reason) == (1, Final.SUCCESS, "nothing to do")


@pytest.mark.parametrize("engine", ["claude", "codex", "opencode", "gemini", "qwen", "copilot", "cn", "aider"])
def test_a_bad_key_is_the_providers_no_and_not_the_tasks_failure(engine: str) -> None:
    summary, _ = replay(f"{engine}-401")
    assert (refusal_of(summary), summary.final) == ("auth", Final.ERROR)
    assert not summary.saw_llm_call


@pytest.mark.parametrize("engine", ["claude", "codex", "opencode", "gemini", "qwen", "copilot", "aider"])
def test_a_rate_limit_to_the_end_is_throttled(engine: str) -> None:
    summary, _ = replay(f"{engine}-429")
    assert (refusal_of(summary), summary.final) == ("throttled", Final.ERROR)
    assert not summary.saw_llm_call


@pytest.mark.parametrize("engine", ["claude", "codex", "gemini", "aider"])
def test_a_rate_limit_that_passed_leaves_no_trouble(engine: str) -> None:
    summary, _ = replay(f"{engine}-429once")
    assert (refusal_of(summary), summary.final) == ("none", Final.SUCCESS)


@pytest.mark.parametrize("name", ["claude-529", "claude-refused", "codex-500", "codex-refused"])
def test_an_ailing_or_absent_server_is_overload(name: str) -> None:
    summary, _ = replay(name)
    assert (refusal_of(summary), summary.final) == ("overloaded", Final.ERROR)


def test_claude_tells_the_pause_it_was_asked_for() -> None:
    summary, _ = replay("claude-429")
    assert summary.trouble is not None
    assert (summary.trouble.kind, summary.trouble.status) == (TroubleKind.PER_MINUTE, 429)
    assert (pause_of(summary), summary.refusals) == (1.0, 2)


def test_opencode_tells_the_pause_in_the_response_header() -> None:
    assert pause_of(replay("opencode-429")[0]) == 1.0


def test_opencode_that_dies_after_a_tool_has_said_no_last_word() -> None:
    parser, summary = load_engine("opencode").parser(), TurnSummary()
    for line in (RECORDED / "opencode-ok.jsonl").read_bytes().splitlines()[:3]:
        for entry in parser.feed(line):
            summary = observe(summary, entry)
    assert (summary.final, summary.steps, summary.usage.output) == (Final.NONE, 1, 10)


def test_gemini_puts_the_pieces_of_an_answer_together_before_what_comes_next() -> None:
    parser = load_engine("gemini").parser()
    pieces = [f'{{"type":"message","role":"assistant","content":"{word}","delta":true}}' for word in ("I lo", "ok.")]
    lines = [*pieces, '{"type":"tool_use","tool_name":"ls","tool_id":"1","parameters":{}}']
    entries = [entry for line in lines for entry in parser.feed(line.encode())]
    told = [entry for entry in entries if not isinstance(entry, Progress)]
    assert [replace(entry, digest="") if isinstance(entry, ToolCall) else entry for entry in told] == [
        Partial("I lo"),
        Partial("ok."),
        Text("I look."),
        ToolCall("1", "ls", "{}"),
    ]


def test_copilot_counts_every_refused_call_once() -> None:
    assert replay("copilot-429")[0].refusals == 6


def test_claude_that_was_denied_its_tools_says_so_though_it_ends_well() -> None:
    summary, entries = replay("claude-denied")
    assert summary.permission_denials == 1
    assert [entry.status for entry in entries if isinstance(entry, ToolResult)] == [ToolStatus.DENIED]
    assert summary.final is Final.SUCCESS


def test_claude_that_resumed_costs_what_the_turn_cost() -> None:
    summary, _ = replay("claude-follow-2")
    assert summary.usage.cost_usd == pytest.approx(0.0012)
    assert summary.usage.output == 20


def test_claude_with_two_results_in_one_process_counts_both() -> None:
    summary, _ = replay("claude-two")
    assert (summary.usage.input_total, summary.usage.output) == (200, 20)
    assert summary.usage.cost_usd == pytest.approx(0.0012)


@pytest.mark.parametrize(("engine", "before"), [("codex", "codex-follow"), ("qwen", None)])
def test_an_engine_that_counts_the_conversation_is_told_apart(engine: str, before: str | None) -> None:
    summary, _ = replay(f"{engine}-follow-2")
    assert summary.usage_scope is UsageScope.CONVERSATION
    earlier = replay(before)[0].usage if before else TokenUsage(200, output=20)
    used = turn_usage(summary, earlier)
    assert (used.input_total, used.output) == (200, 20)


def test_codex_keeps_its_thread_when_resumed() -> None:
    assert replay("codex-follow")[0].session_id == replay("codex-follow-2")[0].session_id


def test_codex_that_says_twice_why_it_failed_was_refused_once_more_and_not_twice() -> None:
    assert replay("codex-429")[0].refusals == 2


def test_codex_counts_cached_input_apart() -> None:
    line = b'{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":60,"output_tokens":5}}'
    (usage, _) = load_engine("codex").parser().feed(line)
    assert isinstance(usage, Usage)
    assert usage.tokens == TokenUsage(input_uncached=40, cache_read=60, output=5)


def test_codex_warning_about_a_model_is_no_error() -> None:
    assert replay("codex-ok")[0].last_error == ""


def test_aider_that_exits_zero_after_refusals_has_not_succeeded() -> None:
    summary, _ = replay("aider-429")
    assert (summary.final, summary.refusals) == (Final.ERROR, 9)


def test_aider_that_is_refused_after_an_answer_has_not_succeeded() -> None:
    parser = load_engine("aider").parser()
    lines = [b"Sure.", b"Tokens: 100 sent, 10 received.", b"litellm.RateLimitError: RateLimitError: slow down"]
    entries = [entry for line in lines for entry in parser.feed(line)] + list(parser.close())
    assert isinstance(entries[-1], End)
    assert not entries[-1].success


def test_aider_edits_and_commits_are_its_steps_and_the_log_its_costs() -> None:
    summary, entries = replay("aider-429once")
    assert [entry.tool for entry in entries if isinstance(entry, ToolCall)] == ["edit", "commit"]
    assert summary.usage.output > 0
    assert summary.usage.cost_usd is not None


REFUSED_REQUESTS = [
    *[(f"{engine}-400filter", RequestFault.CONTENT) for engine in EIGHT],
    *[(f"{engine}-400long", RequestFault.TOO_LONG) for engine in EIGHT if engine != "opencode"],
    *[(f"{engine}-404model", RequestFault.MODEL) for engine in EIGHT if engine != "aider"],
    # aider breaks the line before it says what was not found.
    ("aider-404model", RequestFault.NOT_FOUND),
]


@pytest.mark.parametrize(("name", "fault"), REFUSED_REQUESTS)
def test_a_refused_request_is_known_by_its_fault_and_by_nothing_else(name: str, fault: RequestFault) -> None:
    summary, _ = replay(name)
    assert summary.fault is not None
    assert (summary.fault.fault, refusal_of(summary)) == (fault, "none")
    assert (summary.saw_llm_call, summary.final) == (False, Final.ERROR)
    assert "{" not in summary.fault.message, "the provider's words, not the body they came in"


@pytest.mark.parametrize("name", [name for name, _ in REFUSED_REQUESTS])
def test_a_refused_request_is_no_sign_of_a_broken_engine(name: str) -> None:
    summary, _ = replay(name)
    for status in (0, 1):
        verdict = judge(AttemptFacts(exit=status, summary=summary, has_model=True))
        expected = Outcome.MISCONFIGURED if "404" in name else Outcome.REFUSED
        assert verdict.outcome is expected, verdict


def test_a_stream_that_broke_off_is_the_providers_doing() -> None:
    summary, _ = replay("gemini-cut")
    assert (refusal_of(summary), summary.final) == ("overloaded", Final.ERROR)


def test_pieces_of_an_answer_are_signs_of_life_and_no_steps() -> None:
    summary, entries = replay("claude-partial")
    pieces = [entry.text for entry in entries if isinstance(entry, Partial)]
    assert "All done now" in pieces
    assert (summary.steps, summary.last_step, summary.final) == (1, "All done now", Final.SUCCESS)
    assert (summary.usage.input_total, summary.usage.output) == (200, 20)


def test_what_an_answer_used_is_known_as_soon_as_it_is_written_and_counted_once() -> None:
    parser, summary, seen = load_engine("claude").parser(), TurnSummary(), []
    for line in (RECORDED / "claude-partial.jsonl").read_bytes().splitlines()[:-1]:
        for entry in parser.feed(line):
            summary = observe(summary, entry)
            seen.append(summary.usage.output)
    assert seen == sorted(seen)
    assert (summary.usage.input_total, summary.usage.output, summary.calls) == (200, 20, 2)


def test_aider_that_recovered_and_committed_has_succeeded() -> None:
    """The call for a commit message failed, for good; the edit is in all the same."""
    parser, summary = load_engine("aider").parser(), TurnSummary()
    said = [
        "made.txt",
        "Tokens: 2.5k sent, 16 received.",
        "Applied edit to made.txt",
        "litellm.RateLimitError: RateLimitError: OpenAIException - slow down",
        "Commit 8eae654 (no commit message provided)",
    ]
    entries = [entry for line in said for entry in parser.feed(line.encode())] + list(parser.close())
    for entry in entries:
        summary = observe(summary, entry)
    assert (summary.final, summary.trouble, summary.refusals) == (Final.SUCCESS, None, 1)
    assert judge(AttemptFacts(exit=0, summary=summary, commits=1)).outcome is Outcome.DELIVERED


def test_a_commit_that_an_answer_only_talks_about_is_no_step_of_aiders() -> None:
    parser = load_engine("aider").parser()
    entries = [entry for line in (b"Commit early and often.",) for entry in parser.feed(line)] + list(parser.close())
    assert not [entry for entry in entries if isinstance(entry, ToolCall)]
    assert isinstance(entries[-1], End)
    assert not entries[-1].success


def test_every_recording_is_used() -> None:
    source = Path(__file__).read_text(encoding="utf-8")
    kinds = {name.split("-", 1)[1] for name in RECORDINGS}
    assert all(f"-{kind}" in source for kind in kinds)
