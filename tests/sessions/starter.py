"""Starts one turn and, if told to, dies by SIGKILL at a named step: python -m tests.sessions.starter SPEC [STEP]"""

import os
import signal
import sys
from pathlib import Path

import msgspec

from paddock.sessions.local import TurnSpec, start_turn


def main(spec_json: str, step: str = "") -> None:
    fields = msgspec.json.decode(spec_json)
    paths = {name: Path(fields[name]) for name in ("cwd", "folder")}
    spec = TurnSpec(**{**fields, **paths, "argv": tuple(fields["argv"])})

    def die(name: str) -> None:
        if name == step:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.stdin.read()
    sys.stdout.write(start_turn(spec, checkpoint=die).as_text())


if __name__ == "__main__":
    main(*sys.argv[1:])
