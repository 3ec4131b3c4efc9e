"""A bridge at work as a turn's process, and what it has said so far."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from paddock.core.trace import TraceEntry
from paddock.engines.bridge_lines import BridgeParser
from paddock.engines.in_tmux import InTmux
from paddock.engines.protocol import Engine, TurnRequest
from paddock.engines.settings import EngineSettings
from paddock.engines.tmux_order import socket_argv, tmux_socket
from paddock.sessions.mailbox import Letter, make_mailbox, post

PATIENCE_SECONDS = 60.0
POLL_SECONDS = 0.05
Entry = TypeVar("Entry", bound=TraceEntry)


@dataclass
class LiveBridge:
    process: subprocess.Popen[bytes]
    out: Path
    err: Path
    mailbox: Path
    socket: Path
    _parser: BridgeParser = field(default_factory=BridgeParser)
    _offset: int = 0
    entries: list[TraceEntry] = field(default_factory=list)

    def read(self) -> list[TraceEntry]:
        data = self.out.read_bytes()[self._offset :]
        end = data.rfind(b"\n") + 1
        self._offset += end
        for line in data[:end].splitlines(keepends=True):
            self.entries += self._parser.feed(line)
        return self.entries

    def all(self, kind: type[Entry]) -> list[Entry]:
        return [entry for entry in self.read() if isinstance(entry, kind)]

    def wait_for(self, holds: Callable[[], bool], what: str, seconds: float = PATIENCE_SECONDS) -> None:
        deadline = time.monotonic() + seconds
        while not holds():
            assert self.process.poll() is None, f"ended before {what}: {self.words()}"
            assert time.monotonic() < deadline, f"no {what}: {self.words()}"
            time.sleep(POLL_SECONDS)

    def send(self, number: int, text: str, *, now: bool = False, request: str = "") -> None:
        post(self.mailbox, Letter(number, text, now, request))

    def finish(self, seconds: float = PATIENCE_SECONDS) -> int:
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running: {self.words()}") from None
        self.read()
        return code

    def terminate(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.finish()

    def tmux(self, *words: str) -> str:
        argv = (*socket_argv(self.socket), *words)
        done = subprocess.run(argv, cwd=self.socket.parent, capture_output=True, text=True, check=False)
        return done.stdout

    def words(self) -> str:
        said = [str(entry)[:300] for entry in self.read()[-20:]]
        return "\n".join((*said, self.err.read_text(errors="replace")[-2000:], self.tmux("capture-pane", "-p")))


@contextmanager
def start_bridge(engine: Engine, settings: EngineSettings, request: TurnRequest) -> Iterator[LiveBridge]:
    """Runs it until the block is left; nothing of it stays."""
    assert request.mailbox is not None
    make_mailbox(request.mailbox)
    launch = InTmux(engine, settings).launch(request)
    for file in launch.files:
        file.write()
    for folder in launch.writes:
        folder.mkdir(parents=True, exist_ok=True)
    out, err = request.folder / f"turn-{request.turn}.out", request.folder / f"turn-{request.turn}.err"
    with out.open("wb") as stdout, err.open("wb") as stderr:
        process = subprocess.Popen(
            launch.argv,
            cwd=launch.cwd,
            env=dict(launch.env),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
    live = LiveBridge(process, out, err, request.mailbox, tmux_socket(request.folder, request.turn))
    try:
        yield live
    finally:
        if process.poll() is None:
            live.tmux("kill-server")
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
