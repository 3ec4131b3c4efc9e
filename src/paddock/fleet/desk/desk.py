"""One worker's desk: a socket on which it asks, and a command on this side of the fence that answers.

Whoever reaches the socket is that worker: nobody else's fence shows it. What it asks for runs as `paddock` with the
worker's mark, so the same table decides as without a fence. Everything is bounded: how much may be sent and answered,
how long it takes, how many at once, how often.
"""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Coroutine, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddock.core.rates import Bucket, Rate
from paddock.fleet.desk.wire import (
    ERR,
    EXIT,
    LENGTH_BYTES,
    MOST_ANSWER_BYTES,
    MOST_FRAME_BYTES,
    MOST_REQUEST_BYTES,
    OUT,
    SERVED_VARIABLE,
    DeskRequest,
    bind_desk,
    decode_request,
    frame,
)
from paddock.sessions.ancestry import marked_variables

REQUEST_SECONDS = 10.0
"""For the request to arrive."""
ANSWER_SECONDS = 900.0
"""For the whole answer, a place in line for a lease included."""
MOST_AT_ONCE = 8
RATE = Rate(burst=40, per_second=2.0)
COMMAND = (sys.executable, "-P", "-m", "paddock")


@dataclass(frozen=True, slots=True)
class DeskOrder:
    """`top` is the repository in which the worker's commands run, `socket` where it asks."""

    owner: str
    marker: str
    top: Path
    socket: Path


@dataclass
class Occupancy:
    """How many requests are being answered, of at most so many."""

    most: int
    now: int = 0

    @property
    def is_full(self) -> bool:
        return self.now >= self.most

    @contextlib.contextmanager
    def one_more(self) -> Iterator[None]:
        self.now += 1
        try:
            yield
        finally:
            self.now -= 1


class Desk:
    """`everyone` counts the requests of all desks together."""

    def __init__(self, order: DeskOrder, everyone: Occupancy) -> None:
        self._order = order
        self._everyone = everyone
        self._own = Occupancy(MOST_AT_ONCE)
        self._bucket = Bucket(RATE.burst, asyncio.get_running_loop().time())
        self._server: asyncio.Server | None = None
        self._bound = 0
        self._answers: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Raises OSError."""
        listening = bind_desk(self._order.socket)
        self._bound = self._order.socket.lstat().st_ino
        self._server = await asyncio.start_unix_server(self._accept, sock=listening)

    async def close(self) -> None:
        """Those who are being answered lose their connection. A socket that a later daemon has put there stays."""
        if self._server is not None:
            self._server.close()
            with contextlib.suppress(OSError):
                if self._order.socket.lstat().st_ino == self._bound:
                    self._order.socket.unlink()
        for answer in self._answers:
            answer.cancel()
        await asyncio.gather(*self._answers, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answer = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._answers.add(answer)
        answer.add_done_callback(self._answers.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._answer(reader, writer)
        except TimeoutError:
            _say(writer, f"the request took longer than {ANSWER_SECONDS / 60:.0f} minutes", "ask for less, or later")
        except (OSError, asyncio.IncompleteReadError):
            pass  # whoever asked is gone
        finally:
            with contextlib.suppress(OSError):
                writer.close()
                async with asyncio.timeout(REQUEST_SECONDS):
                    await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._bucket, may = self._bucket.take(RATE, asyncio.get_running_loop().time())
        if busy := self._why_busy(may=may):
            _say(writer, f"too many requests: {busy}", "wait a moment, then try again")
            return
        with self._own.one_more(), self._everyone.one_more():
            async with asyncio.timeout(REQUEST_SECONDS):
                request = await _read_request(reader)
            if request is None:
                _say(writer, "this is not a request, or it is too large", "a desk takes `paddock` commands")
                return
            await self._run(request, reader, writer)

    def _why_busy(self, *, may: bool) -> str:
        if not may:
            return f"{self._order.owner} asks more than {RATE.per_second:.0f} times a second"
        full = [one for one in (self._own, self._everyone) if one.is_full]
        return f"{full[0].most} are being answered" if full else ""

    async def _run(self, request: DeskRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = request.argv[0]
        if first.startswith("-") and first not in ("--help", "-h", "--version"):
            _say(writer, f"`{first}` is not for workers", "inside a fence, begin with the command's name")
            return
        process = await asyncio.create_subprocess_exec(
            *COMMAND,
            *("-C", str(self._order.top)),
            *request.argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd="/",
            env=self._environment(os.environ),
            start_new_session=True,
        )
        gone = asyncio.ensure_future(reader.read(1))
        answered = asyncio.ensure_future(_pass_on(process, request.stdin, writer))
        try:
            await asyncio.wait((gone, answered), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for future in (gone, answered):
                future.cancel()
            await _to_its_end(_end(process, gone, answered))

    def _environment(self, inherited: Mapping[str, str]) -> dict[str, str]:
        """The daemon's own, so nothing of the worker's counts; and the worker's mark."""
        marks = marked_variables(self._order.marker, self._order.owner, inherited)
        return {**inherited, **marks, SERVED_VARIABLE: self._order.owner, "NO_COLOR": "1"}


