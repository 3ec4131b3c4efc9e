"""When a turn goes round in circles, and when it only looks like it."""

from hypothesis import given
from hypothesis import strategies as st

from paddock.core.tasks.repetition import KEPT_OPEN_CALLS, LoopLimits, ToolUse, follow, why_looping
from paddock.core.trace import End, Progress, Text, ToolCall, ToolResult, ToolStatus, TraceEntry

LIMITS = LoopLimits(repeats=3, calls=10, answers=5)


def call(name: str = "1", argument: str = "make", digest: str = "d1") -> ToolCall:
    return ToolCall(name, "Bash", argument, digest)


def result(name: str = "1", output: str = "no", status: ToolStatus = ToolStatus.OK) -> ToolResult:
    return ToolResult(name, status, output)


def again(times: int, *entries: TraceEntry) -> list[TraceEntry]:
    return list(entries) * times


def after(*entries: TraceEntry) -> ToolUse:
    use = ToolUse()
    for entry in entries:
        use = follow(use, entry)
    return use


def test_the_same_call_with_the_same_result_again_and_again_is_a_loop() -> None:
    twice, thrice = after(*again(2, call(), result())), after(*again(3, call(), result()))
    assert why_looping(twice, LIMITS) == ""
    assert why_looping(thrice, LIMITS) == "the same call with the same result 3 times in a row: Bash make"


def test_words_between_the_calls_do_not_hide_a_loop() -> None:
    assert why_looping(after(*again(3, Text("once more"), call(), Progress(), result())), LIMITS)


def test_parallel_calls_are_told_apart_by_their_ids() -> None:
    pair = again(1, call("1"), call("2", digest="d2"), result("2"), result("1"))
    assert why_looping(after(*pair, *pair), LIMITS) == ""
    assert after(*pair).open == {}


def test_another_argument_or_result_or_status_starts_the_count_again() -> None:
    same = again(1, call(), result())
    for other in (
        again(1, call(digest="d2"), result()),
        again(1, call(), result(output="yes")),
        again(1, call(), result(status=ToolStatus.ERROR)),
        again(1, ToolCall("1", "Read", "make", "d1"), result()),
    ):
        use = after(*same, *same, *other)
        assert (use.repeats, why_looping(use, LIMITS)) == (1, "")


def test_calls_whose_arguments_are_not_shown_are_never_the_same() -> None:
    assert why_looping(after(*again(9, call(digest=""), result())), LoopLimits(repeats=3)) == ""


def test_a_turn_has_a_number_of_calls_and_of_answers() -> None:
    calls = [entry for n in range(11) for entry in (call(f"{n}", digest=f"{n}"),)]
    assert "more than 10 tool calls" in why_looping(after(*calls), LoopLimits(calls=10))
    assert why_looping(after(*calls[:10]), LoopLimits(calls=10)) == ""
    rounds = [entry for n in range(6) for entry in again(1, Text("so"), call(f"{n}", digest=f"{n}"), result(f"{n}"))]
    assert "more than 5 model answers" in why_looping(after(*rounds), LoopLimits(answers=5))
    assert why_looping(after(*rounds[:15]), LoopLimits(answers=5)) == ""


def test_an_answer_of_many_lines_is_one() -> None:
    assert after(Text("a"), Text("b"), call("1"), call("2"), result("1"), result("2"), Text("c")).answers == 2
    assert after(Text("a program's", model_spoke=False)).answers == 0


def test_nothing_is_a_loop_where_no_limit_is_set() -> None:
    assert why_looping(after(*again(500, call(), result())), LoopLimits()) == ""


def test_a_tool_runs_from_its_call_to_its_result_or_the_end() -> None:
    assert after(call()).is_running
    assert not after(call(), result()).is_running
    assert not after(call(), End(success=True)).is_running


ids = st.sampled_from("abcdef")
entries = st.lists(
    st.one_of(
        st.builds(call, ids, st.sampled_from(["x", "y"]), st.sampled_from(["", "d1", "d2"])),
        st.builds(result, ids, st.sampled_from(["no", "yes"])),
        st.builds(Text, st.just("so")),
        st.just(Progress()),
    ),
    max_size=60,
)


@given(entries)
def test_what_is_kept_is_bounded_and_numbers_never_exceed_what_was_seen(seen: list[TraceEntry]) -> None:
    use = after(*seen)
    calls = sum(isinstance(entry, ToolCall) for entry in seen)
    results = sum(isinstance(entry, ToolResult) for entry in seen)
    assert use.calls == calls
    assert use.repeats <= min(calls, results)
    assert use.answers <= results + 1
    assert len(use.open) <= 6


@given(st.integers(0, 300))
def test_calls_that_never_end_are_forgotten(number: int) -> None:
    use = after(*(call(str(n), digest=str(n)) for n in range(number)))
    assert len(use.open) == min(number, KEPT_OPEN_CALLS)


@given(entries, st.integers(1, 8))
def test_a_loop_is_found_whatever_came_before(seen: list[TraceEntry], repeats: int) -> None:
    use = after(*seen, *again(repeats, call("z", digest="loop"), result("z")))
    assert use.repeats == repeats
