"""Real turns in a temporary folder; whatever a test leaves running is ended by its mark."""

import os
import sys
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from paddock.core.lead import BY_HAND, Lead
from paddock.sessions import identity, marks, process, watch
from paddock.sessions.identity import ProcessIdentity
from paddock.sessions.local import TurnFiles, observe_turn, start_turn
from paddock.sessions.marks import Mark, find_marked
from paddock.sessions.process import block_until_exit
from paddock.sessions.protocol import Exited, Turn, TurnOrder, TurnState
from paddock.sessions.sweep import sweep

PATIENCE_SECONDS = 60.0


def no_checkpoint(name: str) -> None:
    """Nobody dies at the named point."""


@dataclass(frozen=True)
class Workshop:
    """A folder for one attempt's turns, and a marker no other test has."""

    root: Path
    marker: str

    @property
    def folder(self) -> Path:
        return self.root / "attempt"

    @property
    def mark(self) -> Mark:
        return Mark(self.marker, "t1.1")

    def spec(self, *argv: str, turn: int = 1) -> TurnOrder:
        env = {"PATH": os.environ["PATH"], "ROOT": str(self.root)}
        return TurnOrder(Turn("t1.1", turn), argv, env, self.root)

    def start(
        self, order: TurnOrder, checkpoint: Callable[[str], None] = no_checkpoint, lead: Lead = BY_HAND
    ) -> ProcessIdentity:
        files = self.files(order.turn.number)
        return start_turn(order, files, Mark(self.marker, order.turn.owner), lead, checkpoint)

    def shell(self, script: str, turn: int = 1) -> TurnOrder:
        return self.spec("sh", "-c", script, turn=turn)

    def python(self, script: str, turn: int = 1) -> TurnOrder:
        return self.spec(sys.executable, "-c", script, turn=turn)

    def files(self, turn: int = 1) -> TurnFiles:
        return TurnFiles.of(self.folder, turn)

    def fifo(self, name: str) -> Path:
        path = self.root / name
        os.mkfifo(path)
        return path

    def state(self, turn: int = 1) -> TurnState:
        return observe_turn(self.files(turn))

    def run(self, spec: TurnOrder) -> TurnState:
        """Start a turn, wait for its end, say how it ended."""
        assert block_until_exit(self.start(spec), PATIENCE_SECONDS)
        return self.state(spec.turn.number)

    def start_blocked(self, script: str = "", turn: int = 1) -> ProcessIdentity:
        """A turn that runs `script` and then lives until it is ended; returns when the script has run."""
        fifo = self.fifo(f"blocked-{turn}-{uuid.uuid4().hex}")
        identity = self.start(self.shell(f"{script}\necho up >'{fifo}'\nexec sleep 600", turn))
        assert fifo.read_text() == "up\n"
        return identity

    def wait_until_nothing_is_left(self) -> None:
        for found in find_marked(self.marker):
            assert block_until_exit(found.identity, PATIENCE_SECONDS)
        assert find_marked(self.marker) == ()


def returned(state: TurnState) -> int | None:
    assert isinstance(state, Exited), state
    assert state.signal is None
    return state.code


def ended_by(state: TurnState) -> int | None:
    assert isinstance(state, Exited), state
    assert state.code is None
    return state.signal


@pytest.fixture
def workshop(tmp_path: Path) -> Iterator[Workshop]:
    made = Workshop(tmp_path, f"test-{uuid.uuid4().hex}")
    made.folder.mkdir()
    yield made
    for marker in (made.marker, f"other-{made.marker}", f"outer-{made.marker}"):
        sweep({found.mark for found in find_marked(marker)})


@pytest.fixture(params=["this system", "no procfs and no pidfd"])
def any_system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs a test a second time on the paths that macOS takes."""
    if request.param == "this system":
        return
    identity.current_boot.cache_clear()
    for module in (identity, marks):
        monkeypatch.setattr(module, "HAS_PROCFS", False)
    for module in (process, watch):
        monkeypatch.setattr(module, "has_pidfd", lambda: False)
    monkeypatch.setattr(process, "POLL_SECONDS", 0.02)
    monkeypatch.setattr(identity, "current_boot", lambda: "-")
