"""What is kept of a turn while its entries come."""

from paddock.core.trace import ToolCall, ToolResult, ToolStatus
from paddock.insight.dataset.tally import TurnTally


def test_a_program_within_a_command_is_no_line_of_what_the_turn_saw() -> None:
    tally = TurnTally(1, worktree="/w")
    program = "python -c '\nimport socket\nprint(\"address already in use\")\n' /w/ring"
    tally.take(ToolCall("c1", "Bash", program), 1.0)
    tally.take(ToolResult("c1", ToolStatus.ERROR, "FileNotFoundError: ring\nexit 1"), 2.0)
    command = "$ Bash python -c ' import socket print(\"address already in use\") ' ring"
    assert tally.tail == [command, "FileNotFoundError: ring", "exit 1"]
