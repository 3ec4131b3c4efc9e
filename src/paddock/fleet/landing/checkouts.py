"""Checkouts of main that could not follow when it moved: retried from time to time, as long as there are any."""

import asyncio
from dataclasses import dataclass

from paddock.core.errors import PaddockError
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.site import Site
from paddock.git.usertree.checkouts import catch_up
from paddock.git.usertree.notes import notes_folder, read_notes

AGAIN_SECONDS = 15.0


@dataclass
class Checkouts:
    site: Site
    looked_at: float = 0.0
    main: str | None = None

    async def look_after(self) -> str | None:
        """Costs nothing while every checkout shows main; what went wrong, "" if nothing did, None before it is due."""
        config = self.site.config
        notes = read_notes(notes_folder(self.site.repo))
        if config.land.remote or not (notes.stale or notes.undone):
            return ""
        main = self.site.repo.loose_tip(config.landing_branch)
        now = asyncio.get_running_loop().time()
        if main is not None and main == self.main and now < self.looked_at + AGAIN_SECONDS:
            return None
        self.looked_at, self.main = now, main
        update = config.land.checkout == "update"
        try:
            await asyncio.to_thread(
                catch_up, self.site.repo, config.landing_branch, update=update, checkpoint=checkpoint
            )
        except (PaddockError, OSError) as error:
            return str(error)
        return ""
