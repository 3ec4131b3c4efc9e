"""Sweeps for many attempts share one pass over the process table."""

import asyncio

from paddock.sessions.protocol import Sessions, SweepReport


class Sweeper:
    """While one pass runs in a thread, the next one's attempts gather."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._waiting: dict[str, asyncio.Future[SweepReport]] = {}
        self._passes: asyncio.Task[None] | None = None

    async def sweep(self, owner: str) -> SweepReport:
        """Ends whatever an attempt or CI run left behind and says what it was."""
        if owner not in self._waiting:
            self._waiting[owner] = asyncio.get_running_loop().create_future()
        future = self._waiting[owner]
        if self._passes is None or self._passes.done():
            self._passes = asyncio.create_task(self._pass())
        return await asyncio.shield(future)

    async def _pass(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, {}
            try:
                report = await asyncio.to_thread(self._sessions.sweep, set(batch))
            except Exception as error:
                # Every waiter gets the error: an unanswered sweep would block its attempt for ever.
                for future in batch.values():
                    future.set_exception(error)
                continue
            for owner, future in batch.items():
                future.set_result(report.of(owner))
