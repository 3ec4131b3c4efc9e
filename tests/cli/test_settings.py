"""Where a setting came from: default, file, environment, flag; the later wins."""

from pathlib import Path

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
    assert (said.code, f"{words[0]} has no effect with --file" in said.err) == (2, True)


def test_config_check_finds_engines_and_agents_that_could_never_work(cli: Cli) -> None:
    (cli.top / "paddock.toml").write_text(
        '[engines.a]\ncommand = ["a", "{promt}"]\n[engines.b]\ncommand = ["b"]\nsession_id_regex = "("\n[engines.c]\n'
        '[agents.x]\nengine = "cluade"\nkinds = ["docs"]\n[agents.y]\nkinds = ["docs"]\n[land]\nci = "true"\n'
        '[review]\nreviewers = ["x", "reviewer", "rita"]\n'
    )
    warnings = cli.good("config", "check", "--json").json()["warnings"]
    told = "\n".join(warnings)
    assert "unknown placeholder `{promt}` in `command` of [engines.a]" in told
    assert "session_id_regex of [engines.b] is not a regular expression" in told
    assert "[engines.c] sets none of `command`, `acp`, `interactive` and `like`" in told
    assert "[agents.x] names the engine `cluade`, which is not an engine; did you mean `claude`?" in told
    assert "agents `x` and `y` both take `docs`: until one does it better, the first gets it" in told
    assert "[review] reviewers names `rita`, which is not an agent" in told
    assert len(warnings) == 6


def test_a_key_or_flag_that_does_not_exist_is_told_with_the_nearest_by_every_command(cli: Cli) -> None:
    cli.good("init", "--yes")
    for words in (("config", "show", "limits.max_agent"), ("--set", "limits.max_agent=3", "status")):
        said = cli(*words)
        assert (said.code, "did you mean `limits.max_agents`?" in said.err) == (2, True)
    assert cli.good("config", "show", "agents").out.split() == ["agents.may_add", "false", "default"]


def test_an_unknown_kind_of_event_is_told_with_the_nearest(cli: Cli) -> None:
    cli.good("init", "--yes")
    said = cli("log", "--kind", "task.aded")
    assert (said.code, "did you mean `task.added`?" in said.err) == (2, True)
    for kind in ("task.*", "task.added", "*"):
        cli.good("log", "--kind", kind)


def test_an_engine_that_cannot_be_loaded_hides_no_other_and_no_log_is_needed(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "acme-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[paddock.engines]\nacme = no_such_module:make\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    rows = {row["name"]: row for row in cli.good("engines", "--json").json()["engines"]}
    assert "cannot be loaded from `no_such_module:make`" in rows["acme"]["hints"][0]
    assert rows["scripted"]["installed"]
