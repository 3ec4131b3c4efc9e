"""Starts one turn and, if told to, dies by SIGKILL at a named step: python -m tests.sessions.starter TOLD [STEP]"""

import os
import signal
import sys
from pathlib import Path

import msgspec

from paddock.sessions.protocol import Turn, TurnOrder
from tests.sessions.conftest import Workshop


class Told(msgspec.Struct):
    owner: str
    number: int
    argv: tuple[str, ...]
    env: dict[str, str]
    root: str
    marker: str


def main(text: str, step: str = "") -> None:
    told = msgspec.json.decode(text, type=Told)
    root = Path(told.root)
    order = TurnOrder(Turn(told.owner, told.number), told.argv, told.env, root)

    def die(name: str) -> None:
        if name == step:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.stdin.read()
    sys.stdout.write(Workshop(root, told.marker).start(order, die).as_text())


if __name__ == "__main__":
    main(*sys.argv[1:])
