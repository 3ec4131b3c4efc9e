"""Processes that are forked from one that has imported all of Paddock: importing was most of what they did.

Each is real, with a process id, an environment, a folder and output of its own, and can be signalled and killed. Only
its command line and environment, as /proc has them, are those of the process it was forked from.
"""

import importlib
import multiprocessing
import os
import pkgutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path

import paddock

LONGEST_SECONDS = 200.0


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a process finds when it starts; there is nothing for it to read, and it writes to these files."""

    cwd: Path
    env: Mapping[str, str]
    out: Path
    err: Path


def start_paddock(words: Sequence[str], around: Surroundings) -> ForkServerProcess:
    return _fork(_be_paddock, (list(words),), around)


def run_apart(function: Callable[..., None], *arguments: object) -> tuple[int, str]:
    """How the function ends as the only one of a process, and what that writes to standard error."""
    with tempfile.TemporaryDirectory() as folder:
        said = Path(folder, "said")
        process = _fork(function, arguments, Surroundings(Path.cwd(), dict(os.environ), said, said))
        process.join(LONGEST_SECONDS)
        code = process.exitcode
        process.kill()
        assert code is not None, f"it did not end within {LONGEST_SECONDS:.0f} s"
        return code, said.read_text()


def _fork(function: Callable[..., None], arguments: Sequence[object], around: Surroundings) -> ForkServerProcess:
    process = _nursery().Process(target=_begin, args=(function, arguments, around), daemon=True)
    process.start()
    return process


@cache
def _nursery() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    modules = [module.name for module in pkgutil.walk_packages(paddock.__path__, "paddock.")]
    context.set_forkserver_preload([name for name in modules if not name.endswith("__main__")])
    return context


def _begin(function: Callable[..., None], arguments: Sequence[object], around: Surroundings) -> None:
    for number, path in enumerate((Path(os.devnull), around.out, around.err)):
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    os.chdir(around.cwd)
    os.environ.clear()
    os.environ.update(around.env)
    time.tzset()
    # It asks the environment once, when it is imported.
    importlib.reload(importlib.import_module("paddock.fleet.checkpoints"))
    function(*arguments)


def _be_paddock(words: list[str]) -> None:
    sys.argv = ["paddock", *words]
    importlib.import_module("paddock.cli.main").main()
