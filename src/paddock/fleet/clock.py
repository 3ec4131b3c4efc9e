"""What time it is. The fleet asks here and nowhere else, so that a whole daemon can run by another clock.

Moments are seconds since 1970, by `WallClock.now`. How long ago something was, whatever somebody does to the clock and
however long the machine was suspended, is told by `WallClock.boottime`. Pauses and spans are the event loop's:
`asyncio.sleep`, `asyncio.timeout`, `loop.time()`. Who brings a clock of their own brings an event loop that runs by it.
"""

import asyncio
import contextlib
import time
from typing import Protocol


class WallClock(Protocol):
    def now(self) -> float: ...

    def boottime(self) -> float:
        """Seconds from any moment on. It never goes back, and goes on while the machine sleeps."""


class SystemClock:
    def now(self) -> float:
        return time.time()  # noqa: TID251

    def boottime(self) -> float:
        # Elsewhere the monotonic clock goes on in sleep; that of Linux stands still.
        return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


SYSTEM_CLOCK = SystemClock()


async def wait_for(event: asyncio.Event, seconds: float | None) -> None:
    """Waits until it is set, or until the time is up."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


def stamp(at: float) -> str:
    """A moment as people here write it."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
