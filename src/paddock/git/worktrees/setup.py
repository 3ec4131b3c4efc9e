"""The setup command: the user's own (npm ci, uv sync), run once in every worktree, with an end to its patience."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from paddock.git.worktrees.furnish import Worktree

MOST_OUTPUT_BYTES = 64 * 1024 * 1024
_TICK_SECONDS = 0.5
_GRACE_SECONDS = 5.0

# When one of these changes between two commits, what the setup command installed may be out of date.
SETUP_INPUTS = (
    ".nvmrc",
    ".python-version",
    ".tool-versions",
    "*.lock",
    "*.lockb",
    "*requirements*.txt",
    "Cargo.toml",
    "Gemfile",
    "build.gradle*",
    "composer.json",
    "go.mod",
    "go.sum",
    "package.json",
    "package-lock.json",
    "pnpm-lock.yaml",
    "pom.xml",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
)


@dataclass(frozen=True, slots=True)
class SetupResult:
    """`code` is the exit status (negative: a signal), None when we stopped it; then `stopped` says why."""

    code: int | None
    output: Path
    stopped: str = ""

    @property
    def ok(self) -> bool:
        return self.code == 0


def shell_setup(command: str) -> tuple[str, ...]:
    """The argv for a shell command out of the user's own paddock.toml; never for text of an agent's."""
    return ("/bin/sh", "-c", command)


def needs_setup_again(changed_paths: tuple[str, ...]) -> bool:
    names = {path.rsplit("/", 1)[-1] for path in changed_paths}
    return any(fnmatchcase(name, pattern) for name in names for pattern in SETUP_INPUTS)


@dataclass(frozen=True, slots=True)
class SetupCommand:
    """A process to start: its environment is complete, nothing is inherited."""

    argv: tuple[str, ...]
    env: Mapping[str, str]


def plain_setup(argv: tuple[str, ...], worktree: "Worktree") -> SetupCommand:
    """As it is, with nothing of the environment but where programs and the user's files are."""
    own = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return SetupCommand(argv, {**own, **worktree.environment()})


def run_setup(command: SetupCommand, directory: Path, home: Path, timeout_seconds: float) -> SetupResult:
    """Run the setup command in `directory`; output goes to `home`/setup.log.

    Its whole process group is ended when it takes longer than `timeout_seconds` or floods its log. A run left
    over from a process that was killed is ended first.
    """
    stop_leftover(home)
    output, pid_file = home / "setup.log", home / "setup.pid"
    # The shim records its own pid before it becomes the command, so there is no moment without a record.
    shim = ("/bin/sh", "-c", 'echo $$ > "$0" && exec "$@"', str(pid_file), *command.argv)
    with open(output, "wb") as log:
        process = subprocess.Popen(
            shim,
            cwd=directory,
            env={"GIT_TERMINAL_PROMPT": "0", **command.env},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        stopped = _wait(process, output, timeout_seconds)
    except BaseException:
        end_group(process.pid)
        process.wait()
        raise
    pid_file.unlink(missing_ok=True)
    return SetupResult(None if stopped else process.returncode, output, stopped)


def stop_leftover(home: Path) -> None:
    """End a setup command that outlived the process which started it."""
    pid_file = home / "setup.pid"
    try:
        pid, written = int(pid_file.read_text()), pid_file.stat().st_mtime
    except (FileNotFoundError, ValueError):
        return
    with contextlib.suppress(psutil.NoSuchProcess, ProcessLookupError):
        # A process that began after the record was written only inherited the number.
        began_before = psutil.Process(pid).create_time() < written + 1.0
        if began_before and os.getpgid(pid) == pid:
            end_group(pid)
    pid_file.unlink(missing_ok=True)


def end_group(group: int) -> None:
    """TERM, a grace period, KILL; returns when no process of the group runs any more.

    The leader may be a zombie of ours: that does not count.
    """
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
        deadline = time.monotonic() + _GRACE_SECONDS
        while _is_alive(group) and time.monotonic() < deadline:
            time.sleep(0.02)


def _is_alive(group: int) -> bool:
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, ProcessLookupError):
            if os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE:
                return True
    return False


def _wait(process: "subprocess.Popen[bytes]", output: Path, timeout_seconds: float) -> str:
    """Wait for the command; the reason when we had to stop it, "" when it ended by itself."""
    deadline = time.monotonic() + timeout_seconds
    while True:
        left = deadline - time.monotonic()
        try:
            process.wait(timeout=max(0.0, min(_TICK_SECONDS, left)))
            return ""
        except subprocess.TimeoutExpired:
            stopped = ""
            if left <= 0:
                stopped = f"took longer than {timeout_seconds:g} s"
            elif output.stat().st_size > MOST_OUTPUT_BYTES:
                stopped = f"wrote more than {MOST_OUTPUT_BYTES} bytes of output"
            if stopped:
                end_group(process.pid)
                process.wait()
                return stopped
