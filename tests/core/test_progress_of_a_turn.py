"""What can be told of a turn while it runs: how much it has edited, and whether it looks stuck."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.tasks.edits import KEPT_FILES, KEPT_OPEN_EDITS, EditTally, count_edits
from paddock.core.tasks.repetition import ToolUse, follow
from paddock.core.tasks.standstill import QUIET_SECONDS, SAME_CALLS, SAME_ERRORS, why_stuck
from paddock.core.trace import (
    End,
    FileEdit,
    RateLimited,
    Text,
    ToolCall,
    ToolResult,
    ToolStatus,
    TraceEntry,
    TroubleKind,
)


def tally(*entries: TraceEntry) -> EditTally:
    counted = EditTally()
    for entry in entries:
        counted = count_edits(counted, entry)
    return counted


def numbers(counted: EditTally) -> tuple[int, int, int]:
    return counted.insertions, counted.deletions, len(counted.files)


def edit(call: str, path: str = "a.py", added: int = 3, removed: int = 1) -> FileEdit:
    return FileEdit(call, path, "", added, removed)


def ok(call: str) -> ToolResult:
    return ToolResult(call, ToolStatus.OK)


def test_an_edit_counts_once_its_call_has_ended_well() -> None:
    assert numbers(tally(edit("1"))) == (0, 0, 0)
    assert numbers(tally(edit("1"), ok("1"))) == (3, 1, 1)
    assert numbers(tally(edit("1"), edit("1", "b.py"), ok("1"), Text("done"))) == (6, 2, 2)


@pytest.mark.parametrize("status", [ToolStatus.ERROR, ToolStatus.DENIED])
def test_an_edit_that_was_not_made_never_counts(status: ToolStatus) -> None:
    assert numbers(tally(edit("1"), ToolResult("1", status), End(True))) == (0, 0, 0)


def test_a_file_that_is_edited_again_is_one_file() -> None:
    assert numbers(tally(edit("1"), ok("1"), edit("2"), ok("2"))) == (6, 2, 1)


def test_edits_whose_end_was_not_seen_count_at_the_end_of_the_turn() -> None:
    assert numbers(tally(edit("1"), End(True))) == (3, 1, 1)
    assert tally(edit("1"), End(True)).open == {}


def test_the_turns_of_an_attempt_add_up() -> None:
    first, second = tally(edit("1"), ok("1")), tally(edit("1", "b.py", 1, 0), ok("1"), edit("2"))
    assert numbers(first.plus(second)) == (4, 1, 2)


@given(st.lists(st.one_of(st.builds(edit, st.text(max_size=2), st.text()), st.builds(ok, st.text(max_size=2)))))
def test_whatever_a_turn_edits_the_tally_is_bounded(entries: list[TraceEntry]) -> None:
    counted = tally(*entries)
    assert len(counted.open) <= KEPT_OPEN_EDITS
    assert all(len(edits) <= KEPT_OPEN_EDITS for edits in counted.open.values())


def test_ten_thousand_files_and_open_calls_are_bounded() -> None:
    counted = tally(*(edit(str(n), f"{n}.py") for n in range(10_000)))
    assert len(counted.open) == KEPT_OPEN_EDITS
    assert len(counted.files) == KEPT_FILES
    assert counted.insertions == 3 * (10_000 - KEPT_OPEN_EDITS)


def repeated(times: int, status: ToolStatus = ToolStatus.OK, exit_code: int | None = None) -> ToolUse:
    use = ToolUse()
    for number in range(times):
        use = follow(use, ToolCall(str(number), "Bash", "make", "d"))
        use = follow(use, ToolResult(str(number), status, "no", exit_code))
    return use


def test_the_same_error_again_and_again_looks_stuck_long_before_it_is_a_loop() -> None:
    assert why_stuck(repeated(SAME_ERRORS, ToolStatus.ERROR), None, 0.0) == f"same error {SAME_ERRORS}×"
    assert why_stuck(repeated(SAME_ERRORS, ToolStatus.OK, exit_code=2), None, 0.0) == f"same error {SAME_ERRORS}×"
    assert why_stuck(repeated(SAME_ERRORS - 1, ToolStatus.ERROR), None, 0.0) == ""


def test_the_same_good_answer_needs_more_of_them() -> None:
    assert why_stuck(repeated(SAME_CALLS - 1), None, 0.0) == ""
    assert why_stuck(repeated(SAME_CALLS), None, 0.0) == f"same call {SAME_CALLS}×"


def test_an_agent_that_writes_nothing_for_minutes_looks_stuck() -> None:
    assert why_stuck(ToolUse(), None, QUIET_SECONDS - 1) == ""
    assert why_stuck(ToolUse(), None, QUIET_SECONDS + 70) == "quiet for 6m"
    assert why_stuck(ToolUse(), None, None) == "", "a tool runs, or it never says anything before its end"


@pytest.mark.parametrize("kind", list(TroubleKind))
def test_a_refusal_that_stands_is_said_first(kind: TroubleKind) -> None:
    words = why_stuck(repeated(SAME_CALLS), RateLimited(kind), 10 * QUIET_SECONDS)
    assert words
    assert "quiet" not in words
