"""Brings a checkout up to date in a process of its own that kills itself at a named point, `name#2` the second time."""

import os
import signal
from collections import Counter
from pathlib import Path

from paddock.git.repo import discover
from paddock.git.usertree.places import trees_on
from paddock.git.usertree.update import update_tree


def update_checkout(top: str, at: str, point: str) -> None:
    passed: Counter[str] = Counter()

    def checkpoint(name: str) -> None:
        passed[name] += 1
        if f"{name}#{passed[name]}" == point:
            os.kill(os.getpid(), signal.SIGKILL)

    repo = discover(Path(top))
    new = repo.resolve("refs/heads/main")
    assert new is not None
    for tree in trees_on(repo, "main"):
        update_tree(tree, at, new, checkpoint)
