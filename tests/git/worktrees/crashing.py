"""Run one operation in a process of its own and kill -9 it at a named point.

python -m tests.git.worktrees.crashing OPERATION POINT TOP ARGUMENT...
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from paddock.git.disk import DiskFloor
from paddock.git.repo import discover
from paddock.git.worktrees.pool import fill
from paddock.git.worktrees.prepare import WorktreeOrder, prepare
from paddock.git.worktrees.release import Secured, release
from paddock.git.worktrees.slots import WorktreeRoot, default_root
from tests.git.worktrees.collecting import find_waste, remove

SETUP = ("/bin/sh", "-c", "echo done >> set-up.ignored")


def root_of(top: Path) -> WorktreeRoot:
    repo = discover(top)
    return WorktreeRoot(repo, default_root(repo), setup=SETUP, floor=DiskFloor(0, 0))


def perform(operation: str, top: Path, arguments: list[str], checkpoint: Callable[[str], None]) -> None:
    root = root_of(top)
    match operation, arguments:
        case "prepare", [attempt, branch, start]:
            prepare(root, WorktreeOrder(attempt, branch, start), checkpoint)
        case "release", [attempt]:
            release(root, attempt, "the test said so", checkpoint)
        case "return", [attempt, head, *held]:
            release(root, attempt, "the test said so", checkpoint, Secured(head, frozenset((head, *held))))
        case "fill", [tip, size]:
            fill(root, tip, int(size), checkpoint=checkpoint)
        case "gc", []:
            remove(root, find_waste(root), checkpoint)
        case _:
            raise SystemExit(f"unknown operation {operation} {arguments}")


def crash_at(operation: str, point: str, top: Path, *arguments: str) -> None:
    """Fails unless the operation really reached `point` and died there."""
    argv = (sys.executable, "-m", __name__, operation, point, str(top), *arguments)
    ended = subprocess.run(argv, cwd=Path(__file__).parents[3], check=False, capture_output=True, text=True, timeout=60)
    assert ended.returncode == -signal.SIGKILL, f"{operation} never died at {point}: {ended.stderr}"


def main() -> None:
    operation, point, top, *arguments = sys.argv[1:]

    def checkpoint(name: str) -> None:
        if name == point:
            os.kill(os.getpid(), signal.SIGKILL)

    perform(operation, Path(top), arguments, checkpoint)


if __name__ == "__main__":
    main()
