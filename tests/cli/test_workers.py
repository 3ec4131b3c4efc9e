"""`paddock` inside an attempt: what it refuses, and whom it takes for an agent."""

import os
import subprocess
import sys
from collections.abc import Iterator

import click
import pytest

from paddock.cli.registry import paddock
from paddock.core.events import RequestRefused
from paddock.core.intent.workers import RIGHTS
from paddock.fleet.workspace import Workspace
from paddock.git.repo import discover
from tests.cli.conftest import SOURCE, Cli
from tests.cli.test_lease import begin_attempt

ARGUMENTS = {
    "drain": ("n1",),
    "group forget": ("app",),
    "plan": ("goal",),
    "reject": ("t1", "-m", "no"),
    "fork": ("t1", "x"),
    "edit": ("t1", "--title", "x"),
    "queue move": ("t1", "--front"),
    "queue cancel": ("t1",),
    "queue restore": ("HEAD",),
    "budget set": ("fleet", "--usd", "1"),
    "engines check": ("scripted",),
    "agents show": ("x",),
    "agents new": ("x",),
    "config show": (),
    "findings confirm": ("f1",),
    "findings file": ("f1",),
    "findings waive": ("f1",),
    "exec": ("t1", "--", "true"),
    "workflow run": ("feature",),
    "workflow show": ("feature",),
    "schedule add": ("@daily", "--task", "Look"),
    "schedule show": ("x",),
    "schedule run": ("x",),
    "schedule pause": ("x",),
    "schedule resume": ("x",),
    "schedule remove": ("x",),
    "traces show": ("t1.1",),
    "traces diff": ("t1.1", "t1.2"),
    "traces import": ("paddock.toml",),
    "traces export": ("--format", "jsonl"),
    "traces forget": ("x",),
    "failures clear": ("c1",),
    "failures settle": ("c1", "task"),
    "failures probe": ("c1",),
}


def commands(group: click.Group, *path: str) -> Iterator[str]:
    ctx = click.Context(group)
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        assert command is not None
        if not isinstance(command, click.Group) or command.invoke_without_command:
            yield " ".join((*path, name))
        if isinstance(command, click.Group):
            yield from commands(command, *path, name)


def takes_tasks(path: str) -> bool:
    command: click.Command = paddock
    for name in path.split():
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), name)
        assert found is not None
        command = found
    return any(isinstance(one, click.Argument) and one.name in ("task", "tasks", "change") for one in command.params)


FOR_PEOPLE = [name for name in commands(paddock) if name not in RIGHTS and name != "completion"]


