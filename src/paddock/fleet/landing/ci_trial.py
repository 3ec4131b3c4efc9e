"""Trying CI once, outside the merge queue: the same sandbox, environment and judgement, and nothing is recorded.

A trial has a sandbox and a folder of its own, named after its process; those of processes that died are removed by
the next trial.
"""

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from paddock.core.merge.model import Purpose, Run
from paddock.fleet.clock import WallClock
from paddock.fleet.landing.ci_output import last_lines, step_turn
from paddock.fleet.landing.ci_run import CiRun
from paddock.fleet.landing.ci_verdict import RunResult
from paddock.fleet.landing.entrance import ci_of
from paddock.fleet.landing.sandbox_run import CiCrew
from paddock.fleet.site import Site
from paddock.fleet.upkeep.sweeper import Sweeper
from paddock.git.disk import remove_tree
from paddock.git.sandboxes.sandbox import list_sandboxes, release_sandbox, remove_sandbox
from paddock.git.sandboxes.tree import Sandbox
from paddock.sessions.host import is_gone

PREFIX = "trial-"
BEAT_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Trial:
    """How CI ended on `commit`; `output` is the end of what it printed. Stopped by a person: CANCELLED."""

    commit: str
    ended: RunResult
    seconds: float
    output: str


def try_ci(site: Site, commit: str, timeout_seconds: float, beat: Callable[[float], None]) -> Trial:
    """Runs all checks on `commit`, at most that long. `beat` hears every second how long it has been running."""
    _clear_left_over(site)
    name = f"{PREFIX}{os.getpid()}"
    try:
        return asyncio.run(_drive(site, name, commit, timeout_seconds, beat))
    finally:
        _remove(site, name)


async def _drive(site: Site, name: str, commit: str, timeout_seconds: float, beat: Callable[[float], None]) -> Trial:
    began = site.clock.now()
    tree = site.repo.git("rev-parse", f"{commit}^{{tree}}").text
    run = Run(name, Purpose.CONTROL, commit, tree, (), tree, commit, ci_of(site).digest, "", began)
    sandbox = Sandbox(site.repo, site.sandbox_root, name)
    driver = CiRun(CiCrew(site, Sweeper(site.sessions)), run, timeout_seconds, sandbox=sandbox)
    beats = asyncio.ensure_future(_beat(site.clock, beat, began))
    try:
        with _stopped_by_a_person(driver):
            ended = await driver.drive()
    finally:
        beats.cancel()
        site.sessions.close()
    return Trial(commit, ended, site.clock.now() - began, last_lines(site, name))


async def _beat(clock: WallClock, beat: Callable[[float], None], began: float) -> None:
    while True:
        await asyncio.sleep(BEAT_SECONDS)
        beat(clock.now() - began)


@contextlib.contextmanager
def _stopped_by_a_person(driver: CiRun) -> Iterator[None]:
    """Ctrl-C ends CI's processes first: they have their own sessions and would keep running."""
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)
    for number in signals:
        loop.add_signal_handler(number, driver.inside.cancel, "interrupted")
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


def _clear_left_over(site: Site) -> None:
    """Removes what trials left whose process was killed."""
    folders = {path.name for path in site.runs_folder.glob(f"{PREFIX}*")}
    boxes = {name for name in list_sandboxes(site.repo, site.sandbox_root) if name.startswith(PREFIX)}
    for name in folders | boxes:
        number = name.removeprefix(PREFIX)
        if number.isdecimal() and is_gone(int(number)):
            site.sessions.sweep({step_turn(name, 0).owner})
            _remove(site, name)


def _remove(site: Site, name: str) -> None:
    sandbox = Sandbox(site.repo, site.sandbox_root, name)
    release_sandbox(sandbox, name)
    remove_sandbox(sandbox)
    remove_tree(site.run_folder(name))
