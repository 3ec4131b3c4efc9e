"""Where a setting came from: default, file, environment, flag; the later wins."""

import pytest

from tests.cli.conftest import Cli


def sources(cli: Cli, *before: str) -> dict[str, tuple[object, str]]:
    rows = cli.good(*before, "config", "show", "--json").json()["settings"]
    return {row["key"]: (row["value"], row["source"]) for row in rows}


def test_a_flag_wins_over_the_environment_and_that_over_the_file(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    (cli.top / "paddock.toml").write_text('[limits]\nattempts = 2\n[timeouts]\nturn = "7m"\n')
    monkeypatch.setenv("PADDOCK_TIMEOUTS_TURN", "6s")
    seen = sources(cli, "--set", "limits.max_agents=9")
    assert seen["limits.attempts"] == (2, "paddock.toml")
    assert seen["timeouts.turn"] == (6.0, "PADDOCK_TIMEOUTS_TURN")
    assert seen["limits.max_agents"] == (9, "--set")
    assert seen["timeouts.grace"] == (10.0, "default")
    assert sources(cli, "--set", "timeouts.turn=9s")["timeouts.turn"] == (9.0, "--set")


@pytest.mark.parametrize(
    ("word", "problem"),
    [
        ("limits.attemts=1", "unknown key `limits.attemts`"),
        ("limits.attempts", "is not KEY=VALUE"),
        ("limits.attempts=many", "`many` is not a whole number"),
        ("limits.attempts=0", "limits.attempts"),
        ("timeouts.turn=soon", "is not a duration"),
        ("limits=3", "is a section"),
    ],
)
def test_a_bad_flag_is_misuse_and_says_which(cli: Cli, word: str, problem: str) -> None:
    said = cli("--set", word, "config", "show")
    assert said.code == 2
    assert problem in said.err


def test_a_kind_finds_its_agent_on_the_command_line_and_in_a_file(cli: Cli) -> None:
    agents = '[agents.writer]\nkinds = ["docs"]\n[agents.second]\nkinds = ["docs", "tests"]\n'
    (cli.top / "paddock.toml").write_text(agents)
    cli.good("init", "--yes")
    assert cli.good("add", "Say hello", "--kind", "docs").out == "added t1  Say hello  for writer\n"
    cli.good("add", "--file", "-", stdin=b"defaults: {kind: tests}\ntasks: [one, {brief: two, kind: docs}]\n")
    assert [task["agent"] for task in cli.good("status", "--json").json()["tasks"]] == ["writer", "second", "writer"]
    assert "kind      docs" in cli.good("show", "t1").out
    said = cli("add", "x", "--kind", "dosc")
    assert (said.code, "did you mean `docs`?" in said.err) == (2, True)


@pytest.mark.parametrize("words", [("--agent", "a"), ("--priority", "0"), ("--title", "x"), ("--kind", "x")])
def test_an_option_that_a_task_file_would_hide_is_refused(cli: Cli, words: tuple[str, str]) -> None:
    cli.good("init", "--yes")
    said = cli("add", "--file", "-", *words, stdin=b"tasks: [one]\n")
    assert (said.code, f"{words[0]} does nothing with --file" in said.err) == (2, True)
