"""What git prints, piece by piece as it comes: for what is too much to hold, and may be left before its end."""

import contextlib
import os
import select
import signal
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from paddock.git.command import GitFailed, GitKilled, GitResult, git_program
from paddock.git.purposes import GitPurpose, git_environment, git_options, purpose_of, without_programs

if TYPE_CHECKING:
    from subprocess import Popen

PIECE_BYTES = 1 << 16
_STDERR_SHOWN_BYTES = 4000


def stream_git(
    directory: Path, *args: str, timeout: float, env: Mapping[str, str] | None = None, lazy: bool = False
) -> Iterator[bytes]:
    """The standard output of `git -C directory args` in pieces; whoever stops asking ends git.

    Raises GitFailed where git failed, and GitKilled where a signal ended it or `timeout` seconds were not enough.
    """
    import subprocess

    purpose = purpose_of(args)
    where = ("-C", os.path.abspath(directory))
    program = git_program(os.environ.get("PATH", os.defpath))
    shown, ends_at = ("git", *where, *args), time.monotonic() + timeout
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            (program, *where, *git_options(purpose), *without_programs(args)),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=git_environment(GitPurpose.REMOTE if lazy else purpose, env),
            start_new_session=True,
        )
        try:
            while piece := _next_piece(process, ends_at):
                yield piece
            code = process.wait(max(0.1, ends_at - time.monotonic()))
        except (TimeoutError, subprocess.TimeoutExpired):
            raise GitKilled(GitResult(shown, -signal.SIGKILL, b"", "", timed_out=True)) from None
        finally:
            _end(process)
        if code:
            errors.seek(0)
            said = errors.read()[-_STDERR_SHOWN_BYTES:].decode("utf-8", "replace")
            result = GitResult(shown, code, b"", said)
            raise GitKilled(result) if result.killed_by is not None else GitFailed(result)


def _next_piece(process: "Popen[bytes]", ends_at: float) -> bytes:
    assert process.stdout is not None
    descriptor = process.stdout.fileno()
    ready = select.poll()  # takes a descriptor of any number, which `select` does not
    ready.register(descriptor, select.POLLIN)
    if not ready.poll(max(0.0, ends_at - time.monotonic()) * 1000):
        raise TimeoutError
    return os.read(descriptor, PIECE_BYTES)


def _end(process: "Popen[bytes]") -> None:
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
