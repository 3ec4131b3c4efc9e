"""Prepares a sandbox in a process of its own that kills itself at a named point."""

import os
import signal
from pathlib import Path

from paddock.git.repo import discover
from paddock.git.sandboxes.sandbox import PreparedSandbox, SandboxOrder, prepare_sandbox
from paddock.git.sandboxes.tree import Sandbox


def prepare(top: str, root: str, commit: str, point: str) -> None:
    def checkpoint(name: str) -> None:
        if name == point:
            os.kill(os.getpid(), signal.SIGKILL)

    sandbox = Sandbox(discover(Path(top)), Path(root), "s1")
    assert isinstance(prepare_sandbox(sandbox, SandboxOrder("r1", commit), checkpoint), PreparedSandbox)
