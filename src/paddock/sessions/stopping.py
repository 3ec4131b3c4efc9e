"""Ending a turn: the engine's own signal, some grace, KILL, then a sweep of what is left.

The shim is spared until the end: it is what writes down how the command died.
"""

import asyncio
import signal
from collections.abc import Callable, Collection
from dataclasses import dataclass

from paddock.core.lead import Lead
from paddock.sessions.identity import ProcessIdentity, same_process
from paddock.sessions.local import is_shim, reap_children
from paddock.sessions.marks import Mark, MarkedProcess, find_attempts
from paddock.sessions.process import signal_process, wait_for_exit
from paddock.sessions.protocol import SweepReport
from paddock.sessions.sweep import sweep

SIGNAL_PASSES = 20
SIGNAL_PASS_SECONDS = 0.05
KILL_PASSES = 5
KILL_PASS_SECONDS = 1.0
"""After a KILL the shim needs only to be scheduled once; five seconds forgive a machine that swaps."""


@dataclass(frozen=True, slots=True)
class TurnToStop:
    """A turn's shim as `start_turn` or `find_runner` named it; it may have ended already."""

    mark: Mark
    shim: ProcessIdentity
    grace_seconds: float
    signum: int = signal.SIGTERM

    def is_running(self) -> bool:
        return same_process(self.shim)


@dataclass(frozen=True, slots=True)
class StopReport:
    """`forced`: the grace ran out and the command was killed. `left` is what the sweep found after the end."""

    forced: bool
    left: SweepReport


async def stop_turn(turn: TurnToStop, lead: Lead, checkpoint: Callable[[str], None]) -> StopReport:
    """End the turn and everything of its attempt. A turn that has ended is only swept.

    Raises Succeeded before the next signal once another daemon leads.
    """
    seen: dict[ProcessIdentity, MarkedProcess] = {}
    await _signal_command(turn, lead, seen)
    checkpoint("turn.signalled")
    await wait_for_exit(turn.shim, turn.grace_seconds)
    is_stubborn = turn.is_running()
    checkpoint("turn.graced")
    await _kill_command(turn, lead, seen)
    checkpoint("turn.killed")
    suspects = [process for identity, process in seen.items() if identity != turn.shim]
    left = await asyncio.to_thread(sweep, {turn.mark}, lead, suspects)
    reap_children()
    return StopReport(is_stubborn, left)


async def _signal_command(turn: TurnToStop, lead: Lead, seen: dict[ProcessIdentity, MarkedProcess]) -> None:
    """A shim that runs but has no command is just about to start it, and the signal would come too early."""
    for _ in range(SIGNAL_PASSES):
        if not turn.is_running() or _send_signal(turn, lead, await _find(turn, seen)):
            return
        await asyncio.sleep(SIGNAL_PASS_SECONDS)


async def _find(turn: TurnToStop, seen: dict[ProcessIdentity, MarkedProcess]) -> tuple[MarkedProcess, ...]:
    """The attempt's processes, also added to `seen`."""
    found = await asyncio.to_thread(find_attempts, {turn.mark})
    seen.update((process.identity, process) for process in found)
    return found


def _send_signal(turn: TurnToStop, lead: Lead, processes: Collection[MarkedProcess]) -> bool:
    """To every process in the turn's group, each through its own pidfd; to all the attempt's processes if the
    command has left the group. `False` when there is none.

    The group as such is not signalled: its number may have been given to others since it was read. Nor is the
    shim, nor a copy of it that is about to become the command and may still have the shim's deaf ears.
    """
    commands = [process for process in processes if not is_shim(process)]
    in_group = [process for process in commands if process.group == turn.shim.pid]
    reached = [signal_process(process.identity, turn.signum, lead) for process in in_group or commands]
    return any(reached)


async def _kill_command(turn: TurnToStop, lead: Lead, seen: dict[ProcessIdentity, MarkedProcess]) -> None:
    """Kill all but the shim until the shim has ended."""
    for _ in range(KILL_PASSES):
        if not turn.is_running():
            return
        for process in await _find(turn, seen):
            if process.identity != turn.shim:
                signal_process(process.identity, signal.SIGKILL, lead)
        await wait_for_exit(turn.shim, KILL_PASS_SECONDS)
