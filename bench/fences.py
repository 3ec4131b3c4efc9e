"""What a fence adds to a turn: the same command with and without one, in turns, through the shim."""

import os
import shutil
import tempfile
import time
import uuid
from functools import partial
from pathlib import Path

from bench.measure import Line
from paddock.core.fence import Level
from paddock.core.lead import BY_HAND
from paddock.sessions.bubblewrap import fencing_ability
from paddock.sessions.fence import Fence
from paddock.sessions.local import TurnFiles, start_turn
from paddock.sessions.marks import Mark
from paddock.sessions.process import block_until_exit
from paddock.sessions.protocol import Turn, TurnOrder, no_fence
from paddock.sessions.toolchains import find_program, find_toolchains, with_real_paths

TURN_SECONDS = 60.0
GOAL_MS = 30.0


def measure_fence(turns: int) -> list[Line]:
    """Nothing where this machine cannot make one. They take turns, and the best of each counts: what else the machine
    does only ever adds. Making the list of what is shown counts too."""
    if fencing_ability().problem:
        return []
    folder = Path(tempfile.mkdtemp(prefix="paddock-bench-"))
    try:
        bare, fenced = [], []
        for number in range(turns):
            bare.append(_turn_ms(folder, 2 * number, fenced=False))
            fenced.append(_turn_ms(folder, 2 * number + 1, fenced=True))
    finally:
        shutil.rmtree(folder)
    without, within = min(bare), min(fenced)
    return [
        Line("a turn of `true`, without a fence", without, "ms"),
        Line("added by a fence", within - without, "ms", goal=GOAL_MS),
    ]


def _turn_ms(folder: Path, number: int, *, fenced: bool) -> float:
    env = dict(os.environ)
    began = time.perf_counter()
    fence = partial(_usual_fence, folder, env) if fenced else no_fence
    order = TurnOrder(Turn("t1.1", number), ("true",), env, folder, fence=fence)
    mark = Mark(f"bench-{uuid.uuid4().hex}", "t1.1")
    shim = start_turn(order, TurnFiles.of(folder, number), mark, BY_HAND, lambda _name: None)
    if not block_until_exit(shim, TURN_SECONDS):
        raise TimeoutError("a turn of `true` did not end")
    return (time.perf_counter() - began) * 1000


def _usual_fence(folder: Path, env: dict[str, str]) -> Fence:
    home = Path.home()
    shown = (*find_toolchains(env, home), *find_program(shutil.which("true") or "/bin/true", home))
    return Fence(Level.FILES, private=(home,), reads=with_real_paths(shown), writes=with_real_paths((folder,)))
