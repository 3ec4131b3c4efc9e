"""Running the git CLI on the orchestrator's behalf: explicit directory, no hooks, no prompts, bounded."""

import os
import signal
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import msgspec

from paddock.core.errors import PaddockError

if TYPE_CHECKING:
    from subprocess import Popen

OLDEST_GIT = (2, 38)  # the first with `merge-tree --write-tree`
DEFAULT_TIMEOUT_SECONDS = 120.0
_STDERR_SHOWN_BYTES = 4000

# Agents share the repository's config file and hooks directory, so what they may have planted there must
# not run when the orchestrator calls git. Lock timeouts are raised because a fleet contends for refs.
SAFE_CONFIG = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "protocol.ext.allow=never",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "submodule.recurse=false",
    "branch.autoSetupMerge=false",
    "rerere.enabled=false",
    "log.showSignature=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "core.filesRefLockTimeout=10000",
    "core.packedRefsTimeout=20000",
)
_SAFE_OPTIONS = tuple(part for setting in SAFE_CONFIG for part in ("-c", setting))

# What `git rev-parse --local-env-vars` lists, and what would change a command's meaning behind our back.
# GIT_CONFIG_COUNT stays: containers set safe.directory through it.
_DROPPED_ENVIRONMENT = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_ATTR_SOURCE",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIFF_OPTS",
    "GIT_DIR",
    "GIT_EXTERNAL_DIFF",
    "GIT_GLOB_PATHSPECS",
    "GIT_GRAFT_FILE",
    "GIT_ICASE_PATHSPECS",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_LITERAL_PATHSPECS",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REFLOG_ACTION",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
    "LANGUAGE",
)


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
    check: bool
    timeout: float
    env: Mapping[str, str] | None
    inherit: tuple[int, ...]


class GitFailed(PaddockError):
    """A git command failed that had to succeed."""

    def __init__(self, result: GitResult) -> None:
        shown = " ".join(result.argv)
        why = "ran out of time" if result.timed_out else f"ended with {result.code}"
        said = result.stderr.strip() or "it printed nothing"
        super().__init__(f"`{shown}` {why}: {said}")
        self.result = result


def run_git(
    directory: Path,
    *args: str,
    input: bytes | str | None = None,
    check: bool = True,
    timeout: float = DEFAULT_TIMEOUT_SECONDS,
    env: Mapping[str, str] | None = None,
    inherit: tuple[int, ...] = (),
) -> GitResult:
    """Run `git -C directory args`, with hooks and dangerous configuration off.

    A non-zero exit raises GitFailed unless `check` is false. After `timeout` seconds the whole process
    group is killed; that counts as a failure too (`timed_out`). `env` adds to the cleaned environment.
    `inherit` are descriptors git keeps open: a lock passed so outlives us until git has finished.
    """
    import subprocess  # here because `paddock status` finds its repository without starting a process

    program = git_program(os.environ.get("PATH", os.defpath))
    where = ("-C", os.path.abspath(directory))
    stdin = os.fsencode(input) if isinstance(input, str) else input
    # A session of its own: no controlling terminal to prompt on, and one group to kill.
    process = subprocess.Popen(
        (program, *where, *_SAFE_OPTIONS, *args),
        cwd="/",
        stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=git_environment(env),
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
    result = GitResult(("git", *where, *args), process.returncode, stdout, said, timed_out)
    if check and not result.ok:
        raise GitFailed(result)
    return result


def git_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of an orchestrator's git process: ours, less what names another repository."""
    environment = {name: value for name, value in os.environ.items() if name not in _DROPPED_ENVIRONMENT}
    environment.update(
        LC_ALL="C",
        GIT_TERMINAL_PROMPT="0",
        GIT_OPTIONAL_LOCKS="0",
        GIT_EDITOR=":",
        GIT_SEQUENCE_EDITOR=":",
        GIT_PAGER="cat",
        SSH_ASKPASS_REQUIRE="never",
    )
    environment.update(extra or {})
    return environment


@lru_cache(maxsize=8)
def git_program(search_path: str) -> str:
    """The absolute path of a git that is new enough; PaddockError when there is none."""
    import re
    import subprocess

    program = find_git(search_path)
    said = subprocess.run(
        (program, "--version"),
        check=False,
        cwd="/",
        env=git_environment(),
        capture_output=True,
        text=True,
        timeout=30,
    ).stdout
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
