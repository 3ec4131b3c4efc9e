"""Running the git CLI on the orchestrator's behalf: explicit directory, fixed configuration, no prompts, bounded.

What of a person's configuration and environment a call may use follows from its command (`git/purposes.py`). A git that
a signal ends is the machine's trouble: what can be asked again is asked again, and the rest is a GitKilled.
"""

import os
import re
import signal
import time
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import msgspec

from paddock.core.errors import PaddockError
from paddock.git.purposes import (
    GitPurpose,
    git_environment,
    git_options,
    is_repeatable,
    purpose_of,
    without_programs,
)

if TYPE_CHECKING:
    from subprocess import Popen

OLDEST_GIT = (2, 38)  # the first with `merge-tree --write-tree`
DEFAULT_TIMEOUT_SECONDS = 120.0
_STDERR_SHOWN_BYTES = 4000
_PAUSES_SECONDS = (0.05, 0.25, 1.0)
"""Before what was killed is asked again. Memory that was short for a moment is back by then."""
_CRASHES = frozenset({signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGFPE, signal.SIGILL})
_CHILD_KILLED = re.compile(r"^error: .* died of signal (\d+)$", re.MULTILINE)


class GitResult(msgspec.Struct, frozen=True):
    """What one git process said. `code` is negative when a signal ended it; `argv` is without what is always passed."""

    argv: tuple[str, ...]
    code: int
    stdout: bytes
    stderr: str
    timed_out: bool = False

    @property
    def ok(self) -> bool:
        return self.code == 0

    @property
    def killed_by(self) -> int | None:
        """The signal that ended git or one of its children; None when it came to an end by itself."""
        if self.code < 0:
            return -self.code
        told = _CHILD_KILLED.search(self.stderr) if self.code else None
        return int(told[1]) if told else None

    @property
    def has_crashed(self) -> bool:
        """Whether it was killed by a signal that a program brings upon itself, by what it reads."""
        return self.killed_by in _CRASHES

    @property
    def is_yes(self) -> bool:
        """Of a command that answers no by ending with 1; GitFailed when it did not answer."""
        if self.code not in (0, 1):
            raise GitFailed(self)
        return self.ok

    @property
    def text(self) -> str:
        """stdout without its last newline; bytes that are not UTF-8 survive as surrogates."""
        return os.fsdecode(self.stdout).removesuffix("\n")

    @property
    def lines(self) -> list[str]:
        return self.text.split("\n") if self.stdout else []

    @property
    def records(self) -> list[str]:
        """stdout of a `-z` command, split at its NUL bytes."""
        return os.fsdecode(self.stdout).removesuffix("\0").split("\0") if self.stdout else []


class GitOptions(TypedDict, total=False):
    """What `run_git` can be told besides its words."""

    input: bytes | str | None
    feed: int | None
    output: int | None
    check: bool
    timeout: float
    env: Mapping[str, str] | None
    inherit: tuple[int, ...]
    purpose: GitPurpose | None
    lazy: bool


class GitFailed(PaddockError):
    """A git command failed that had to succeed."""

    def __init__(self, result: GitResult, hint: str | None = None) -> None:
        said = result.stderr.strip() or "it printed nothing"
        super().__init__(f"`{' '.join(result.argv)}` ended with {result.code}: {said}", hint)
        self.result = result


class GitKilled(PaddockError):
    """A git command gave no answer: a signal ended it, or one of its children, or its time ran out.

    That is the trouble of the machine and says nothing about what git was asked, so it is no GitFailed: whoever reads
    a refusal out of one must not read it out of this. The same may work a moment later.
    """

    def __init__(self, result: GitResult) -> None:
        why = "ran out of time" if result.timed_out else f"was killed by {_signal_name(result.killed_by or 0)}"
        super().__init__(
            f"`{' '.join(result.argv)}` {why}",
            "try again; if it stays, look at what this machine is short of",
        )
        self.result = result


