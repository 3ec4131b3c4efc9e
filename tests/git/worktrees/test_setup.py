import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

import paddock.git.worktrees.setup
from paddock.core.upkeep.survey import SlotState
from paddock.git.worktrees.pool import count_idle, fill
from paddock.git.worktrees.prepare import WorktreeOrder, find, prepare, release
from paddock.git.worktrees.setup import SetupCommand, needs_setup_again, run_setup, shell_setup, stop_leftover
from paddock.git.worktrees.slots import WorktreeRoot, list_slots, read_record
from tests.git.conftest import commit

ORDER = ("t1.1", "paddock/t1")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def plain(argv: tuple[str, ...]) -> SetupCommand:
    return SetupCommand(argv, {"PATH": os.environ["PATH"]})


def is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


class TestRun:
    def test_output_is_kept_and_only_the_environment_given(
        self, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SECRET_OF_THE_DAEMON", "canary")
        command = SetupCommand(shell_setup("echo $PADDOCK_PORT; pwd; env; exit 3"), {"PADDOCK_PORT": "7"})
        result = run_setup(command, tmp_path, home, 10)
        assert (result.ok, result.code, result.stopped) == (False, 3, "")
        told = result.output.read_text()
        assert told.startswith(f"7\n{tmp_path}\n")
        assert "canary" not in told

    def test_a_command_that_hangs_is_ended_with_its_children(
        self, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(paddock.git.worktrees.setup, "_GRACE_SECONDS", 1.0)
        child = tmp_path / "child"
        command = f"trap '' TERM; sleep 600 & echo $! > {child}; wait"
        for seconds in (0.5, 10, 60):  # a busy machine has not come to the hanging within the first
            result = run_setup(plain(shell_setup(command)), tmp_path, home, seconds)
            assert result.code is None
            assert f"longer than {seconds} s" in result.stopped
            if child.exists() and child.read_text():
                break
        assert not is_running(int(child.read_text()))

    def test_a_flood_of_output_is_ended(self, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(paddock.git.worktrees.setup, "MOST_OUTPUT_BYTES", 1000)
        result = run_setup(plain(shell_setup("yes | head -c 100000; exec sleep 600")), tmp_path, home, 60)
        assert "more than 1000 bytes" in result.stopped

    def test_a_missing_command_is_a_failure_with_an_explanation(self, tmp_path: Path, home: Path) -> None:
        result = run_setup(plain(("no-such-program",)), tmp_path, home, 10)
        assert not result.ok
        assert "no-such-program" in result.output.read_text()

    def test_a_run_that_outlived_its_starter_is_ended(self, tmp_path: Path, home: Path) -> None:
        code = (
            "import os, sys; from pathlib import Path; from paddock.git.worktrees import setup\n"
            "setup._wait = lambda *a: os.kill(os.getpid(), 9)\n"
            "command = setup.SetupCommand(('sleep', '600'), {'PATH': os.environ['PATH']})\n"
            f"setup.run_setup(command, Path({str(tmp_path)!r}), Path({str(home)!r}), 60)"
        )
        subprocess.run((sys.executable, "-c", code), check=False)
        pid_file = home / "setup.pid"
        deadline = time.monotonic() + 10
        while not (pid_file.exists() and pid_file.read_text().strip()):
            assert time.monotonic() < deadline
        pid = int(pid_file.read_text())
        assert is_running(pid)
        stop_leftover(home)
        assert not is_running(pid)
        assert not pid_file.exists()

    def test_a_reused_process_number_is_left_alone(self, home: Path) -> None:
        with subprocess.Popen(("sleep", "600"), start_new_session=True) as stranger:
            (home / "setup.pid").write_text(f"{stranger.pid}\n")
            os.utime(home / "setup.pid", (1000, 1000))
            stop_leftover(home)
            assert stranger.poll() is None
            stranger.kill()


class TestInWorktrees:
    def test_a_failing_setup_is_told_and_can_be_tried_again(self, root: WorktreeRoot, tip: str, tmp_path: Path) -> None:
        picky = replace(root, setup=shell_setup(f"echo trying; test -e {tmp_path}/fixed"))
        first = prepare(picky, WorktreeOrder(*ORDER, tip))
        assert not first.ready
        assert first.setup is not None
        assert first.setup.output.read_text() == "trying\n"
        assert find(picky, "t1.1") is None
        (tmp_path / "fixed").touch()
        again = prepare(picky, WorktreeOrder(*ORDER, tip))
        assert again.ready
        assert again.worktree.path == first.worktree.path

    def test_the_pool_runs_it_ahead_and_the_claim_does_not_repeat_it(
        self, root: WorktreeRoot, tip: str, tmp_path: Path
    ) -> None:
        counting = replace(root, setup=shell_setup(f"echo x >> {tmp_path}/runs"))
        fill(counting, tip, 1)
        prepared = prepare(counting, WorktreeOrder(*ORDER, tip))
        assert prepared.warm
        assert prepared.setup is None
        assert (tmp_path / "runs").read_text() == "x\n"

    def test_it_runs_again_when_a_lock_file_changed_but_not_for_other_files(
        self, root: WorktreeRoot, top: Path, tip: str, tmp_path: Path
    ) -> None:
        counting = replace(root, setup=shell_setup(f"echo x >> {tmp_path}/runs"))
        fill(counting, tip, 1)
        fill(counting, commit(top, {"src/app.py": "2"}), 1)
        assert (tmp_path / "runs").read_text() == "x\n"
        fill(counting, commit(top, {"web/package-lock.json": "{}"}), 1)
        assert (tmp_path / "runs").read_text() == "x\nx\n"
        changed = replace(root, setup=shell_setup(f"echo y >> {tmp_path}/runs"))
        assert prepare(changed, WorktreeOrder(*ORDER, root.repo.resolve("main") or "")).setup is not None

    def test_a_returned_worktree_is_set_up_again_in_the_background(
        self, root: WorktreeRoot, tip: str, tmp_path: Path
    ) -> None:
        counting = replace(root, setup=shell_setup(f"echo x >> {tmp_path}/runs"))
        prepare(counting, WorktreeOrder(*ORDER, tip))
        release(counting, "t1.1", "test")
        fill(counting, tip, 1)
        assert (tmp_path / "runs").read_text() == "x\nx\n"

    def test_a_failure_in_the_pool_is_reported_and_left_to_the_claim(self, root: WorktreeRoot, tip: str) -> None:
        failing = replace(root, setup=shell_setup("exit 1"))
        report = fill(failing, tip, 3)
        assert count_idle(failing) == 1
        assert "setup command failed" in report.problems[0]
        assert not prepare(failing, WorktreeOrder(*ORDER, tip)).ready

    def test_files_made_by_a_failed_setup_are_nobodys_work(self, root: WorktreeRoot, tip: str) -> None:
        messy = replace(root, setup=shell_setup("echo x > mess; echo y > README.md; exit 1"))
        prepare(messy, WorktreeOrder(*ORDER, tip))
        released = release(messy, "t1.1", "test")
        assert released.saved is None
        slot = list_slots(root)[0]
        record = read_record(slot)
        assert record is not None
        assert record.state is SlotState.IDLE
        assert not (slot.path / "mess").exists()


def test_lock_files_and_manifests_call_for_a_new_setup() -> None:
    assert needs_setup_again(("docs/a.md", "web/yarn.lock"))
    assert needs_setup_again(("requirements-dev.txt",))
    assert not needs_setup_again(("docs/a.md", "src/locker.py"))
