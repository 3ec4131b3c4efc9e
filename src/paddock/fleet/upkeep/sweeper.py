"""Sweeps for many attempts share one pass over the process table."""

import asyncio

from paddock.sessions.marks import Mark
from paddock.sessions.sweep import SweepReport, sweep


class Sweeper:
    """While one pass runs in a thread, the next one's attempts gather."""

    def __init__(self) -> None:
        self._waiting: dict[Mark, asyncio.Future[SweepReport]] = {}
        self._passes: asyncio.Task[None] | None = None

    async def sweep(self, mark: Mark) -> SweepReport:
        """Ends whatever the attempt left behind and says what it was."""
        if mark not in self._waiting:
            self._waiting[mark] = asyncio.get_running_loop().create_future()
        future = self._waiting[mark]
        if self._passes is None or self._passes.done():
            self._passes = asyncio.create_task(self._pass())
        return await asyncio.shield(future)

    async def _pass(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, {}
            try:
                report = await asyncio.to_thread(sweep, set(batch))
            except Exception as error:
                # Whoever waits hears of it: a sweep that nobody answers would hold its attempt for ever.
                for future in batch.values():
                    future.set_exception(error)
                continue
            for mark, future in batch.items():
                future.set_result(report.of(mark))
