"""What goes on beside the daemon's rounds: a task for each attempt and each CI run that is being driven."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import dataclass, field
from typing import Any

from paddock.core.errors import PaddockError
from paddock.core.lead import Succeeded


@dataclass
class Drives:
    """By name. `ended` is called after each: the next round may have something to do for it."""

    ended: Callable[[], None]
    tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict)

    def start(self, name: str, drive: Callable[[], Awaitable[None]]) -> None:
        """In the group that `run_in` has named."""
        self.tasks[name] = self._group.create_task(self._run(name, drive), name=name)

    async def beside(self, chores: Iterable[Coroutine[Any, Any, object]], loop: Callable[[], Awaitable[None]]) -> None:
        """Until the loop ends, with the chores and all that is driven beside it. Raises what any of them is expected to
        fail by."""
        try:
            async with asyncio.TaskGroup() as group:
                self.run_in(group)
                tasks = [group.create_task(chore) for chore in chores]
                # Those who look into failures say so before anything that failed is tried again.
                await asyncio.sleep(0)
                await loop()
                self.cancel()
                for task in tasks:
                    task.cancel()
        except BaseExceptionGroup as failures:
            # Not `except*`: before Python 3.11.4 what is raised in one comes out wrapped in a group again.
            expected, rest = failures.split((PaddockError, Succeeded))
            if expected is None or rest is not None:
                raise
            raise _first(expected) from None

    def run_in(self, group: asyncio.TaskGroup) -> None:
        self._group = group

    def cancel(self) -> None:
        for task in self.tasks.values():
            task.cancel()

    async def _run(self, name: str, drive: Callable[[], Awaitable[None]]) -> None:
        try:
            await drive()
        finally:
            self.tasks.pop(name, None)
            self.ended()


def _first(group: BaseException) -> PaddockError | Succeeded:
    """What ended it; the rest of the group are consequences."""
    error = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, PaddockError | Succeeded)
    return error
