"""Tab completion as the shells ask for it: words of the line in, candidates out."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.warm import RunningCommand

WHOLE_PATH = os.environ["PATH"]  # the fixtures leave only a little of it


def complete(cli: Cli, line: str, shell: str = "bash") -> list[str]:
    """What `line`, ended by the tab key, could go on with."""
    words = line.split(" ")
    current = words[-1] if shell == "fish" else str(len(words) - 1)
    asked = {"_PADDOCK_COMPLETE": f"{shell}_complete", "COMP_WORDS": line, "COMP_CWORD": current}
    command = RunningCommand([], cli.top, {**os.environ, **asked}, apart=True)
    assert (command.wait(), command.complaints) == (0, "")
    return [line for line in command.words.splitlines() if line]


@pytest.fixture
def filled(cli: Cli) -> Cli:
    (cli.top / "paddock.toml").write_text(
        '[engines.mine]\ncommand = ["x"]\n[agents.writer]\nengine = "mine"\nkinds = ["docs"]\n'
    )
    cli.good("init", "--yes")
    cli.good("add", "First thing", "--convoy", "red")
    cli.good("add", "Second thing")
    cli.good("add", "Third thing")
    cli.good("cancel", "t3")
    return cli


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("paddock sh", ["show"]),
        ("paddock show ", ["t2", "t1", "t3"]),
        ("paddock cancel t1 t", ["t2", "t1", "t3"]),
        ("paddock run --only t1,", ["t1,t2", "t1,t3"]),
        ("paddock edit t1 --after t2", ["t2"]),
        ("paddock log --task t1", ["t1"]),
        ("paddock log --kind task.add", ["task.added"]),
        ("paddock add --kind ", ["docs"]),
        ("paddock add --agent w", ["writer"]),
        ("paddock add --engine m", ["mine"]),
        ("paddock engines check sc", ["scripted"]),
        ("paddock status --convoy ", ["red"]),
        ("paddock convoy show r", ["red"]),
        ("paddock config show limits.max", ["limits.max_agents", "limits.max_calls", "limits.max_turns"]),
        ("paddock status --where ph", ["phase=", "phase!="]),
        ("paddock land --where ag", ["agent=", "agent!=", "age>", "age<"]),
        ("paddock cancel --where phase=re", ["phase=ready", "phase=reviewing"]),
        ("paddock log --where phase=done,bl", ["phase=done,blocked"]),
        ("paddock stop --where agent=", ["agent=writer"]),
        ("paddock results ", ["t2", "t1", "t3", "red"]),
        ("paddock findings ", ["waive", "confirm", "file", "t2", "t1", "t3"]),
        ("paddock plan --accept ", []),
        ("paddock workflow run fe", ["feature"]),
        ("paddock schedule add @daily --tz Europe/Be", ["Europe/Belfast", "Europe/Belgrade", "Europe/Berlin"]),
        ("paddock alerts test ne", ["never-ran", "new-failure"]),
        ("paddock alerts ack ", []),
        ("paddock failures settle c1 n", ["never-ran", "network"]),
        ("paddock failures clear ", []),
        ("paddock traces list --label ", []),
        ("paddock show x", []),
    ],
)
def test_what_a_word_may_be_is_offered(filled: Cli, line: str, offered: list[str]) -> None:
    assert complete(filled, line) == [f"plain,{word}" for word in offered]


def test_files_are_left_to_the_shell(filled: Cli) -> None:
    assert complete(filled, "paddock add --file x") == ["file,x"]
    assert complete(filled, "paddock -C x") == ["file,x"]


def test_where_there_is_no_log_nothing_is_offered_and_nothing_said(cli: Cli) -> None:
    assert complete(cli, "paddock show t") == []


def test_titles_come_with_the_ids_where_the_shell_shows_them(filled: Cli) -> None:
    assert complete(filled, "paddock show t2", "fish") == ["plain,t2\tready: Second thing"]
    assert complete(filled, "paddock show t2", "zsh") == ["plain", "t2", "ready: Second thing"]


def ask(cli: Cli, *argv: str) -> list[str]:
    """What a shell prints that finds our `paddock` first."""
    path = f"{Path(sys.executable).parent}:{WHOLE_PATH}"
    done = subprocess.run(
        argv, cwd=cli.top, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout.splitlines()


@pytest.mark.skipif(
    shutil.which("fish") is None and os.environ.get("CI") != "true",
    reason="fish is not installed: apt-get install fish",
)
def test_fish_completes_the_last_of_several_ids(filled: Cli) -> None:
    script = filled.good("completion", "fish").out
    said = ask(filled, "fish", "-c", f'{script}\ncomplete -C "paddock run --only t1,"')
    assert [line.split("\t")[0] for line in said] == ["t1,t2", "t1,t3"]


def test_bash_completes_ids(filled: Cli) -> None:
    """The script itself, called as readline calls it."""
    script = filled.good("completion", "bash").out
    asked = 'COMP_WORDS=(paddock show t1); COMP_CWORD=2; _paddock_completion paddock t1 show; echo "${COMPREPLY[@]}"'
    assert ask(filled, "bash", "-c", f"{script}\n{asked}") == ["t1"]
