"""The same symbol for the same work, whichever agent did it and however its tools are called."""

from collections.abc import Mapping

import pytest

from paddock.insight.activities import Activity, activity_of


@pytest.mark.parametrize(
    ("tool", "argument", "activity"),
    [
        ("str_replace_editor", {"command": "view", "path": "src/a.py"}, Activity("READ:src", "src/a.py")),
        ("bash", "str_replace_editor view src/a.py --view_range 1 20", Activity("READ:src", "src/a.py")),
        (
            "bash",
            'str_replace_editor str_replace tests/test_a.py --old_str "x\ny"',
            Activity("EDIT:test", "tests/test_a.py"),
        ),
        ("developer__text_editor", {"command": "write", "path": "a.py"}, Activity("CREATE:src", "a.py")),
        ("developer__shell", {"command": "pytest -q"}, Activity("TEST", "pytest")),
        ("mcp__fs__read_file", "a.py", Activity("READ:src", "a.py")),
        ("tmux", {"keystrokes": "make test\n"}, Activity("TEST", "make test")),
        ("shell", {"command": ["bash", "-lc", "cargo test"]}, Activity("TEST", "cargo test")),
        ("cancel_pending_order", {"order_id": "#W1"}, Activity("EDIT", "cancel_pending_order")),
        ("frobnicate", "", Activity("OTHER", "frobnicate")),
    ],
)
def test_a_call_is_what_it_does(tool: str, argument: str | Mapping[str, object], activity: Activity) -> None:
    assert activity_of(tool, argument) == activity