@pytest.fixture
def agent(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command line as the agent of t1.1 has it."""
    begin_attempt(cli)
    monkeypatch.setenv("PADDOCK_ATTEMPT", "t1.1")
    monkeypatch.setenv("PADDOCK_MARKER", f"{marker(cli)}:t1.1")
    return cli


def marker(cli: Cli) -> str:
    return Workspace(discover(cli.top)).marker


def findings(cli: Cli) -> list[str]:
    return [line["body"]["request"] for line in as_person(cli, "log", "--kind", RequestRefused.kind, "--json").lines]


def as_person(cli: Cli, *arguments: str):  # type: ignore[no-untyped-def]
    with pytest.MonkeyPatch.context() as patch:
        for name in ("PADDOCK_ATTEMPT", "PADDOCK_MARKER", "PADDOCK_CI"):
            patch.delenv(name, raising=False)
        return cli.good(*arguments)


def test_the_table_names_only_commands_that_exist() -> None:
    assert set(RIGHTS) <= set(commands(paddock))


@pytest.mark.parametrize("command", FOR_PEOPLE)
def test_an_agent_is_refused_whatever_is_for_people(agent: Cli, command: str) -> None:
    said = agent(*command.split(), *ARGUMENTS.get(command, ("t1",) if takes_tasks(command) else ()))
    assert said.code == 1, said
    assert said.out == ""
    assert said.err.startswith(f"error: `paddock {command}` is not for agents: you run inside attempt t1.1\n\nhint: ")
    assert findings(agent) == [command]
    kinds = [line["kind"] for line in as_person(agent, "log", "--json").lines]
    assert kinds[-1] == RequestRefused.kind
    assert len(kinds) == 4, "nothing else was recorded"


def test_a_command_for_people_in_a_loop_is_one_finding(agent: Cli) -> None:
    for _ in range(6):
        assert agent("down").code == 1
        assert agent("approve", "t1").code == 1
    assert findings(agent) == ["down", "approve"]
    shown = as_person(agent, "show", "t1").out
    assert "asked for what is not for agents, and was refused: `down`, `approve`" in shown
    [attempt] = as_person(agent, "show", "t1", "--json").json()["attempts"]
    assert attempt["refused"] == ["down", "approve"]
    assert "asked for `down`, which is not for agents: refused" in as_person(agent, "log").out


@pytest.mark.parametrize("words", [("--help",), ("land", "--help"), ("--version",)])
def test_help_is_for_everybody(agent: Cli, words: tuple[str, ...]) -> None:
    assert agent(*words).code == 0


@pytest.mark.parametrize(
    "words", [("status",), ("status", "--convoy", "x"), ("show", "t1"), ("queue",), ("costs",), ("lease", "list")]
)
def test_an_agent_may_read(agent: Cli, words: tuple[str, ...]) -> None:
    assert "is not for agents" not in agent(*words).err


@pytest.mark.parametrize("command", ["show", "diff", "tail"])
def test_an_agent_sees_its_own_task_and_no_others(agent: Cli, command: str) -> None:
    assert "is not for agents" not in agent(command, "t1").err
    assert "may only see your own" in agent(command, "t2").err


def test_an_agent_adds_tasks_only_if_the_file_allows_it(agent: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADDOCK_AGENTS_MAY_ADD", "true")
    said = agent("--set", "agents.may_add=true", "add", "More work")
    assert said.code == 1
    assert "hint: a person may allow it with `[agents] may_add = true`" in said.err
    with (agent.top / "paddock.toml").open("a") as file:
        file.write("\n[agents]\nmay_add = true\n")
    assert agent.good("add", "More work").out == "added t2  More work\n"
    [added] = as_person(agent, "log", "--task", "t2", "--json").lines
    assert added["actor"] == "agent:t1.1"


def test_an_agent_cannot_lease_for_others(agent: Cli) -> None:
    as_person(agent, "lease", "acquire", "x")
    assert "is for ana@" in agent("lease", "release", "x", "--generation", "1").err
    assert "there is no task `t2`" in agent("lease", "acquire", "y", "--for", "t2.1").err
    agent.good("lease", "acquire", "z")
    assert findings(agent) == ["leases of others"]


def test_a_ci_run_reads_and_leases_and_nothing_else(agent: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADDOCK_ATTEMPT", "run-r7")
    monkeypatch.setenv("PADDOCK_MARKER", f"{marker(agent)}:run-r7")
    agent.good("lease", "acquire", "port:5432")
    [held] = agent.good("lease", "list", "--json").json()["held"]
    assert held["holder"] == "run-r7"
    assert agent.good("with-lease", "port:1", "--", "sh", "-c", "exit 0").code == 0
    for words in (("message", "t1", "hello"), ("add", "x"), ("tail", "t1"), ("land", "t1")):
        assert agent(*words).err.startswith(f"error: `paddock {words[0]}` is not for CI: you run inside CI run r7\n")


def test_an_agent_of_another_fleet_is_a_person_here(agent: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADDOCK_MARKER", "feedfeedfeedfeed:t1.1")
    agent.good("add", "Mine")
    [added] = agent.good("log", "--task", "t2", "--json").lines
    assert added["actor"].startswith("ana@")


def test_of_two_fleets_one_inside_the_other_each_knows_its_own(agent: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    for marks in (f"feedfeedfeedfeed:t9.1 {marker(agent)}:t1.1", f"{marker(agent)}:t1.1 feedfeedfeedfeed:t9.1"):
        monkeypatch.setenv("PADDOCK_MARKER", marks)
        assert "you run inside attempt t1.1" in agent("down").err


def run_in_attempt(cli: Cli, script: str) -> "subprocess.CompletedProcess[str]":
    """A shell of t1.1 that runs `script`, in which $PADDOCK is the command."""
    command = f'"{sys.executable}" -c "from paddock.cli.main import main; main()"'
    env = {"PYTHONPATH": str(SOURCE), "PADDOCK_MARKER": f"{marker(cli)}:t1.1", "PADDOCK_ATTEMPT": "t1.1"}
    return subprocess.run(
        ("/bin/sh", "-c", script.replace("$PADDOCK", command) + "; exit $?"),
        cwd=cli.top,
        env={**os.environ, "PATH": os.defpath, **env},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    "script",
    [
        "$PADDOCK down",
        "env -u PADDOCK_MARKER -u PADDOCK_ATTEMPT $PADDOCK down",
        "env -i PATH=/usr/bin:/bin PYTHONPATH=$PYTHONPATH $PADDOCK down",
        "PADDOCK_MARKER=feedfeedfeedfeed:t9.9 $PADDOCK down",
        "setsid -w env -i PATH=/usr/bin:/bin PYTHONPATH=$PYTHONPATH sh -c '$PADDOCK down; exit $?'",
    ],
    ids=["plain", "unset", "emptied", "forged", "own session"],
)
def test_to_drop_the_marks_does_not_make_a_person_of_an_agent(cli: Cli, script: str) -> None:
    begin_attempt(cli)
    ended = run_in_attempt(cli, script)
    assert ended.returncode == 1, ended
    assert "`paddock down` is not for agents: you run inside attempt t1.1" in ended.stderr
    assert findings(cli) == ["down"]


def test_whoever_descends_from_no_attempt_is_a_person(cli: Cli) -> None:
    begin_attempt(cli)
    cli.good("cancel", "t1")
    assert findings(cli) == []
