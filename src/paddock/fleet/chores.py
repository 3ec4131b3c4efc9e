"""What an edge has the daemon do beside its rounds, such as keeping watch for `insight`, unknown to fleet."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

from paddock.fleet.ledger import Ledger
from paddock.fleet.site import Site
from paddock.fleet.troubles import Troubles

HOLD_SECONDS = 20.0
"""So long a fleet that ends when idle waits at most until somebody has looked into the latest failures."""


class Inquest:
    """Attempts that have failed, for whoever looks into why: what that finds may have tasks tried again. A fleet that
    ends when idle waits for it, if there is anybody."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self.attended = False
        self._wake = wake
        self._failed = asyncio.Event()
        self._since: float | None = None

    def report(self) -> None:
        """An attempt has failed, and the log has it."""
        if not self.attended:
            return
        self._failed.set()
        if self._since is None:
            self._since = asyncio.get_running_loop().time()

    async def wait(self, seconds: float) -> None:
        """Until one has failed, for so long at most."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._failed.wait()

    def open(self) -> bool:
        """Whether any has failed since the last time; then they are looked into now."""
        has_failed = self._failed.is_set()
        self._failed.clear()
        return has_failed

    def close(self) -> None:
        """They have been looked into, and what follows is recorded. Those that failed meanwhile are for the next."""
        if self._since is not None:
            self._since = asyncio.get_running_loop().time() if self._failed.is_set() else None
            self._wake()

    @property
    def goes_on(self) -> bool:
        since = self._since if self.attended else None
        return since is not None and asyncio.get_running_loop().time() - since < HOLD_SECONDS


@dataclass(frozen=True, slots=True)
class Deck:
    """What the daemon lends a chore: it writes through the ledger only, and tells what fails as a trouble."""

    site: Site
    ledger: Ledger
    troubles: Troubles
    inquest: Inquest


Chore: TypeAlias = Callable[[Deck], Coroutine[Any, Any, None]]
"""Goes on until it is cancelled, and blocks nobody: what takes long, it has a thread do."""
