"""A program in a terminal of its own, for `bench.terminal`: what it writes and when, and what it costs."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import psutil

COLUMNS, LINES = 80, 24
PATIENCE_SECONDS = 120.0


class Pane:
    """Times are seconds since the epoch."""

    def __init__(self, argv: Sequence[str], directory: Path) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        environment |= {"TERM": "xterm-256color", "PYTHONPATH": str(Path(__file__).parents[1])}
        self._program = subprocess.Popen(
            argv, cwd=directory, env=environment, stdin=slave, stdout=slave, stderr=slave, start_new_session=True
        )
        os.close(slave)
        self._process = psutil.Process(self._program.pid)
        self._written: list[tuple[float, str]] = []
        self._news = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._program.kill()
        self._program.wait()
        self._reader.join()
        os.close(self._master)

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._master, 1 << 16)
            except OSError:  # nobody has the other end any more
                return
            with self._news:
                self._written.append((time.time(), data.decode("utf-8", "replace")))
                self._news.notify_all()

    def wait_for(self, words: str, after: int = 0) -> float:
        """When they were written; `after` is a number of writes that do not count."""
        until = time.monotonic() + PATIENCE_SECONDS
        with self._news:
            while True:
                text = ""
                for at, part in self._written[after:]:
                    text = text[-len(words) :] + part
                    if words in text:
                        return at
                self._news.wait(1.0)
                if self._program.poll() is not None or time.monotonic() > until:
                    raise RuntimeError(f"`{words}` was not written, but {text[-400:]!r}")

    def press(self, key: bytes, words: str) -> float:
        """Seconds until they are written."""
        with self._news:
            after = len(self._written)
        began = time.time()
        os.write(self._master, key)
        return self.wait_for(words, after) - began

    def written_after(self, began: float) -> list[tuple[float, str]]:
        with self._news:
            return [(at, text) for at, text in self._written if at >= began]

    @property
    def cpu_seconds(self) -> float:
        times = self._process.cpu_times()
        return float(times.user + times.system)

    @property
    def memory_mb(self) -> float:
        return float(self._process.memory_full_info().uss / 2**20)
