"""The agent behind a bridge: its process, and JSON-RPC over its standard input and output.

The library's connection matches answers to requests; what it reads from is made here, because what an agent prints may
be anything: words that are no message, messages without an end, or nothing at all.
"""

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from paddock.bridges.failure import BridgeFailed, ExitStatus

if TYPE_CHECKING:
    from acp.connection import Connection

MAX_MESSAGE_BYTES = 32 * 1024 * 1024
MOST_STRAY_LINES = 1_000
_SHOWN_STRAY_LINES = 5
# Its answer is given; some do not care for the end of their input.
_EXIT_SECONDS = 0.5
_TERM_SECONDS = 2.0

Serve = Callable[[str, Any, bool], Awaitable[Any]]
"""Called with the method, its parameters and whether it is a notification."""


class AgentProcess:
    """Its standard error is the turn's own. It stays in the turn's process group."""

    def __init__(self, process: asyncio.subprocess.Process, name: str) -> None:
        self._process = process
        self.name = name
        self.wire = Wire(process, name)

    @classmethod
    async def start(cls, argv: tuple[str, ...], cwd: str, env: Mapping[str, str]) -> "AgentProcess":
        """Raises BridgeFailed where it cannot be started."""
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                cwd=cwd,
                env=dict(env),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=MAX_MESSAGE_BYTES,
            )
        except OSError as error:
            raise BridgeFailed(f"`{argv[0]}` cannot be started: {error.strerror or error}", ExitStatus.GONE) from error
        return cls(process, os.path.basename(argv[0]))

    def connect(self, serve: Serve) -> "Connection":
        # Here, so that the agent starts meanwhile: the library takes a while to import.
        from acp.connection import Connection

        return Connection(serve, self.wire)

    async def end(self) -> None:
        """End of input, then signals. An agent that has ended is reaped."""
        self.wire.hang_up()
        for signum, seconds in ((None, _EXIT_SECONDS), (signal.SIGTERM, _TERM_SECONDS), (signal.SIGKILL, None)):
            if signum is not None:
                with contextlib.suppress(ProcessLookupError):
                    self._process.send_signal(signum)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), seconds)
                return

    async def explain(self, waited_for: str) -> BridgeFailed:
        """Why no answer came, once its output has ended."""
        if self.wire.trouble:
            return BridgeFailed(self.wire.trouble, ExitStatus.PROTOCOL)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), _EXIT_SECONDS)
        code = self._process.returncode
        ended = "closed its output" if code is None else f"ended with {describe_exit(code)}"
        return BridgeFailed(f"the agent `{self.name}` {ended} before it answered {waited_for}", ExitStatus.GONE)


def describe_exit(code: int) -> str:
    return f"exit status {code}" if code >= 0 else signal.Signals(-code).name


class Wire:
    """One JSON object a line, both ways. `trouble` says why reading has stopped, where the agent is to blame."""

    def __init__(self, process: asyncio.subprocess.Process, name: str) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._writer, self._reader = process.stdin, process.stdout
        self._name = name
        self._strays = 0
        self.trouble = ""

    async def send(self, message: dict[str, Any]) -> None:
        self._writer.write(json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode() + b"\n")
        await self._writer.drain()

    async def receive(self) -> dict[str, Any] | None:
        """None at the end of its output, and when what comes is beyond use."""
        while not self.trouble:
            try:
                line = await self._reader.readuntil(b"\n")
            except asyncio.IncompleteReadError as rest:
                line = rest.partial
                if not line:
                    return None
            except asyncio.LimitOverrunError:
                self.trouble = f"the agent `{self._name}` sent a message of more than {MAX_MESSAGE_BYTES >> 20} MB"
                return None
            except OSError:
                return None
            message = read_message(line)
            if message is not None:
                return message
            self._stray(line)
        return None

    async def close(self) -> None:
        self.hang_up()

    def hang_up(self) -> None:
        with contextlib.suppress(OSError, RuntimeError):
            self._writer.close()

    def _stray(self, line: bytes) -> None:
        """A few lines of chatter are passed on to where they belong; a flood is no agent."""
        if not line.strip():
            return
        self._strays += 1
        if self._strays <= _SHOWN_STRAY_LINES:
            print(f"{self._name}: {line[:500].decode('utf-8', 'replace').rstrip()}", file=sys.stderr, flush=True)
        if self._strays >= MOST_STRAY_LINES:
            self.trouble = f"the agent `{self._name}` prints what is not the Agent Client Protocol"


def read_message(line: bytes) -> dict[str, Any] | None:
    """The JSON-RPC message on a line, None for anything else."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or not isinstance(message.get("id", 0), str | int | None):
        return None
    is_call = isinstance(message.get("method"), str)
    is_answer = "method" not in message and "id" in message and isinstance(message.get("error", {}), dict | None)
    return message if is_call or is_answer else None
