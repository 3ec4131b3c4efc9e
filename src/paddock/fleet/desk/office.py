"""The desks of one daemon: one for every worker that it drives, as long as it does."""

from collections.abc import Collection
from dataclasses import dataclass, field

from paddock.fleet.desk.desk import Desk, DeskOrder, Occupancy
from paddock.fleet.site import Site

MOST_SERVED = 64
"""Requests that are answered at once, of all workers together."""


@dataclass
class DeskOffice:
    site: Site
    desks: dict[str, Desk] = field(default_factory=dict)
    everyone: Occupancy = field(default_factory=lambda: Occupancy(MOST_SERVED))

    async def serve(self, owners: Collection[str]) -> None:
        """From now on these, and no others. Raises OSError where a desk cannot be opened; the others are served."""
        for owner in [owner for owner in self.desks if owner not in owners]:
            await self.desks.pop(owner).close()
        failed: OSError | None = None
        for owner in owners:
            if owner not in self.desks:
                try:
                    self.desks[owner] = await self._open(owner)
                except OSError as error:
                    failed = error
        if failed is not None:
            raise failed

    async def close(self) -> None:
        await self.serve(())

    async def _open(self, owner: str) -> Desk:
        self.site.lead.require()
        top = self.site.repo.main or self.site.repo.common_dir
        desk = Desk(DeskOrder(owner, self.site.marker, top, self.site.desk_of(owner)), self.everyone)
        await desk.open()
        return desk
