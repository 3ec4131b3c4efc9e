"""The implementations of sessions, each with a way to make it run what a test wants."""

import asyncio
import os
import sys
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

import pytest

import paddock
from paddock.core.fence import Level
from paddock.sessions.fence import Fence
from paddock.sessions.opening import open_sessions
from paddock.sessions.protocol import Sessions, Turn, TurnOrder
from tests.bubblewrap import need_bubblewrap
from tests.sessions.conftest import PATIENCE_SECONDS, no_checkpoint
from tests.simulation.troupe import Part, PlayedSessions, Troupe
from tests.simulation.virtual import VirtualLoop, VirtualTime

LISTENER = """
import select, sys
from paddock.engines.letters import LetterBox
mailbox, taken = LetterBox(sys.argv[1]), 0
while taken < 3:
    for letter in mailbox.take_all():
        taken += 1
        print(letter.number, flush=True)
    if taken < 3:
        select.select([mailbox], [], [])
"""
Scene = Callable[[], Awaitable[None]]


@dataclass(frozen=True)
class Script:
    """What a turn does: says its lines, then hangs until it is ended, or exits. `deaf`: only force ends it.
    `leaves`: a process in a session of its own goes on after it."""

    says: tuple[str, ...] = ()
    code: int = 0
    hangs: bool = False
    deaf: bool = False
    leaves: bool = False


class Stage(Protocol):
    @property
    def ends_with_its_command(self) -> bool:
        """Whether nothing that a command started lives longer than the command."""

    def open(self) -> Sessions:
        """Another handle on the same turns, as another daemon has."""

    def order(self, turn: Turn, script: Script) -> TurnOrder: ...

    def listener(self, turn: Turn, mailbox: Path) -> TurnOrder:
        """One that says the number of each letter it takes, and ends after the third."""

    def impossible(self, turn: Turn) -> TurnOrder:
        """One that cannot be started."""

    def play(self, scene: Scene) -> None: ...

    def clear(self) -> None: ...


@dataclass
class DetachedStage:
    folder: Path
    marker: str = field(default_factory=lambda: f"test-{uuid.uuid4().hex}")
    fence: Fence | None = None

    @property
    def ends_with_its_command(self) -> bool:
        return self.fence is not None

    def open(self) -> Sessions:
        return open_sessions(self.marker, self._folder_of, no_checkpoint)

    def _folder_of(self, owner: str) -> Path:
        (self.folder / owner).mkdir(exist_ok=True)
        return self.folder / owner

    def order(self, turn: Turn, script: Script) -> TurnOrder:
        lines = [f"echo '{line}'" for line in script.says]
        lines = [*(["trap '' TERM"] if script.deaf else []), *(["setsid sleep 600 &"] if script.leaves else []), *lines]
        end = "while :; do sleep 600; done" if script.hangs else f"exit {script.code}"
        return self._order(turn, ("sh", "-c", "\n".join([*lines, end])))

    def listener(self, turn: Turn, mailbox: Path) -> TurnOrder:
        return replace(self._order(turn, (sys.executable, "-c", LISTENER, str(mailbox))), mail=True)

    def impossible(self, turn: Turn) -> TurnOrder:
        return self._order(turn, ("no-such-command",))

    def _order(self, turn: Turn, argv: tuple[str, ...]) -> TurnOrder:
        return TurnOrder(turn, argv, {"PATH": os.environ["PATH"]}, self.folder, fence=lambda: self.fence)

    def play(self, scene: Scene) -> None:
        async def patiently() -> None:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await scene()

        asyncio.run(patiently())

    def clear(self) -> None:
        sessions = self.open()
        sessions.sweep({process.owner for process in sessions.find()})


def fenced_stage(folder: Path) -> Stage:
    need_bubblewrap()
    ours = (Path(sys.prefix), Path(sys.base_prefix), Path(paddock.__file__).parents[1])
    return DetachedStage(folder, fence=Fence(Level.FILES, reads=ours, writes=(folder,)))


class PlayedStage:
    ends_with_its_command = False

    def __init__(self, _folder: Path) -> None:
        self._time = VirtualTime()
        self._parts: dict[Turn, Part] = {}
        self._troupe = Troupe(self._time, lambda turn, _order: self._parts[turn])

    def open(self) -> Sessions:
        return PlayedSessions(self._troupe)

    def order(self, turn: Turn, script: Script) -> TurnOrder:
        says = tuple((0.1 * number, line) for number, line in enumerate(script.says))
        ends = None if script.hangs else 0.1 * len(says) + 0.1
        self._parts[turn] = Part(says, ends, code=script.code, deaf=script.deaf, leaves=script.leaves)
        return TurnOrder(turn, ("player",), {}, Path("/"))

    def listener(self, turn: Turn, mailbox: Path) -> TurnOrder:
        pytest.skip("what a player says is written before it begins")

    def impossible(self, turn: Turn) -> TurnOrder:
        self._parts[turn] = Part(refuses="it cannot start")
        return TurnOrder(turn, ("player",), {}, Path("/"))

    def play(self, scene: Scene) -> None:
        loop = VirtualLoop(self._time)
        try:
            loop.run_until_complete(scene())
        finally:
            loop.close()

    def clear(self) -> None:
        pass


STAGES: dict[str, Callable[[Path], Stage]] = {
    "detached": DetachedStage,
    "fenced": fenced_stage,
    "played": PlayedStage,
}
