"""What `paddock diff` shows, on a terminal and elsewhere."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from paddock.core import events as ev
from paddock.core.ids import TaskId
from paddock.core.tasks.vocabulary import Outcome, Step
from tests.cli.conftest import Cli, git
from tests.cli.test_overview import record


@pytest.fixture
def changed(cli: Cli) -> Cli:
    """t1 adds a file, t2 changes nothing, t3 has had no agent."""
    cli.good("add", "--file", "-", stdin=b"- one\n- two\n- three\n")
    base = git(cli.top, "rev-parse", "HEAD")
    git(cli.top, "checkout", "-q", "-b", "work")
    (cli.top / "new.txt").write_text("a line \x1b[2Jhidden\n")
    git(cli.top, "add", "new.txt")
    git(cli.top, "commit", "-qm", "Add a file")
    head = git(cli.top, "rev-parse", "HEAD")
    git(cli.top, "checkout", "-q", "-")
    for task, tip in (("t1", head), ("t2", base)):
        started = ev.AttemptStarted(engine="claude", base=base, branch="work", host="h", worktree="/w")
        ended = ev.AttemptEnded(
            Outcome.DELIVERED, Step.APPROVAL, True, head=tip, base=base, commits=1, reason="1 commit"
        )
        for event in (started, ended):
            record(cli, ev.Draft(event, task=TaskId(task), attempt=f"{task}.1"))  # type: ignore[arg-type]
    return cli


def on_terminal(cli: Cli, *words: str, **variables: str) -> str:
    program = "import sys; from paddock.cli.main import main; main()"
    keep = {
        "PATH": f"{os.environ['PATH']}:/usr/bin:/bin",
        "HOME": str(cli.top),
        "TERM": "xterm",
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    ours, theirs = pty.openpty()
    argv = (sys.executable, "-c", program, *words)
    process = subprocess.Popen(argv, cwd=cli.top, env={**keep, **variables}, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    said = b""
    try:
        while part := os.read(ours, 4096):
            said += part
    except OSError:
        pass  # how Linux says that nobody holds the other end any more
    os.close(ours)
    assert process.wait(60) == 0, said
    return said.decode().replace("\r\n", "\n")


def test_elsewhere_than_on_a_terminal_a_patch_is_a_patch(changed: Cli, tmp_path: Path) -> None:
    patch = changed.good("diff", "t1", "--unsafe").out
    assert "a line \x1b[2Jhidden" in patch
    (tmp_path / "patch").write_text(patch)
    git(changed.top, "apply", "--check", str(tmp_path / "patch"))


def test_elsewhere_too_nothing_is_printed_that_a_terminal_would_obey(changed: Cli, tmp_path: Path) -> None:
    said = changed.good("diff", "t1")
    assert "\x1b" not in said.out
    assert "a line \ufffd[2Jhidden" in said.out
    assert said.err == (
        "warning: t1 contains control characters, which are shown as `\ufffd`: use --unsafe for an exact patch\n"
    )
    (tmp_path / "patch").write_text(said.out)
    git(changed.top, "apply", "--check", str(tmp_path / "patch"))
    assert changed.good("diff", "t1", "--stat").err == ""


def test_a_diff_of_nothing_says_so(changed: Cli) -> None:
    assert changed.shown("diff", "t2") == "--- stderr\nt2 changes nothing\n"
    assert changed.shown("diff", "t3").startswith("--- stderr\nerror: task `t3` has had no agent yet\n")


def test_several_tasks_are_shown_each_under_its_name(changed: Cli) -> None:
    said = changed.good("diff", "t1-t2", "--stat")
    assert said.out.startswith("t1  one\n new.txt | 1 +\n")
    assert said.err == "t2 changes nothing\n"


def test_a_terminal_gets_git_s_colours_and_no_control_characters_of_the_change(changed: Cli) -> None:
    git(changed.top, "config", "color.diff.new", "yellow")
    said = on_terminal(changed, "diff", "t1", PAGER="cat")
    assert "\x1b[33m+a line �[2Jhidden\x1b[m\n" in said
    assert "\x1b[36m@@ -0,0 +1 @@\x1b[m\n" in said


@pytest.mark.parametrize(("key", "variables"), [("true", {"NO_COLOR": "1"}), ("false", {})])
def test_colours_can_be_off(changed: Cli, key: str, variables: dict[str, str]) -> None:
    git(changed.top, "config", "color.diff", key)
    assert "\x1b" not in on_terminal(changed, "diff", "t1", PAGER="cat", **variables)


def test_the_pager_is_git_s_but_never_one_that_the_repository_names(changed: Cli) -> None:
    git(changed.top, "config", "core.pager", "touch stolen; cat")
    assert on_terminal(changed, "diff", "t1", "--name-only", PAGER="sed s/^/P:/") == "P:new.txt\n"
    (changed.top / ".gitconfig").write_text("[core]\n\tpager = sed s/^/C:/\n")
    assert on_terminal(changed, "diff", "t1", "--name-only", PAGER="sed s/^/P:/") == "C:new.txt\n"
    assert on_terminal(changed, "diff", "t1", "--name-only", GIT_PAGER="sed s/^/G:/") == "G:new.txt\n"
    (changed.top / ".gitconfig").write_text("[pager]\n\tdiff = false\n")
    assert on_terminal(changed, "diff", "t1", "--name-only", GIT_PAGER="sed s/^/G:/") == "new.txt\n"
    assert on_terminal(changed, "diff", "t2") == "t2 changes nothing\n"
    assert not (changed.top / "stolen").exists()


def test_a_pager_that_is_not_there_loses_nothing(changed: Cli) -> None:
    assert on_terminal(changed, "diff", "t1", "--name-only", PAGER="no-such-pager 2>/dev/null").endswith("new.txt\n")


def test_what_is_shown_is_what_would_land_on_main_as_it_is(changed: Cli) -> None:
    """Main went on, and the branch took its own side when it merged: that it takes main's file back is seen."""
    (changed.top / "landed.txt").write_text("landed\n")
    git(changed.top, "add", "landed.txt")
    git(changed.top, "commit", "-qm", "Landed meanwhile")
    assert changed.good("diff", "t1", "--name-only").out == "new.txt\n"
    git(changed.top, "checkout", "-q", "work")
    git(changed.top, "merge", "-q", "--no-edit", "-s", "ours", "main")
    head = git(changed.top, "rev-parse", "HEAD")
    git(changed.top, "checkout", "-q", "main")
    record(changed, ev.Draft(ev.ChangeRevised(head, head), task=TaskId("t1")))
    assert changed.good("diff", "t1", "--name-only").out == "landed.txt\nnew.txt\n"
    assert changed.good("diff", "t1", "--name-only", "--own").out == "new.txt\n"


def test_a_change_that_does_not_merge_is_shown_as_it_was_made(changed: Cli) -> None:
    (changed.top / "new.txt").write_text("another\n")
    git(changed.top, "add", "new.txt")
    git(changed.top, "commit", "-qm", "The same file")
    said = changed.good("diff", "t1", "--name-only")
    assert said.out == "new.txt\n"
    assert said.err == "it conflicts with main in new.txt; this is what it changed since it started\n"
