"""Many short turns at once, some ending just as they are stopped, amid sweeps: each one's end is known."""

import asyncio
import os
import random
from collections import Counter
from dataclasses import dataclass

import pytest

from paddock.fleet.upkeep.sweeper import Sweeper
from paddock.sessions.local import Exited, TurnSpec, observe_turn, start_turn
from paddock.sessions.marks import Mark, find_marked
from paddock.sessions.process import wait_for_exit
from paddock.sessions.stopping import TurnToStop, stop_turn
from tests.sessions.conftest import PATIENCE_SECONDS, Workshop

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
        spec = TurnSpec(attempt, 1, plain.argv, plain.env, plain.cwd, folder, plain.marker)
        mark = Mark(plain.marker, attempt)
        shim = await asyncio.to_thread(start_turn, spec)
        if kind.returns:
            assert await wait_for_exit(shim, PATIENCE_SECONDS)
        else:
            if "FIFO" in kind.script:
                await asyncio.to_thread(fifo.read_text)
            await stop_turn(TurnToStop(mark, shim, 0.05))
        state = observe_turn(folder, 1)
        assert isinstance(state, Exited), (kind, state, [path.name for path in folder.iterdir()])
        assert not kind.returns or state.code == code
        await self.sweeper.sweep(mark)
        assert observe_turn(folder, 1) == state, "a sweep has changed how it ended"
        self.seen[kind.script] += 1


@pytest.mark.slow
def test_the_end_of_every_turn_is_known_whoever_stops_and_sweeps_beside_it(workshop: Workshop) -> None:
    seen: Counter[str] = Counter()

    async def scene() -> None:
        sweeper = Sweeper()
        async with asyncio.TaskGroup() as lanes:
            for number in range(LANES):
                lanes.create_task(Lane(workshop, sweeper, number, random.Random(number), seen).play())

    asyncio.run(scene())
    assert seen.total() == LANES * TURNS_PER_LANE
    assert find_marked(workshop.marker) == ()
