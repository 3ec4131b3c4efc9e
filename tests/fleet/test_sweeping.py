"""A sweep that fails is told to who waits for it."""

import subprocess
import sys

SCRIPT = """
import asyncio, os, resource
from pathlib import Path
from paddock.fleet.upkeep.sweeper import Sweeper
from paddock.sessions.opening import open_sessions

async def main():
    await asyncio.to_thread(int)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    try:
        while True:
            os.open(os.devnull, os.O_RDONLY)
    except OSError:
        pass
    try:
        async with asyncio.timeout(20):
            await Sweeper(open_sessions("none", Path, lambda _: None)).sweep("t1.1")
    except TimeoutError:
        print("nobody answered")
    except OSError as error:
        print(error.strerror)

asyncio.run(main())
"""


def test_who_waits_for_a_sweep_that_cannot_be_done_hears_why() -> None:
    ended = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False, timeout=60)
    assert ended.stdout == "Too many open files\n", ended.stderr
