"""A path tells what was done, once for immediate repeats, and tools that no table knows by their names."""

from paddock.insight.paths import MOST_SYMBOLS, Symbols, path_of, symbol_of
from paddock.insight.trace import Step, StepStatus


def test_immediate_repeats_are_told_once_and_failures_are_marked() -> None:
    symbols = Symbols()
    steps = [Step(activity="READ:src"), Step(activity="READ:src"), Step(activity="TEST", status=StepStatus.ERROR)]
    assert [symbols.text(code) for code in path_of(steps, symbols)] == ["READ:src", "TEST!"]


def test_tools_that_no_table_knows_are_told_apart_by_their_names() -> None:
    assert symbol_of(Step(tool="get_user_details", activity="READ")) == "READ:get_user_details"
    assert symbol_of(Step(tool="mcp__shop__Refund", activity="OTHER")) == "OTHER:refund"


def test_tools_and_commands_that_a_table_knows_are_told_by_what_they_do() -> None:
    assert symbol_of(Step(tool="Bash", activity="TEST")) == "TEST"
    assert symbol_of(Step(tool="Read", activity="READ:src")) == "READ:src"
    assert symbol_of(Step(tool="pytest", activity="TEST")) == "TEST"
    assert symbol_of(Step()) == "OTHER"


def test_names_made_up_without_end_are_no_symbols() -> None:
    symbols = Symbols()
    path_of([Step(tool=f"tool{number}", activity="RUN") for number in range(2 * MOST_SYMBOLS)], symbols)
    assert len(symbols) <= MOST_SYMBOLS + 1
