"""Ending turns: the engine's own signal, some grace, KILL, then a sweep of what is left.

The shim is spared until the end: it is what writes down how the command died. Many turns are stopped together
because each step looks at all processes of the machine once, for all of them.
"""

import asyncio
import signal
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from paddock.sessions.local import is_shim, reap_children
from paddock.sessions.marks import Mark, MarkedProcess, find_attempts
from paddock.sessions.opening import no_checkpoint
from paddock.sessions.process import ProcessIdentity, same_process, signal_process, wait_for_exit
from paddock.sessions.protocol import SweepReport
from paddock.sessions.sweep import sweep

SIGNAL_PASSES = 20
SIGNAL_PASS_SECONDS = 0.05
KILL_PASSES = 5
KILL_PASS_SECONDS = 1.0
"""After a KILL the shim needs only to be scheduled once; five seconds forgive a machine that swaps."""


@dataclass(frozen=True, slots=True)
class TurnToStop:
    """A turn's shim as `start_turn` or `observe_turn` named it; it may have ended already."""

    mark: Mark
    shim: ProcessIdentity
    grace_seconds: float
    signum: int = signal.SIGTERM


@dataclass(frozen=True, slots=True)
class StopReport:
    """`forced`: the grace ran out and the command was killed. `left` is what the sweep found after the end."""

    mark: Mark
    forced: bool
    left: SweepReport


async def stop_turn(turn: TurnToStop, checkpoint: Callable[[str], None] = no_checkpoint) -> StopReport:
    """`stop_turns` for one."""
    return (await stop_turns([turn], checkpoint))[0]


async def stop_turns(
    turns: Sequence[TurnToStop], checkpoint: Callable[[str], None] = no_checkpoint
) -> tuple[StopReport, ...]:
    """End these turns and everything of their attempts; one report each, in the same order.

    Takes as long as the longest grace and a second or so. A turn that has ended is only swept.
    """
    marks = {turn.mark for turn in turns}
    seen: dict[ProcessIdentity, MarkedProcess] = {}
    await _signal_commands(turns, seen)
    checkpoint("turn.signalled")
    async with asyncio.TaskGroup() as waits:
        for turn in turns:
            waits.create_task(wait_for_exit(turn.shim, turn.grace_seconds))
    stubborn = [turn for turn in turns if same_process(turn.shim)]
    checkpoint("turn.graced")
    await _kill_commands(stubborn, seen)
    checkpoint("turn.killed")
    shims = {turn.shim for turn in turns}
    suspects = [process for identity, process in seen.items() if identity not in shims]
    report = await asyncio.to_thread(sweep, marks, suspects)
    reap_children()
    forced = {turn.shim for turn in stubborn}
    return tuple(StopReport(turn.mark, turn.shim in forced, report.of(turn.mark.attempt)) for turn in turns)


async def _signal_commands(turns: Sequence[TurnToStop], seen: dict[ProcessIdentity, MarkedProcess]) -> None:
    """Send each turn its signal; adds what it finds to `seen`.

    A shim that runs but has no command is just about to start it, and the signal would come too early.
    """
    waiting = [turn for turn in turns if same_process(turn.shim)]
    for _ in range(SIGNAL_PASSES):
        if not waiting:
            return
        found = await asyncio.to_thread(find_attempts, {turn.mark for turn in waiting})
        seen.update((process.identity, process) for process in found)
        waiting = [turn for turn in waiting if not _signal_command(turn, found) and same_process(turn.shim)]
        await asyncio.sleep(SIGNAL_PASS_SECONDS if waiting else 0)


def _signal_command(turn: TurnToStop, processes: Collection[MarkedProcess]) -> bool:
    """To every process in the turn's group, each through its own pidfd; to all the attempt's processes if the
    command has left the group. `False` when there is none.

    The group as such is not signalled: its number may have been given to others since it was read. Nor is the
    shim, nor a copy of it that is about to become the command and may still have the shim's deaf ears.
    """
    commands = [process for process in processes if process.mark == turn.mark and not is_shim(process)]
    in_group = [process for process in commands if process.group == turn.shim.pid]
    reached = [signal_process(process.identity, turn.signum) for process in in_group or commands]
    return any(reached)


async def _kill_commands(turns: Sequence[TurnToStop], seen: dict[ProcessIdentity, MarkedProcess]) -> None:
    """Kill all but the shims until the shims have ended; adds what it finds to `seen`."""
    shims = {turn.shim for turn in turns}
    for _ in range(KILL_PASSES):
        waiting = [turn for turn in turns if same_process(turn.shim)]
        if not waiting:
            return
        found = await asyncio.to_thread(find_attempts, {turn.mark for turn in waiting})
        seen.update((process.identity, process) for process in found)
        for process in found:
            if process.identity not in shims:
                signal_process(process.identity, signal.SIGKILL)
        async with asyncio.TaskGroup() as waits:
            for turn in waiting:
                waits.create_task(wait_for_exit(turn.shim, KILL_PASS_SECONDS))
