"""Saying that the log cannot be written because the disk is full: the log itself cannot be told until that is over."""

import asyncio
import contextlib
from collections.abc import Callable

from paddock.core.errors import PaddockError
from paddock.core.events import DaemonTroubled
from paddock.core.lead import Succeeded
from paddock.fleet.ledger import Ledger
from paddock.fleet.troubles import Troubles

RECORDING = "recording"


class FullDiskNotice:
    """`say` is for whoever watches the daemon; `paddock status` reads the book of troubles, or sees the disk itself."""

    def __init__(self, ledger: Ledger, troubles: Troubles) -> None:
        self.say: Callable[[str], None] = lambda _words: None
        self._ledger = ledger
        self._troubles = troubles
        self._telling: asyncio.Task[None] | None = None
        ledger.watch_room(self._hear)

    def _hear(self, problem: str) -> None:
        before = self._troubles.book.find(RECORDING)
        self._troubles.remark(RECORDING, problem)
        if problem:
            self.say(f"waiting: {problem}; the daemon resumes when there is room")
            return
        waited = self._troubles.now() - before.since if before is not None else 0.0
        self.say(f"there is room on the disk again: resumed after {waited:.0f} s")
        words = f"the disk was full for {waited:.0f} s: nothing could be recorded meanwhile"
        self._telling = asyncio.get_running_loop().create_task(self._record(words))

    async def _record(self, words: str) -> None:
        with contextlib.suppress(PaddockError, Succeeded):
            await self._ledger.note(DaemonTroubled(RECORDING, words))