async def _read_request(reader: asyncio.StreamReader) -> DeskRequest | None:
    length = int.from_bytes(await reader.readexactly(LENGTH_BYTES), "big")
    return decode_request(await reader.readexactly(length)) if length <= MOST_REQUEST_BYTES else None


async def _pass_on(process: asyncio.subprocess.Process, stdin: bytes, writer: asyncio.StreamWriter) -> None:
    """What the command says, as it comes, then its exit code."""
    pipe, out, err = _pipes(process)
    left = MOST_ANSWER_BYTES

    async def copy(stream: asyncio.StreamReader, channel: bytes) -> None:
        nonlocal left
        while part := await stream.read(MOST_FRAME_BYTES):
            if len(part) > left:
                left = 0
                _kill(process)
                return
            left -= len(part)
            writer.write(frame(channel, part))
            await writer.drain()

    async def feed() -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            pipe.write(stdin)
            await pipe.drain()
        pipe.close()

    await asyncio.gather(feed(), copy(out, OUT), copy(err, ERR))
    code = await process.wait()
    if not left:
        _say(writer, f"the answer is larger than {MOST_ANSWER_BYTES // 1024**2} MB and was cut", "ask for less")
        return
    writer.write(frame(EXIT, str(code if code >= 0 else 128 - code).encode()))
    await writer.drain()


async def _to_its_end(ending: Coroutine[None, None, None]) -> None:
    """Also if the desk is closed meanwhile: nobody else would end the command."""
    task = asyncio.ensure_future(ending)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise


async def _end(process: asyncio.subprocess.Process, *cancelled: asyncio.Future[Any]) -> None:
    """Whatever is left of the command, and of what it said."""
    await asyncio.gather(*cancelled, return_exceptions=True)
    pipe, *streams = _pipes(process)
    _kill(process)
    pipe.close()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(REQUEST_SECONDS):
            for stream in streams:
                while await stream.read(MOST_FRAME_BYTES):
                    pass
    transport: asyncio.SubprocessTransport = process._transport  # type: ignore[attr-defined]
    for number in (1, 2):
        # Something outside of the command's group may still hold them, and they count as part of it.
        if (output := transport.get_pipe_transport(number)) is not None:
            output.close()
    await process.wait()
    transport.close()


def _kill(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _pipes(
    process: asyncio.subprocess.Process,
) -> tuple[asyncio.StreamWriter, asyncio.StreamReader, asyncio.StreamReader]:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    return process.stdin, process.stdout, process.stderr


def _say(writer: asyncio.StreamWriter, problem: str, hint: str) -> None:
    """As a command would complain."""
    if not writer.is_closing():
        writer.write(frame(ERR, f"error: {problem}\n\nhint: {hint}\n".encode()) + frame(EXIT, b"1"))
