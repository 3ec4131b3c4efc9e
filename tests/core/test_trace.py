"""The fold of trace entries: what a turn adds up to, whatever its length and its words."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.summary import Final, TurnSummary, find_noop, observe, turn_usage
from paddock.core.trace import (
    ERROR_LIMIT,
    ID_LIMIT,
    STEP_LIMIT,
    End,
    Error,
    Progress,
    RateLimited,
    SessionStarted,
    Text,
    TokenUsage,
    ToolCall,
    ToolResult,
    ToolStatus,
    TraceEntry,
    TroubleKind,
    Usage,
    UsageScope,
    WindowsTold,
    WindowUse,
    clip,
    one_line,
)
from tests.engines.refusals import pause_of, refusal_of

texts = st.text(st.characters(codec="utf-8"), max_size=60)
counts = st.integers(min_value=0, max_value=10**9)
tokens = st.builds(TokenUsage, counts, counts, counts, counts, st.none() | st.floats(0, 1e6))
entries: st.SearchStrategy[TraceEntry] = st.one_of(
    st.builds(SessionStarted, texts, texts),
    st.builds(Text, texts, st.booleans()),
    st.builds(ToolCall, texts, texts, texts),
    st.builds(ToolResult, texts, st.sampled_from(ToolStatus), texts, st.none() | st.integers(-255, 255)),
    st.builds(Usage, tokens, st.sampled_from(UsageScope)),
    st.builds(
        RateLimited,
        st.sampled_from(TroubleKind),
        st.none() | st.integers(100, 599),
        st.none() | st.floats(0, 1e6),
        st.none() | st.floats(0, 1e10),
        texts,
    ),
    st.builds(Error, texts),
    st.builds(Progress, texts),
    st.builds(WindowsTold, st.tuples(st.builds(WindowUse, texts, st.floats(0, 2), st.floats(0, 2e9))), st.booleans()),
    st.builds(End, st.booleans(), texts, st.integers(0, 9), st.booleans()),
)


def fold(*items: TraceEntry) -> TurnSummary:
    summary = TurnSummary()
    for entry in items:
        summary = observe(summary, entry)
    return summary


def refusal(kind: TroubleKind = TroubleKind.PER_MINUTE, retry_after: float | None = None) -> RateLimited:
    return RateLimited(kind, 429, retry_after, message="rate limit")


@given(entries)
def test_every_entry_survives_the_disk(entry: TraceEntry) -> None:
    assert msgspec.json.decode(msgspec.json.encode(entry), type=TraceEntry) == entry


@given(st.lists(entries, max_size=40))
def test_a_summary_survives_the_disk(items: list[TraceEntry]) -> None:
    summary = fold(*items)
    assert msgspec.json.decode(msgspec.json.encode(summary), type=TurnSummary) == summary


@given(st.lists(entries, max_size=40))
def test_every_entry_is_counted_and_nothing_is_counted_below_zero(items: list[TraceEntry]) -> None:
    summary = fold(*items)
    assert summary.entries == len(items)
    assert summary.steps == sum(isinstance(item, ToolCall) for item in items)
    assert summary.refusals == sum(isinstance(item, RateLimited) for item in items)
    assert min(summary.usage.input_total, summary.usage.output, summary.permission_denials) >= 0


@given(st.lists(entries, max_size=20), st.integers(2_000, 50_000))
def test_a_summary_is_bounded_whatever_the_entries_hold(items: list[TraceEntry], size: int) -> None:
    huge = "wörd " * size
    flood: tuple[TraceEntry, ...] = (
        SessionStarted(huge, huge),
        Text(f"PADDOCK-NOOP: {huge}"),
        ToolCall(huge, huge, huge),
        Error(huge),
        End(success=False, reason=huge),
        RateLimited(TroubleKind.AUTH, message=huge),
    )
    assert len(msgspec.json.encode(fold(*items, *flood))) < 3 * (2 * ERROR_LIMIT + 2 * ID_LIMIT + 4 * STEP_LIMIT + 500)


def test_a_refusal_that_work_got_over_is_no_trouble_but_is_remembered() -> None:
    summary = fold(refusal(), ToolCall("1", "Bash", "make"))
    assert (summary.trouble, refusal_of(summary), summary.refusals) == (None, "none", 1)


def test_a_turn_that_ends_in_backoff_keeps_its_cause() -> None:
    summary = fold(Text("working"), refusal(retry_after=20.0), Progress("waiting"))
    assert refusal_of(summary) == "throttled"
    assert (summary.final, pause_of(summary)) == (Final.NONE, 20.0)


def test_tool_output_after_a_refusal_does_not_clear_it() -> None:
    summary = fold(ToolCall("1", "Bash"), refusal(), ToolResult("1", ToolStatus.OK, "late"))
    assert summary.trouble is not None


def test_the_pause_told_at_the_retry_outlives_the_bare_refusal_at_the_end() -> None:
    summary = fold(refusal(retry_after=7.0), refusal(), End(success=False, reason="api_error"))
    assert (pause_of(summary), summary.final) == (7.0, Final.ERROR)


def test_the_pause_of_one_kind_of_refusal_is_not_taken_for_another() -> None:
    assert pause_of(fold(refusal(retry_after=7.0), refusal(TroubleKind.AUTH))) is None


def test_a_refusal_read_after_the_success_is_counted_and_not_believed() -> None:
    summary = fold(Text("done"), End(success=True), refusal())
    assert (summary.trouble, summary.refusals, summary.final) == (None, 1, Final.SUCCESS)


def test_a_plain_programs_words_prove_no_call_of_a_model_and_clear_nothing() -> None:
    summary = fold(refusal(), Text("retrying", model_spoke=False))
    assert not summary.saw_llm_call
    assert summary.trouble is not None
    assert summary.last_step == "retrying"


@pytest.mark.parametrize("proof", [Text("hi"), ToolCall("1", "Read"), Usage(TokenUsage(output=1), UsageScope.DELTA)])
def test_a_word_a_tool_call_or_output_tokens_prove_a_call_of_the_model(proof: TraceEntry) -> None:
    assert fold(proof).saw_llm_call


@pytest.mark.parametrize(
    "nothing",
    [SessionStarted("s"), Progress("init"), Error("boom"), refusal(), Usage(TokenUsage(1000), UsageScope.TURN)],
)
def test_starting_failing_and_being_refused_prove_no_call_of_the_model(nothing: TraceEntry) -> None:
    assert not fold(nothing).saw_llm_call


def test_a_sub_agents_session_does_not_replace_the_conversations() -> None:
    assert fold(SessionStarted("main"), SessionStarted("helper")).session_id == "main"


def test_denials_seen_and_denials_reported_are_not_added_up() -> None:
    summary = fold(ToolResult("1", ToolStatus.DENIED), End(success=True, permission_denials=1))
    assert (summary.permission_denials, summary.failed_steps) == (1, 1)


def test_deltas_add_up_until_the_turns_total_replaces_them() -> None:
    part = Usage(TokenUsage(100, output=1), UsageScope.DELTA)
    total = Usage(TokenUsage(150, output=30, cost_usd=0.5), UsageScope.TURN)
    assert fold(part, part).usage == TokenUsage(200, output=2)
    assert fold(part, part, total).usage == TokenUsage(150, output=30, cost_usd=0.5)


@given(tokens, tokens)
def test_a_conversations_total_less_what_came_before_is_the_turn(before: TokenUsage, turn: TokenUsage) -> None:
    summary = fold(Usage(before.plus(turn), UsageScope.CONVERSATION))
    used = turn_usage(summary, before)
    assert (used.input_total, used.output) == (turn.input_total, turn.output)


def test_an_engine_that_counts_anew_is_taken_at_its_word() -> None:
    summary = fold(Usage(TokenUsage(10, output=5), UsageScope.CONVERSATION))
    assert turn_usage(summary, TokenUsage(1000, output=500)) == TokenUsage(10, output=5)


def test_a_turns_own_figures_are_not_lessened_by_earlier_turns() -> None:
    summary = fold(Usage(TokenUsage(10, output=5), UsageScope.TURN))
    assert turn_usage(summary, TokenUsage(4, output=2)) == TokenUsage(10, output=5)


def test_an_unknown_cost_stays_unknown_and_a_known_one_is_kept() -> None:
    assert TokenUsage(1).plus(TokenUsage(1)).cost_usd is None
    assert TokenUsage(cost_usd=0.0).plus(TokenUsage(cost_usd=None)).cost_usd == 0.0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("PADDOCK-NOOP: already done", "already done"),
        ("I looked.\n\nPADDOCK-NOOP: it works\n", "it works"),
        ("**PADDOCK-NOOP: it works**", "it works"),
        ("> `PADDOCK-NOOP: quoted`", "quoted"),
        ("PADDOCK-NOOP: one\nPADDOCK-NOOP: two", "two"),
        ("PADDOCK-NOOP: <reason>", None),
        ("PADDOCK-NOOP:", None),
        ("End with PADDOCK-NOOP: reason if so", None),
        ("nothing", None),
    ],
)
def test_a_noop_is_declared_by_a_line_of_its_own_with_a_reason(text: str, reason: str | None) -> None:
    assert find_noop(text) == reason
    assert fold(Text(text)).noop_reason == reason


def test_a_declared_noop_outlives_later_words() -> None:
    assert fold(Text("PADDOCK-NOOP: done before"), Text("bye")).noop_reason == "done before"


def test_no_line_of_an_agents_takes_for_ever_to_read() -> None:
    """As much as is kept of one message: a pattern that tries again would be at it for hours."""
    blanks, marks = " \t" * 3_900, "* " * 3_900
    for word in ("PADDOCK-NOOP:", "PADDOCK-REFUTE: f1"):
        told = fold(*(Text(f"{word}{middle}{end}") for middle in (blanks, marks) for end in ("\r", "\rx", "")))
        assert (told.noop_reason, told.refuted) == (None, ())
    assert fold(Text("- `PADDOCK-REFUTE: f1` : it is right **")).refuted == (("f1", "it is right"),)


@given(st.text(max_size=500), st.integers(10, 100))
def test_clipped_text_fits_and_can_always_be_written(text: str, limit: int) -> None:
    for cut in (clip(text, limit), one_line(text, limit)):
        assert len(cut) <= limit
        cut.encode("utf-8")
    assert "\n" not in one_line(text, limit)


def test_clipped_text_keeps_head_and_tail() -> None:
    cut = clip("a" * 500 + "b" * 500, 90)
    assert cut.startswith("a")
    assert cut.endswith("b")
