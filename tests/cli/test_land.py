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
    fresh.good("add", "Fix the gate")
    return fresh


@pytest.mark.parametrize(
    ("words", "error", "hint"),
    [
        (("land", "t1"), "task `t1` is ready: there is nothing to land", "see `paddock show t1`"),
        (("approve", "t1"), "task `t1` is ready: there is nothing to land", "see `paddock show t1`"),
        (("reject", "t1"), "task `t1` is ready: there is nothing to reject", "see `paddock show t1`"),
        (("resolve", "t1"), "task `t1` is ready: there is no conflict to resolve", ""),
        (("land", "--branch", "nowhere"), "there is no branch `nowhere`", "`git branch` lists them"),
        (("land", "--branch", "main"), "`main` is the branch that changes land on", "git branch NAME main"),
        (("land", "--branch", "main", "--after", "t1"), "`t1` is not in the merge queue", "`paddock land t1`"),
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


def test_a_branch_named_like_a_task_id_would_be_hints_at_the_option(cli: Cli) -> None:
    git(cli.top, "branch", "feature/x", "main")
    said = cli("land", "feature/x")
    assert said.code == 2
    assert "`feature/x` is a branch, not a task id" in said.err
    assert "hint: run `paddock land --branch feature/x`" in said.err


def test_retry_takes_branches(cli: Cli) -> None:
    git(cli.top, "branch", "feature/x", "main")
    cli.good("land", "--branch", "feature/x")
    assert cli.good("retry", "feature/x").out == "will test feature/x again\n"
    cli.good("queue", "cancel", "feature/x")
    assert cli.good("retry", "feature/x", "--json").json()["queued"][0]["version"] == 2
    assert [entry["id"] for entry in cli.good("queue", "--json").json()["next"]] == ["feature/x"]
    said = cli("retry", "feature/x", "t1")
    assert said.code == 2
    assert "tasks and branches cannot be retried together" in said.err
    assert cli("retry", "feature/y").code == 2


def test_a_branch_without_a_conflict_has_nothing_to_resolve(cli: Cli) -> None:
    git(cli.top, "branch", "feature/x", "main")
    cli.good("land", "--branch", "feature/x")
    cli.good("queue", "cancel", "feature/x")
    said = cli("resolve", "feature/x")
    assert said.code == 1
    assert "branch `feature/x` has left the queue (cancelled): there is no conflict to resolve" in said.err
    assert cli("resolve", "feature/y").code == 2


def test_a_dry_run_looks_at_branches_and_queues_none(cli: Cli) -> None:
    git(cli.top, "branch", "fix", "main")
    before = cli.log.read_bytes()
    assert cli.shown("land", "--branch", "fix", "--dry-run") == "would land branch fix\n"
    assert cli.shown("land", "t1", "--branch", "fix", "--dry-run") == (
        "would land 1 task:\n  t1    ready     Fix the gate\nwould land branch fix\n"
    )
    assert cli.good("land", "--branch", "fix", "--dry-run", "--json").json() == {
        "schema": 1, "ids": [], "branches": ["fix"], "refused": [], "dry_run": True,
    }  # fmt: skip
    for name in ("nowhere", "main"):
        said = cli("land", "--branch", name, "--dry-run")
        assert (said.code, said.out) == (1, "")
        assert f"`{name}`" in said.err
    assert cli.log.read_bytes() == before
    assert not git(cli.top, "for-each-ref", "refs/paddock/changes")


def test_a_dry_run_of_retry_leaves_a_branch_as_it_is(cli: Cli) -> None:
    git(cli.top, "branch", "fix", "main")
    cli.good("land", "--branch", "fix")
    before = cli.log.read_bytes()
    assert cli.shown("retry", "fix", "--dry-run") == "would retry branch fix\n"
    said = cli("retry", "fix", "--all")
    assert (said.code, said.out) == (2, "")
    assert "cannot be combined with --all, --convoy or --where" in said.err
    assert cli.log.read_bytes() == before