def run_git(
    directory: Path,
    *args: str,
    input: bytes | str | None = None,
    feed: int | None = None,
    output: int | None = None,
    check: bool = True,
    timeout: float = DEFAULT_TIMEOUT_SECONDS,
    env: Mapping[str, str] | None = None,
    inherit: tuple[int, ...] = (),
    purpose: GitPurpose | None = None,
    lazy: bool = False,
) -> GitResult:
    """Run `git -C directory args`.

    A non-zero exit raises GitFailed unless `check` is false. After `timeout` seconds the whole process group is
    killed. That, and a signal from elsewhere, is no answer and raises GitKilled, whatever `check` says; before that,
    a command that moves nothing is repeated a few times.
    `env` adds to the environment. `inherit` are descriptors git keeps open: a lock passed so outlives us until git
    has finished. `purpose` is that of the command unless it is given; `lazy` lets a call on objects fetch those that
    a partial clone lacks. `feed` and `output` are files it reads from and writes to, for what is too much to hold.
    """
    words = without_programs(args)
    purpose = purpose or purpose_of(args)
    program = git_program(os.environ.get("PATH", os.defpath))
    where = ("-C", os.path.abspath(directory))
    stdin = os.fsencode(input) if isinstance(input, str) else input
    environment = git_environment(GitPurpose.REMOTE if lazy else purpose, env)
    for pause in (*(_PAUSES_SECONDS if is_repeatable(args) else ()), None):
        ended = _run(
            (program, *where, *git_options(purpose), *words), stdin, timeout, environment, inherit, feed, output
        )
        result = msgspec.structs.replace(ended, argv=("git", *where, *args))
        if result.killed_by is None and not result.timed_out:
            break
        if pause is None or result.timed_out:
            raise GitKilled(result)
        time.sleep(pause)
    if check and not result.ok:
        raise GitFailed(result)
    return result


def _run(
    argv: tuple[str, ...],
    stdin: bytes | None,
    timeout: float,
    environment: dict[str, str],
    inherit: tuple[int, ...],
    feed: int | None = None,
    output: int | None = None,
) -> GitResult:
    import subprocess  # here because `paddock status` finds its repository without starting a process

    for descriptor in filter(None, (feed, output)):
        os.lseek(descriptor, 0, os.SEEK_SET)
    if output is not None:
        os.ftruncate(output, 0)
    # A session of its own: no controlling terminal to prompt on, and one group to kill.
    process = subprocess.Popen(
        argv,
        cwd="/",
        stdin=feed if feed is not None else subprocess.DEVNULL if stdin is None else subprocess.PIPE,
        stdout=subprocess.PIPE if output is None else output,
        stderr=subprocess.PIPE,
        env=environment,
        pass_fds=inherit,
        start_new_session=True,
    )
    timed_out = False
    try:
        stdout, stderr = process.communicate(stdin, timeout=timeout)
    except subprocess.TimeoutExpired:
        timed_out = True
        stdout, stderr = _kill_and_drain(process)
    except BaseException:
        _kill_and_drain(process)
        raise
    said = stderr[-_STDERR_SHOWN_BYTES:].decode("utf-8", "replace")
    return GitResult(argv, process.returncode, stdout or b"", said, timed_out)


@lru_cache(maxsize=8)
def git_program(search_path: str) -> str:
    """The absolute path of a git that is new enough; PaddockError when there is none."""
    program = find_git(search_path)
    for pause in (*_PAUSES_SECONDS, None):
        told = _run((program, "--version"), None, 30.0, git_environment(GitPurpose.OBJECTS), ())
        if told.killed_by is None and not told.timed_out:
            break
        if pause is None:
            raise GitKilled(told)
        time.sleep(pause)
    said = told.text
    version = re.search(r"(\d+)\.(\d+)", said)
    if version is None or tuple(map(int, version.groups())) < OLDEST_GIT:
        needed = ".".join(map(str, OLDEST_GIT))
        found = said.strip() or "no version"
        raise PaddockError(
            f"git is too old: `{program}` is `{found}`, but Paddock needs {needed}",
            f"install git {needed} or newer and put it first on PATH",
        )
    return program


def find_git(search_path: str) -> str:
    """The git on `search_path`, whatever its version; starts no process."""
    for folder in search_path.split(os.pathsep):
        program = os.path.abspath(os.path.join(folder, "git"))
        if os.access(program, os.X_OK) and os.path.isfile(program):
            return program
    raise PaddockError("git was not found on PATH", "install git 2.38 or newer")


def _kill_and_drain(process: "Popen[bytes]") -> tuple[bytes, bytes]:
    import contextlib
    import subprocess

    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    try:
        return process.communicate(timeout=5)
    except subprocess.TimeoutExpired:
        # A descendant in a session of its own still holds our pipes; it is not ours to wait for.
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()
        process.wait()
        return b"", b""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
