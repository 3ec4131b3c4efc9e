"""What goes on beside the daemon's rounds: a task for each attempt and each CI run that is being driven."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field


@dataclass
class Drives:
    """By name. `ended` is called after each: the next round may have something to do for it."""

    ended: Callable[[], None]
    tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict)

    def start(self, name: str, drive: Callable[[], Awaitable[None]]) -> None:
        """In the group that `run_in` has named."""
        self.tasks[name] = self._group.create_task(self._run(name, drive), name=name)

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
