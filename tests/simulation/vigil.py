"""A daemon with nothing to do, for hours."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from paddock.core.admission.host import HostSample
from paddock.core.events import AttemptStarted, Draft, TaskAdded
from paddock.core.ids import task_id
from paddock.fleet.daemon import Daemon, Orders
from paddock.fleet.site import Site
from paddock.git.repo import Repo
from tests.simulation.seeded import config_of
from tests.simulation.world import PERSON, PlayedMachine, World
from tests.store.memory import MemoryStore

HOUR = 3600.0


@dataclass
class Gauge(PlayedMachine):
    """Counts how often it is asked; `memory` tells how much is free at a time."""

    memory: Callable[[float], int] = lambda _now: 2**36
    asked: int = 0

    def sample(self, now: float) -> HostSample:
        self.asked += 1
        return HostSample(now, busy=0.1, free_memory_bytes=self.memory(now), free_disk_bytes=2**40, cores=8)


@dataclass
class Vigil(World):
    """A daemon that does not end when idle, for `hours_long`; `events` happen meanwhile, each at its second."""

    hours_long: float = 3.0
    gauge: Gauge = field(default_factory=Gauge)
    events: list[tuple[float, Callable[[], object]]] = field(default_factory=list)

    def furnish(self, site: Site) -> None:
        super().furnish(site)
        site.machine = self.gauge

    async def _run(self, site: Site, store: MemoryStore) -> None:
        ledger = await self._lead(store, self.seat_of(site))
        watch = Daemon(site, ledger, Orders())
        loop = asyncio.get_running_loop()
        for at, happen in self.events:
            loop.call_later(at, happen)
        loop.call_later(self.hours_long * HOUR, watch.end, "over")
        await watch.run()
        ledger.give_up()

    def add_task(self) -> None:
        self.people.append(lambda _board: [Draft(TaskAdded("Task", "Do it."), task=task_id(1))], PERSON)

    def deafen(self) -> None:
        """From now on nobody is told that something was recorded."""
        for listener in self.log.listeners:
            listener.tell(lambda: None)

    def started_after(self) -> float:
        """Seconds from the start of the world to that of its first attempt."""
        start = next(record for record in self.records() if isinstance(record.event, AttemptStarted))
        return start.at - self.records()[0].at


def vigil(repo: Repo, stage: Path) -> Vigil:
    return Vigil(0, repo, stage, config_of(0), ("delivers",))
