"""Many short turns at once, some ending just as they are stopped, amid sweeps: each one's end is known."""

import asyncio
import os
import random
from collections import Counter
from dataclasses import dataclass

import pytest

from paddock.fleet.upkeep.sweeper import Sweeper
from paddock.sessions.opening import open_sessions
from paddock.sessions.protocol import Exited, Sessions, Turn, TurnOrder
from tests.sessions.conftest import PATIENCE_SECONDS, Workshop, no_checkpoint

LANES, TURNS_PER_LANE = 8, 200


@dataclass(frozen=True)
class Kind:
    """`returns` is whether the command ends by itself, with the code that stands for CODE; else it is stopped."""

    script: str
    returns: bool = True


KINDS = (
    Kind("exit CODE"),
    Kind("sleep 600 & exit CODE"),
    Kind("sleep 600", returns=False),
    Kind("trap '' TERM; sleep 600", returns=False),
    *[Kind("echo going >'FIFO'; exit CODE", returns=False)] * 4,
)


@dataclass
class Lane:
    workshop: Workshop
    sessions: Sessions
    sweeper: Sweeper
    number: int
    chance: random.Random
    seen: Counter[str]

    async def play(self) -> None:
        for turn in range(TURNS_PER_LANE):
            await self._play_one(f"t{self.number}.{turn + 1}", self.chance.choice(KINDS), self.chance.randrange(100))

    async def _play_one(self, attempt: str, kind: Kind, code: int) -> None:
        folder = self.workshop.folder / attempt
        folder.mkdir()
        fifo = folder / "fifo"
        os.mkfifo(fifo)
        script = kind.script.replace("CODE", str(code)).replace("FIFO", str(fifo))
        plain = self.workshop.shell(script)
        turn, ended = Turn(attempt, 1), asyncio.Event()
        await asyncio.to_thread(self.sessions.start, TurnOrder(turn, plain.argv, plain.env, plain.cwd))
        if kind.returns:
            self.sessions.follow(turn, ended.set)
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not isinstance(self.sessions.observe(turn), Exited):
                    await ended.wait()
                    ended.clear()
        else:
            if "FIFO" in kind.script:
                await asyncio.to_thread(fifo.read_text)
            await self.sessions.stop(turn, 0.05)
        state = self.sessions.observe(turn)
        assert isinstance(state, Exited), (kind, state, [path.name for path in folder.iterdir()])
        assert not kind.returns or state.code == code
        await self.sweeper.sweep(attempt)
        assert self.sessions.observe(turn) == state, "a sweep has changed how it ended"
        self.seen[kind.script] += 1


@pytest.mark.slow
def test_the_end_of_every_turn_is_known_whoever_stops_and_sweeps_beside_it(workshop: Workshop) -> None:
    seen: Counter[str] = Counter()

    async def scene() -> None:
        sessions = open_sessions(workshop.marker, lambda owner: workshop.folder / owner, no_checkpoint)
        sweeper = Sweeper(sessions)
        async with asyncio.TaskGroup() as lanes:
            for number in range(LANES):
                lanes.create_task(Lane(workshop, sessions, sweeper, number, random.Random(number), seen).play())

        assert sessions.find() == ()

    asyncio.run(scene())
    assert seen.total() == LANES * TURNS_PER_LANE
