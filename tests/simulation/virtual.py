"""Time that jumps: an event loop whose clock goes to the next timer as soon as nothing is left to do."""

import asyncio
import selectors
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

START = 1_700_000_000.0


class Killed(BaseException):
    """The process is gone between two steps of its event loop."""


class Suspended(BaseException):
    """The process stands still between two steps of its event loop, and may go on later."""


class VirtualTime:
    """Shared by all daemons of a simulated world: `now` for them, `awake` for what the world itself has planned.

    `seconds` pass while the machine is awake, as the event loop counts them. Somebody may set its clock, and it may
    sleep.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._slept = 0.0
        self._set: list[tuple[float, float]] = [(0.0, 0.0)]

    def now(self) -> float:
        return START + self.seconds + self._set[-1][1]

    def awake(self) -> float:
        return START + self.seconds

    def boottime(self) -> float:
        return self.seconds + self._slept

    def wall_at(self, awake: float) -> float:
        """What the clock on the wall showed at a moment of the world's."""
        return awake + next(by for since, by in reversed(self._set) if since <= max(0.0, awake - START))

    def set_clock(self, by: float) -> None:
        self._set.append((self.seconds, self._set[-1][1] + by))

    def sleep(self, seconds: float) -> None:
        """Nothing happens, and then it is later."""
        self._slept += seconds
        self.set_clock(seconds)


class _Selector(selectors.SelectSelector):
    """Never waits: where a real one would, time passes."""

    def __init__(self, time: VirtualTime) -> None:
        super().__init__()
        self._time = time

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise RuntimeError("everything waits, and nothing will ever happen")
        self._time.seconds += max(0.0, timeout)
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """Threads are called at once and on the loop, so that one seed gives one course of events.

    `kill_at`: the step at which the process dies. Nothing of it runs any more, no `finally` either. `suspend_at`: the
    one before which it stands still until it is run again.
    """

    def __init__(self, time: VirtualTime, kill_at: int | None = None) -> None:
        super().__init__(_Selector(time))
        self._time = time
        self._kill_at = kill_at
        self.suspend_at: int | None = None
        self.steps = 0

    def time(self) -> float:
        return self._time.seconds

    def _run_once(self) -> None:
        if self.steps == self.suspend_at:
            raise Suspended
        self.steps += 1
        if self.steps == self._kill_at:
            raise Killed
        super()._run_once()  # type: ignore[misc]

    def run_in_executor(  # type: ignore[override]
        self, executor: Executor | None, func: Callable[..., Any], *args: Any
    ) -> "asyncio.Future[Any]":
        future: asyncio.Future[Any] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return future
