"""Processes that are forked from one that has imported all of Paddock: importing was most of what they did.

Each is real, with a process id, an environment, a folder and output of its own, and can be signalled and killed. Only
its command line and environment, as /proc has them, are those of the process it was forked from.
"""

import importlib
import multiprocessing
import os
import pkgutil
import shutil
import signal
import sys
import tempfile
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path

import paddock

PATIENCE_SECONDS = 200.0
"""Of tests that wait for what has to come: a machine that others stall is ten times slower, and more."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a process finds when it starts; there is nothing for it to read, and it writes to these files."""

    cwd: Path
    env: Mapping[str, str]
    out: Path
    err: Path


class RunningCommand:
    """A `paddock` command in the background. What it says can be read as it comes; complaints too, or `apart`."""

    def __init__(self, words: list[str], cwd: Path, env: Mapping[str, str], *, apart: bool = False) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="said-"))
        self._out = self._folder / "out"
        self._err = self._folder / "err" if apart else self._out
        self._process = _fork(_be_paddock, (words,), Surroundings(cwd, env, self._out, self._err))
        weakref.finalize(self, shutil.rmtree, self._folder)

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs; negative where a signal ended it."""
        return self._process.exitcode

    @property
    def words(self) -> str:
        return _read(self._out)

    @property
    def complaints(self) -> str:
        return _read(self._err)

    def wait(self, seconds: float = PATIENCE_SECONDS) -> int:
        self._process.join(seconds)
        if (code := self.exit_code) is None:
            self.kill()
            raise AssertionError(f"it did not end within {seconds:.0f} s:\n{self.words}")
        return code

    def await_words(self, words: str) -> None:
        give_up_at = time.monotonic() + PATIENCE_SECONDS
        while words not in self.words:
            assert time.monotonic() < give_up_at, f"never said {words!r}:\n{self.words}"
            assert self.exit_code is None or words in self.words, f"ended first:\n{self.words}"
            time.sleep(0.02)

    def send(self, signum: signal.Signals) -> None:
        if self.exit_code is None:
            os.kill(self.pid, signum)

    def kill(self) -> None:
        self.send(signal.SIGKILL)
        self._process.join()


def _read(path: Path) -> str:
    return path.read_bytes().decode(errors="replace") if path.exists() else ""


def run_apart(function: Callable[..., None], *arguments: object) -> tuple[int, str]:
    """How the function ends as the only one of a process, and what that writes to standard error."""
    with tempfile.TemporaryDirectory() as folder:
        said = Path(folder, "said")
        process = _fork(function, arguments, Surroundings(Path.cwd(), dict(os.environ), said, said))
        process.join(PATIENCE_SECONDS)
        code = process.exitcode
        process.kill()
        assert code is not None, f"it did not end within {PATIENCE_SECONDS:.0f} s"
        return code, said.read_text()


def _fork(function: Callable[..., None], arguments: Sequence[object], around: Surroundings) -> ForkServerProcess:
    process = _nursery().Process(target=_begin, args=(function, arguments, around), daemon=True)
    process.start()
    return process


@cache
def _nursery() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    modules = [module.name for module in pkgutil.walk_packages(paddock.__path__, "paddock.")]
    imported = [name for name in modules if not name.endswith("__main__")]
    context.set_forkserver_preload([*imported, __name__, "tests.frozen"])
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
