"""Run one operation in a process of its own and kill -9 it at a named point."""

import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

from paddock.git.disk import DiskFloor
from paddock.git.repo import discover
from paddock.git.worktrees.pool import fill
from paddock.git.worktrees.prepare import WorktreeOrder, prepare
from paddock.git.worktrees.release import Secured, release
from paddock.git.worktrees.slots import WorktreeRoot, default_root
from tests.git.worktrees.collecting import find_waste, remove
from tests.warm import run_apart

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
    code, complaints = run_apart(perform_and_die, operation, point, top, arguments)
    assert code == -signal.SIGKILL, f"{operation} never died at {point}: {complaints}"


def perform_and_die(operation: str, point: str, top: Path, arguments: Sequence[str]) -> None:
    def checkpoint(name: str) -> None:
        if name == point:
            os.kill(os.getpid(), signal.SIGKILL)

    perform(operation, top, list(arguments), checkpoint)
