"""A bridge at work: started as a turn's process is, with an agent that plays what it is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from paddock.core.trace import TraceEntry
from paddock.engines.acp_order import AcpOrder, write_order
from paddock.engines.bridge_lines import BridgeParser
from paddock.sessions.mailbox import Letter, make_mailbox, post

PATIENCE_SECONDS = 60.0
Entry = TypeVar("Entry")


def steps(*played: dict[str, Any]) -> str:
    return f"<<STEPS {json.dumps(played)} STEPS>>"


@dataclass
class Stage:
    """One folder for the agent's notes, the mailbox and the turn's output."""

    root: Path
    turns: list[RunningBridge] = field(default_factory=list)

    def start(
        self, prompt: str, *options: str, argv: tuple[str, ...] = (), env: dict[str, str] | None = None, **more: Any
    ) -> RunningBridge:
        for name in ("notes", "tree"):
            (self.root / name).mkdir(exist_ok=True)
        player = (
            sys.executable,
            str(Path(__file__).with_name("acp_player.py")),
            str(self.root / "notes"),
            *options,
        )
        make_mailbox(self.mailbox)
        order = AcpOrder(argv or player, str(self.root / "tree"), prompt, mailbox=str(self.mailbox), **more)
        turn = RunningBridge(self.root, len(self.turns) + 1, write_order(order), env or {})
        self.turns.append(turn)
        return turn

    @property
    def mailbox(self) -> Path:
        return self.root / f"mail-{len(self.turns)}"

    def post(self, number: int, text: str, *, now: bool = False, request: str = "") -> None:
        post(self.root / f"mail-{len(self.turns) - 1}", Letter(number, text, now, request))

    def notes(self, name: str) -> list[str]:
        file = self.root / "notes" / name
        return file.read_text().splitlines() if file.exists() else []

    def prompts(self) -> list[str]:
        return [json.loads(line) for line in self.notes("prompts")]

    def close(self) -> None:
        for turn in self.turns:
            turn.kill()


class RunningBridge:
    def __init__(self, root: Path, number: int, order: str, env: dict[str, str]) -> None:
        file, self._out, self._err = (root / f"turn-{number}.{ending}" for ending in ("order", "out", "err"))
        file.write_text(order)
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                (sys.executable, "-I", "-m", "paddock.bridges.acp", str(file)),
                cwd=root / "tree",
                env={"PATH": os.environ["PATH"], "HOME": str(root), **env},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )

    def entries(self) -> list[TraceEntry]:
        parser = BridgeParser()
        lines = self._out.read_bytes().split(b"\n")[:-1]
        return [entry for line in lines for entry in parser.feed(line)]

    def of(self, kind: type[Entry]) -> list[Entry]:
        return [entry for entry in self.entries() if isinstance(entry, kind)]

    @property
    def words(self) -> str:
        return self._err.read_text(errors="replace")

    def await_that(self, holds: Callable[[], object]) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not holds():
            assert self.process.poll() is None, f"ended with {self.process.returncode}: {self.words}"
            assert time.monotonic() < deadline, f"nothing came: {self.entries()} {self.words}"
            time.sleep(0.01)

    def wait(self) -> int:
        return self.process.wait(PATIENCE_SECONDS)

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def kinds(entries: Iterable[TraceEntry]) -> list[str]:
    return [type(entry).__name__ for entry in entries]
