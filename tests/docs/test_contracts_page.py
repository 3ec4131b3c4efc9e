"""docs/contracts.md shows the JSON that commands really print: the same keys, at every depth."""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from paddock.core.merge.model import Ending, Purpose
from paddock.core.tasks.task import Phase
from tests.docs.markdown import ROOT, blocks
from tests.warm import RunningCommand

PAGE = ROOT / "docs" / "contracts.md"
CONFIG = """\
engine = "scripted"
[group]
name = "team"
[land]
approval = "none"
[[land.checks]]
name = "web"
run = "make test"
retry = 2
"""
RUN = {"run": "one", "task": "a", "label": "elsewhere", "outcome": "failure", "error": "no such file", "steps": []}
_ROW = re.compile(r"^\| `(paddock [^`]+ --json)` \| ([^|]+) \|$")
EXAMPLES = {block.heading.strip("`"): json.loads(block.text) for block in blocks(PAGE) if block.language == "json"}
ROWS = {match[1]: match[2] for line in PAGE.read_text().splitlines() if (match := _ROW.match(line))}
# Lists that are empty unless something happens at that very moment: their entries are checked elsewhere.
FLEETING = {"running", "next", "waiting", "behind"}


class Repository:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.env = {key: value for key, value in os.environ.items() if not key.startswith("PADDOCK_")}
        self.env |= {name: str(path.parent / name) for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME")}

    def git(self, *words: str) -> None:
        identity = ("-c", "user.name=You", "-c", "user.email=you@localhost")
        subprocess.run(["git", *identity, *words], cwd=self.path, check=True, capture_output=True)

    def paddock(self, *words: str) -> str:
        command = RunningCommand(list(words), self.path, self.env, apart=True)
        assert command.wait() == 0, f"paddock {shlex.join(words)}\n{command.words}\n{command.complaints}"
        return command.words

    def typed(self, command: str) -> str:
        return self.paddock(*shlex.split(command)[1:])


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """One landed task of a convoy, a branch with more work, a budget and a lease."""
    here = Repository(tmp_path_factory.mktemp("contracts") / "project")
    here.path.mkdir()
    (here.path / "Makefile").write_text("test:\n\ttrue\n")
    (here.path / "paddock.toml").write_text(CONFIG)
    (here.path / "runs.jsonl").write_text(json.dumps(RUN) + "\n")
    (here.path / ".paddock/agents").mkdir(parents=True)
    (here.path / ".paddock/agents/parser.md").write_text("---\nkinds: grammar\n---\nYou keep the parser.\n")
    here.git("init", "-q", "-b", "main")
    here.git("add", ".")
    here.git("commit", "-qm", "First commit")
    here.git("switch", "-qc", "more")
    (here.path / "more.txt").write_text("more\n")
    here.git("add", ".")
    here.git("commit", "-qm", "More")
    here.paddock("init", "--yes")
    here.paddock("add", "Say hello", "--convoy", "parser", "--attempts", "2")
    here.paddock("budget", "set", "day", "--usd", "20")
    here.paddock("lease", "acquire", "port:5432")
    here.paddock("run", "--until-idle")
    here.paddock("add", "Say more")
    return here


def keys_of(value: Any) -> Any:
    """The shape: keys of tables, the shape of a list's first entry, nothing of plain values."""
    if isinstance(value, dict):
        return {key: [] if key in FLEETING else keys_of(below) for key, below in value.items()}
    if isinstance(value, list):
        return [keys_of(value[0])] if value and isinstance(value[0], dict) else []
    return None


def test_examples_and_rows_were_found() -> None:
    assert len(EXAMPLES) >= 10
    assert len(ROWS) >= 15


@pytest.mark.parametrize("command", EXAMPLES)
def test_examples_have_the_keys_that_are_printed(repository: Repository, command: str) -> None:
    printed = repository.typed(command)
    real = json.loads(printed.splitlines()[-1] if command == "paddock log --json" else printed)
    said = EXAMPLES[command]
    if command == "paddock log --json":
        real, said = {**real, "body": None}, {**said, "body": None}
    if command == "paddock config show --json":
        real["settings"] = real["settings"][:1]
    assert keys_of(real) == keys_of(said), "docs/contracts.md names every key"


def test_other_commands_have_the_keys_of_the_table(repository: Repository) -> None:
    """In the order of the table, for some follow from others."""
    for command, cell in ROWS.items():
        named = re.findall(r"`(\w+)`", cell.partition(";")[0])
        printed = json.loads(repository.typed(command))
        assert list(printed) == ["schema", *named], command
        assert printed["schema"] == 1


def test_show_is_the_task_of_status_with_its_brief(repository: Repository) -> None:
    task = keys_of(json.loads(repository.paddock("status", "--json"))["tasks"][0])
    shown = keys_of(json.loads(repository.paddock("show", "t1", "--json")))
    assert set(shown.pop("work")["t1.1"]) == {"worktree", "files", "tool_calls", "last_error", "stderr", "stopped"}
    assert set(shown.pop("approval")) == {"by", "at", "message"}
    assert shown.pop("settings_changed") == {}
    more = dict.fromkeys(("brief", "answer", "question", "accept", "comments", "reverted", "failed_ci", "round"))
    lists: dict[str, list[object]] = {name: [] for name in ("dependents", "findings", "verdicts", "checks")}
    assert shown == {"schema": None, **task, **more, **lists}
    assert all(f"`{name}`" in PAGE.read_text() for name in (*more, *lists))


def test_words_of_the_queue_are_all_named() -> None:
    text = PAGE.read_text()
    for word in (*Ending, *Purpose):
        assert f"`{word.value}`" in text


def test_every_phase_and_outcome_is_explained() -> None:
    from paddock.core.tasks.vocabulary import Outcome

    text = (ROOT / "docs" / "concepts.md").read_text()
    for word in (*Phase, *Outcome):
        assert f"`{word.value}`" in text, word
    assert set(EXAMPLES["paddock status --json"]["counts"]) == {phase.value for phase in Phase}


def test_every_variable_of_the_program_is_listed() -> None:
    text = PAGE.read_text()
    ours: set[str] = set()
    for source in (ROOT / "src").rglob("*.py"):
        ours |= set(re.findall(r"\"(PADDOCK_[A-Z_]+[A-Z])\"", source.read_text(encoding="utf-8")))
    hidden = {name for name in ours if name.startswith("PADDOCK_TEST_")}
    assert {name for name in ours - hidden if f"`{name}`" not in text} == set()
