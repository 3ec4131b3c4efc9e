"""The daemon's line to the placer: questions and answers over a pipe, and a placer that is started again if it dies."""

import asyncio
import contextlib
import struct
import sys
from asyncio.subprocess import PIPE, Process
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from paddock.core.errors import PaddockError
from paddock.core.ids import printable
from paddock.fleet.nodes.messages import FRAME_BYTES, decode, encode
from paddock.fleet.nodes.placing import Answer, Answered, Asked, Failed, Request

ANSWER_SECONDS = 60.0
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 1.0, 30.0
WORDS_FILE = "placer.log"
_HEADER = struct.Struct(">I")


class ClusterSilent(PaddockError):
    """Ray cannot be reached, or does not answer: nothing can be placed, and what runs goes on."""


@dataclass
class Cluster:
    """The Ray cluster at `address`, as the log `identity` sees it."""

    address: str
    identity: str
    folder: Path
    _process: Process | None = field(default=None, init=False)
    _reading: asyncio.Task[None] | None = field(default=None, init=False)
    _waiting: dict[int, asyncio.Future[Answer]] = field(default_factory=dict, init=False)
    _not_before: float = field(default=0.0, init=False)
    _pause: float = field(default=FIRST_PAUSE_SECONDS, init=False)

    def __post_init__(self) -> None:
        self._numbers = count(1)
        self._starting = asyncio.Lock()

    async def ask(self, request: Request, seconds: float = ANSWER_SECONDS) -> Answer:
        """Raises ClusterSilent."""
        process = await self._running()
        number = next(self._numbers)
        future = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            assert process.stdin is not None
            content = encode(Asked(number, request))
            process.stdin.write(_HEADER.pack(len(content)) + content)
            async with asyncio.timeout(seconds):
                await process.stdin.drain()
                answer: Answer = await future
        except TimeoutError:
            await self.close()
            raise self._silent(f"it has not answered for {seconds:.0f} s") from None
        except ConnectionError:
            raise self._silent("the placer has ended") from None
        finally:
            self._waiting.pop(number, None)
        if isinstance(answer, Failed):
            raise self._silent(answer.problem)
        self._pause = FIRST_PAUSE_SECONDS
        return answer

    async def close(self) -> None:
        process, self._process = self._process, None
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        self._fail("the placer was ended")

    async def _running(self) -> Process:
        async with self._starting:
            if self._process is not None and self._process.returncode is None:
                return self._process
            loop = asyncio.get_running_loop()
            if loop.time() < self._not_before:
                raise self._silent(self._last_words() or "the placer has ended")
            self._not_before = loop.time() + self._pause
            self._pause = min(LONGEST_PAUSE_SECONDS, 2 * self._pause)
            with open(self.folder / WORDS_FILE, "wb") as words:
                self._process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-P", "-m", "paddock.fleet.nodes.placer", self.address, self.identity),
                    stdin=PIPE, stdout=PIPE, stderr=words, cwd=self.folder,
                )  # fmt: skip
            self._reading = loop.create_task(self._read(self._process))
            return self._process

    async def _read(self, process: Process) -> None:
        assert process.stdout is not None
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                (length,) = _HEADER.unpack(await process.stdout.readexactly(_HEADER.size))
                if length > FRAME_BYTES:
                    break
                answered = decode(await process.stdout.readexactly(length), Answered)
                future = self._waiting.get(answered.number)
                if future is not None and not future.done():
                    future.set_result(answered.answer)
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        self._fail(self._last_words() or "the placer has ended")

    def _fail(self, problem: str) -> None:
        for future in self._waiting.values():
            if not future.done():
                future.set_result(Failed(problem))

    def _last_words(self) -> str:
        with contextlib.suppress(OSError):
            lines = (self.folder / WORDS_FILE).read_text("utf-8", "replace").strip().splitlines()
            return printable(lines[-1], 300) if lines else ""
        return ""

    def _silent(self, problem: str) -> ClusterSilent:
        return ClusterSilent(
            f"Ray at `{printable(self.address, 100)}` does not place agents: {problem}",
            "is the cluster up? `ray status` on one of its machines tells; it is looked for at `[sessions] address`",
        )
