"""The process of a turn whose agent speaks the Agent Client Protocol: `python -m paddock.bridges.acp ORDER`.

It starts the agent, is its client, and prints what happens as entries of the trace (engines/bridge_lines.py). It needs
nothing of the daemon: letters come through files, and a daemon that comes back reads what was printed.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

import msgspec

from paddock.bridges.acp_agent import AgentProcess
from paddock.bridges.acp_session import AgentLink, AgentRefused
from paddock.bridges.acp_turn import AcpTurn
from paddock.bridges.failure import BridgeFailed, ExitStatus
from paddock.core.trace import End, TraceEntry
from paddock.engines.acp_library import INSTALL, is_library_here
from paddock.engines.acp_order import AcpOrder, read_order
from paddock.engines.bridge_lines import bridge_line
from paddock.engines.trouble import describe_error

STOP_SECONDS = 3.0


def main(arguments: list[str]) -> int:
    try:
        if not is_library_here():
            raise BridgeFailed(f"the package `agent-client-protocol` is not installed: {INSTALL}", ExitStatus.CONFIG)
        return asyncio.run(_drive(_read(arguments)))
    except BridgeFailed as failure:
        return _fail(failure)
    except BrokenPipeError:
        # Nobody reads what happens: the turn was given up.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return ExitStatus.GONE


def _read(arguments: list[str]) -> AcpOrder:
    try:
        return read_order(Path(arguments[0]).read_bytes())
    except (IndexError, OSError, msgspec.DecodeError) as error:
        raise BridgeFailed(f"the order of the turn cannot be read: {error}", ExitStatus.CONFIG) from error


async def _drive(order: AcpOrder) -> int:
    stop = asyncio.Event()
    for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(signum, stop.set)
    agent = await AgentProcess.start(order.argv, order.cwd, os.environ)
    turn = AcpTurn(order, _print)
    try:
        link = AgentLink(agent, agent.connect(turn.serve))
        return await _until_stopped(turn, link, stop)
    finally:
        turn.close()
        await agent.end()


async def _until_stopped(turn: AcpTurn, link: AgentLink, stop: asyncio.Event) -> int:
    work, stopped = asyncio.create_task(turn.run(link)), asyncio.create_task(stop.wait())
    await asyncio.wait({work, stopped}, return_when=asyncio.FIRST_COMPLETED)
    if not work.done():
        await asyncio.wait({asyncio.create_task(turn.cancel())}, timeout=STOP_SECONDS)
        await asyncio.wait({work}, timeout=STOP_SECONDS)
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        return ExitStatus.STOPPED
    stopped.cancel()
    try:
        return work.result()
    except AgentRefused as refusal:
        turn.fail(refusal)
        print(f"error: {refusal}", file=sys.stderr, flush=True)
        _print(End(success=False, reason=refusal.words))
        return ExitStatus.FAILED


def _fail(failure: BridgeFailed) -> int:
    _print(describe_error(str(failure)))
    print(f"error: {failure}", file=sys.stderr, flush=True)
    return failure.status


def _print(entry: TraceEntry) -> None:
    data = bridge_line(entry)
    while data:
        data = data[os.write(1, data) :]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
