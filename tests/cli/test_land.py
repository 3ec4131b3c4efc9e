"""`paddock land`, `approve`, `reject` and `resolve`: what they refuse, and what they tell instead."""

import pytest

from tests.cli.conftest import Cli, git

CONFIGURATION = """\
engine = "scripted"
[worktrees]
pool = 0
[land]
ci = "true"
"""


@pytest.fixture
def cli(fresh: Cli) -> Cli:
    (fresh.top / "paddock.toml").write_text(CONFIGURATION)
    fresh.good("init", "--yes")
    fresh.good("add", "Mend the gate")
    return fresh


@pytest.mark.parametrize(
    ("words", "error", "hint"),
    [
        (("land", "t1"), "task `t1` is ready: there is nothing to land", "see `paddock show t1`"),
        (("approve", "t1"), "task `t1` is ready: there is nothing to land", "see `paddock show t1`"),
        (("reject", "t1"), "task `t1` is ready: there is nothing to reject", "see `paddock show t1`"),
        (("resolve", "t1"), "task `t1` is ready: there is no conflict to resolve", ""),
        (("land", "--branch", "nowhere"), "there is no branch `nowhere`", "`git branch` lists them"),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_next_step(
    cli: Cli, words: tuple[str, ...], error: str, hint: str
) -> None:
    said = cli(*words)
    assert (said.code, said.out) == (1, "")
    assert f"error: {error}" in said.err
    assert hint in said.err


@pytest.mark.parametrize("words", [("land",), ("approve",), ("land", "banana"), ("land", "t7"), ("resolve", "t7")])
def test_misuse_is_told_apart_and_changes_nothing(cli: Cli, words: tuple[str, ...]) -> None:
    before = cli.log.read_bytes()
    said = cli(*words)
    assert said.code in (1, 2)
    assert said.err
    assert cli.log.read_bytes() == before


def test_a_branch_is_queued_once_for_each_version(cli: Cli) -> None:
    git(cli.top, "branch", "fix", "main")
    versions = [cli.good("land", "--branch", "fix", "--json").json()["queued"][0]["version"] for _ in range(2)]
    assert versions == [1, 2]
    states = [old["outcome"] for old in cli.good("queue", "--json").json()["decided"]]
    assert states == ["superseded"]


def test_all_or_none_of_several_are_queued(cli: Cli) -> None:
    git(cli.top, "branch", "fix", "main")
    said = cli("land", "--branch", "fix", "--branch", "nowhere")
    assert said.code == 1
    assert not cli.good("queue", "--json").json()["next"]


def test_without_a_ci_command_a_branch_is_refused(cli: Cli) -> None:
    (cli.top / "paddock.toml").write_text('engine = "scripted"\n')
    git(cli.top, "branch", "fix", "main")
    said = cli("land", "--branch", "fix")
    assert said.code == 1
    assert "no CI command is configured" in said.err
    assert "[land] ci" in said.err
