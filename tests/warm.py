"""Processes of `paddock` that are forked from one that has imported it all: importing was most of what they did.

Each is real, with a process id, an environment, a folder and output of its own, and can be signalled and killed. Only
its command line and environment, seen in /proc, are those of the process it was forked from.
"""

import importlib
import multiprocessing
import os
import pkgutil
import sys
import time
from collections.abc import Mapping, Sequence
from functools import cache
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path

import paddock


def start_warm(words: Sequence[str], cwd: Path, env: Mapping[str, str], out: Path, err: Path) -> ForkServerProcess:
    """`paddock WORDS…` with nothing to read, that writes to these files."""
    process = _nursery().Process(target=_be_paddock, args=(list(words), cwd, dict(env), out, err), daemon=True)
    process.start()
    return process


@cache
def _nursery() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    modules = [module.name for module in pkgutil.walk_packages(paddock.__path__, "paddock.")]
    context.set_forkserver_preload([name for name in modules if not name.endswith("__main__")])
    return context


def _be_paddock(words: list[str], cwd: Path, env: dict[str, str], out: Path, err: Path) -> None:
    for number, path in enumerate((Path(os.devnull), out, err)):
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    time.tzset()
    # It asks the environment once, when it is imported.
    importlib.reload(importlib.import_module("paddock.fleet.checkpoints"))
    sys.argv = ["paddock", *words]
    importlib.import_module("paddock.cli.main").main()
