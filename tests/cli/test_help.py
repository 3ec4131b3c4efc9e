"""Help and the words people bring from other tools."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from paddock.cli.registry import COMMANDS, GROUPS, MEANT
from tests.cli.conftest import Cli


def test_every_command_is_in_one_group() -> None:
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(COMMANDS)


def test_help_lists_the_commands_in_groups(cli: Cli) -> None:
    said = cli.good("--help").out
    titles = [line[:-1] for line in said.splitlines() if line.endswith(":") and not line.startswith((" ", "Options"))]
    assert titles == list(GROUPS)
    assert all(f"  {name} " in said for name in COMMANDS)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("ls", "status"), ("live", "watch"), ("attach", "connect"), ("help", "--help"), ("start", "up"), ("logs", "tail")],
)
def test_words_of_other_tools_get_a_suggestion(cli: Cli, typed: str, meant: str) -> None:
    assert cli.shown(typed) == (
        f"--- stderr\nerror: there is no command `{typed}`\n\nhint: did you mean `paddock {meant}`?\n[exit 2]\n"
    )


def test_suggestions_are_commands() -> None:
    assert {word for word in MEANT.values() if not word.startswith("-")} <= set(COMMANDS)
    assert not set(MEANT) & set(COMMANDS)


def test_an_interrupted_completion_prints_nothing(tmp_path: Path) -> None:
    program = (
        "import signal, sys\n"
        "from paddock.cli import completion\n"
        "completion.discover = lambda _: signal.raise_signal(signal.SIGINT)\n"
        "from paddock.cli.main import run\n"
        "sys.exit(run([]))\n"
    )
    ended = subprocess.run(
        (sys.executable, "-c", program),
        cwd=tmp_path,
        env={**os.environ, "_PADDOCK_COMPLETE": "bash_complete", "COMP_WORDS": "paddock show ", "COMP_CWORD": "2"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.stdout, ended.stderr) == ("", "")
    assert ended.returncode in (130, -signal.SIGINT)
