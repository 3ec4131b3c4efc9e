"""A decision may name the version it is about: nobody approves or rejects what they have not seen."""

import os
import signal
import subprocess
import sys

import pytest

from paddock.core import events as ev
from paddock.core.ids import AttemptId, TaskId
from paddock.core.tasks.vocabulary import Outcome, Step
from tests.cli.conftest import Cli, git
from tests.cli.test_land import CONFIGURATION
from tests.cli.test_overview import record


def deliver(cli: Cli, task: str, attempt: int, text: str) -> str:
    """An attempt whose one commit waits for approval; its head."""
    branch = f"paddock/{task}"
    base = git(cli.top, "rev-parse", "main")
    git(cli.top, "checkout", "-q", "-B", branch, "main")
    (cli.top / f"{task}.txt").write_text(text)
    git(cli.top, "add", f"{task}.txt")
    git(cli.top, "commit", "-qm", f"Add {task}")
    head = git(cli.top, "rev-parse", "HEAD")
    git(cli.top, "checkout", "-q", "main")
    started = ev.AttemptStarted(engine="claude", base=base, branch=branch, host="h", worktree="/w")
    ended = ev.AttemptEnded(Outcome.DELIVERED, Step.APPROVAL, True, head=head, base=base, commits=1, reason="1 commit")
    for event in (started, ended):
        record(cli, ev.Draft(event, task=TaskId(task), attempt=AttemptId(f"{task}.{attempt}")))
    return head


@pytest.fixture
def cli(fresh: Cli) -> Cli:
    (fresh.top / "paddock.toml").write_text(CONFIGURATION)
    fresh.good("init", "--yes")
    fresh.good("add", "--file", "-", stdin=b"- one\n- two\n")
    return fresh


@pytest.mark.parametrize("command", ["approve", "land", "reject"])
def test_what_was_seen_is_decided_and_another_version_is_refused(cli: Cli, command: str) -> None:
    old = deliver(cli, "t1", 1, "old")
    cli.good("reject", "t1", "-m", "not so")
    new = deliver(cli, "t1", 2, "new")
    before = cli.log.read_bytes()
    said = cli(command, "t1", "--head", old[:12])
    assert (said.code, said.out) == (1, "")
    assert said.err == (
        f"error: task `t1` is at `{new[:10]}` now; you decided about `{old[:10]}`\n\n"
        f"hint: `paddock diff t1` shows what would land; then decide again, with `--head {new[:10]}`\n"
    )
    assert cli.log.read_bytes() == before
    cli.good(command, "t1", "--head", new[:10].upper())


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("approve", "t1", "t2", "--head", "1234abcd"), "--head needs exactly one task"),
        (("approve", "--all", "--yes", "--head", "1234abcd"), "--head needs exactly one task"),
        (("land", "t1", "--branch", "main", "--head", "1234abcd"), "--head needs exactly one task"),
        (("approve", "t1", "--head", "HEAD~1"), "`HEAD~1` is no commit id"),
        (("reject", "t1", "--head", "abc"), "`abc` is no commit id"),
    ],
)
def test_a_head_is_the_commit_id_of_one_task(cli: Cli, words: tuple[str, ...], error: str) -> None:
    deliver(cli, "t1", 1, "a")
    deliver(cli, "t2", 1, "b")
    said = cli(*words)
    assert said.code == 2
    assert f"error: {error}" in said.err


def start_stopped(cli: Cli, *words: str) -> subprocess.Popen[str]:
    """A command that has looked at its change and not yet recorded anything."""
    env = {**os.environ, "PADDOCK_TEST_STOP_AT": "hold.held", "USER": "bob"}
    argv = [sys.executable, "-m", "paddock", *words]
    slow = subprocess.Popen(argv, cwd=cli.top, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    _, status = os.waitpid(slow.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    return slow


def test_of_two_who_approve_at_once_the_second_is_told_who_was_first(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    deliver(cli, "t1", 1, "a")
    slow = start_stopped(cli, "approve", "t1")
    monkeypatch.setenv("USER", "ana")
    cli.good("approve", "t1")
    os.kill(slow.pid, signal.SIGCONT)
    out, err = slow.communicate(timeout=120)
    assert (slow.returncode, out) == (1, "")
    assert err.startswith("error: task `t1` is already in the merge queue, approved by ana@")
    assert "hint: see `paddock queue`" in err


def test_of_many_only_those_are_refused_that_others_decided_meanwhile(cli: Cli) -> None:
    deliver(cli, "t1", 1, "a")
    deliver(cli, "t2", 1, "b")
    slow = start_stopped(cli, "approve", "t1", "t2")
    cli.good("reject", "t1", "-m", "not so")
    os.kill(slow.pid, signal.SIGCONT)
    out, err = slow.communicate(timeout=120)
    assert slow.returncode == 1
    assert out.startswith("queued t2 at ")
    assert err.startswith("error: task `t1` is ready: there is nothing to land\n")
