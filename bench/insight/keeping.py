"""What it costs to follow a fleet at work: 50 agents that take 200 steps a second, looked at every five seconds."""

import json
import random
import tempfile
import time
from contextlib import closing
from pathlib import Path

import apsw
from tests.insight.dataset.world import World

from bench.insight.data import Data
from bench.insight.targets import Measured
from paddock.core.ids import AttemptId

AGENTS, STEPS_PER_SECOND, LOOK_SECONDS = 50, 200, 5
LOOKS, QUICK_LOOKS = 30, 1
MOST_OF_A_CORE = 0.02
OUTPUT = "a line that a tool has printed, as long as such lines are\n" * 25
COMMANDS = (
    "cd /w && python -m pytest -q tests/test_part{}.py",
    "grep -rn 'handle_{}' src",
    "sed -n '1,80p' src/part{}.py",
    "git commit -am 'Take step {}'",
)


def measure(data: Data, *, quick: bool = False) -> list[Measured]:
    del data
    looks = QUICK_LOOKS if quick else LOOKS
    draw = random.Random(1)
    with tempfile.TemporaryDirectory() as folder, closing(World(Path(folder) / "app")) as world:
        path = Path(folder) / "traces.db"
        keeper = world.follower(path)
        agents = [world.start(world.add()) for _ in range(AGENTS)]
        world.look(keeper)
        per_look = STEPS_PER_SECOND * LOOK_SECONDS // AGENTS
        spent = 0.0
        for _ in range(looks):
            for agent in agents:
                _work(world, agent, per_look, draw)
            begun = time.thread_time()
            world.look(keeper)
            spent += time.thread_time() - begun
        begun = time.thread_time()
        world.look(keeper)
        rest = time.thread_time() - begun
        size = _size(path)
    steps = looks * per_look * AGENTS
    how = f"{steps:,} steps of {AGENTS} agents, claude's stream-json with 1.5 kB of output a step"
    return [
        Measured("share of a core at 200 steps/s", spent / (looks * LOOK_SECONDS), high=MOST_OF_A_CORE, how=how),
        Measured("of a step", spent / steps * 1e6, "us"),
        Measured("share of a core while all of them think", rest / LOOK_SECONDS, high=MOST_OF_A_CORE),
        Measured("bytes of a step with its call", size / steps, "B"),
    ]


def _size(path: Path) -> int:
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        ((pages,),) = connection.execute("PRAGMA page_count").fetchall()
        ((page,),) = connection.execute("PRAGMA page_size").fetchall()
    return int(pages) * int(page)  # type: ignore[arg-type]


def _work(world: World, agent: AttemptId, steps: int, draw: random.Random) -> None:
    """As many steps at once: writing them is no part of what is measured."""
    lines = []
    for _ in range(steps):
        world.told[agent] += 1
        call, command = f"c{world.told[agent]}", draw.choice(COMMANDS).format(draw.randrange(1000))
        content = [{"type": "text", "text": "I look at it."}, {"type": "tool_use", "id": call, "name": "Bash"}]
        content[1]["input"] = {"command": command}  # type: ignore[assignment]
        usage = {"input_tokens": 10, "cache_read_input_tokens": 9_000, "output_tokens": 50}
        message = {"id": f"m{call}", "role": "assistant", "model": "opus", "content": content, "usage": usage}
        result = {"type": "tool_result", "tool_use_id": call, "content": OUTPUT, "is_error": draw.random() < 0.1}
        lines += [{"type": "assistant", "message": message}, {"type": "user", "message": {"content": [result]}}]
    with world.out(agent).open("a") as out:
        out.write("".join(f"{json.dumps({**line, 'session_id': 's'})}\n" for line in lines))
    world.wait(LOOK_SECONDS / AGENTS)
    world.note(agent)
