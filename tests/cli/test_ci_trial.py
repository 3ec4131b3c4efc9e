"""`paddock init` and `paddock doctor --ci` run CI once and say honestly what came of it."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import SOURCE, Cli, git

PATIENCE_SECONDS = 120.0


@pytest.fixture
def project(fresh: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Before `paddock init`, with a Makefile that is committed, and make itself."""
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/usr/bin:/bin")
    write_makefile(fresh, "@echo fine")
    return fresh


def write_makefile(cli: Cli, recipe: str) -> None:
    (cli.top / "Makefile").write_text(f"test:\n\t{recipe}\n")
    git(cli.top, "add", "Makefile")
    git(cli.top, "commit", "--quiet", "-m", "Tests")


def assert_nothing_is_left(cli: Cli) -> None:
    assert not list((cli.top / ".git" / "paddock" / "runs").glob("*/*"))
    assert not list((cli.top.parent / f"{cli.top.name}.paddock" / ".ci").iterdir())


def test_init_tries_what_it_guessed(project: Cli) -> None:
    said = project.good("init")
    assert "wrote paddock.toml (main: main, CI: make test; up to $20 per attempt)" in said.out
    assert re.search(r"^CI on [0-9a-f]{10} passes, in \d+\.\d s$", said.out, re.MULTILINE)
    assert said.err == "trying `make test` in a sandbox, for at most 60 s; Ctrl-C stops it\n"
    assert_nothing_is_left(project)


@pytest.mark.parametrize("words", [("--yes",), ("--no-try",), ("--json",)])
def test_init_can_be_told_not_to_try(project: Cli, words: tuple[str, ...]) -> None:
    write_makefile(project, "touch ../../../it-ran")
    said = project.good("init", *words)
    assert "trying" not in said.err
    assert not (project.top.parent / f"{project.top.name}.paddock").exists()


def test_a_command_that_cannot_run_is_told_from_one_that_fails(project: Cli) -> None:
    write_makefile(project, "no-such-tool --quiet")
    said = project.good("init")
    assert "`ci` failed with exit 2: `no-such-tool` was not found" in said.out
    assert "CI cannot run on" in said.out
    assert "make: *** [Makefile:2: test] Error 127" in said.out
    assert "edit `[land]` in paddock.toml" in said.out

    write_makefile(project, "@echo out; echo err >&2; exit 3")
    told = project("doctor", "--ci", "--json")
    assert told.code == 1
    finding = told.json()["findings"][-1]
    assert (finding["what"], finding["verdict"]) == ("ci", "problem")
    assert finding["output"] == ["out", "err", "make: *** [Makefile:2: test] Error 3"]
    assert "does not pass: `ci` failed with exit 2" in finding["detail"]

    write_makefile(project, "@echo fine")
    assert "ok       ci" in project.good("doctor", "--ci").out
    assert_nothing_is_left(project)


def test_a_command_that_does_not_end_is_ended(project: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    write_makefile(project, "@echo begun; sleep 600")
    project.good("init", "--yes")
    monkeypatch.setenv("PADDOCK_LAND_TIMEOUT", "5s")  # on a busy machine make needs a while to print its first word
    said = project("doctor", "--ci")
    assert said.code == 1
    assert "starts, but had not finished after" in said.out
    assert "begun" in said.out
    assert_nothing_is_left(project)


def test_without_a_command_or_a_log_nothing_is_tried(project: Cli) -> None:
    assert "it was not tried: there is no log" in project("doctor", "--ci").out
    (project.top / "paddock.toml").write_text('main = "main"\n')
    project.good("init")
    assert "no CI command is configured" in project("doctor", "--ci").out


def test_what_a_killed_trial_left_is_removed_by_the_next(project: Cli, tmp_path: Path) -> None:
    began = tmp_path / "began"
    write_makefile(project, f"@touch {began}; sleep 600")
    project.good("init", "--yes")
    program = "from paddock.cli.main import main; main()"
    env = {**os.environ, "PYTHONPATH": str(SOURCE), "PADDOCK_FENCE_WRITE": str(tmp_path)}
    quiet = subprocess.DEVNULL
    argv = (sys.executable, "-c", program, "doctor", "--ci")
    with subprocess.Popen(argv, cwd=project.top, env=env, stdout=quiet, stderr=quiet) as doctor:
        give_up_at = time.monotonic() + PATIENCE_SECONDS
        while not began.exists():
            assert doctor.poll() is None
            assert time.monotonic() < give_up_at, "the trial never began"
            time.sleep(0.05)
        doctor.send_signal(signal.SIGKILL)
    write_makefile(project, "@echo fine")
    assert "ok       ci" in project.good("doctor", "--ci").out
    assert_nothing_is_left(project)
