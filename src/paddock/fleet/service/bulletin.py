"""The small files in which the daemon tells how the fleet is doing, on machines other than its own.

Where the log is shared, the daemon posts them beside it, and whoever looks from another machine has copies of them in
the same place as the daemon has them: all who read them need not know where the daemon is.
"""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from paddock.core.errors import PaddockError
from paddock.fleet.clock import SYSTEM_CLOCK
from paddock.fleet.service.presence import DaemonSighting
from paddock.fleet.site import Site
from paddock.fleet.workspace import Workspace
from paddock.sessions.host import is_here
from paddock.store.place import LogPlace
from paddock.store.protocol import LogUnusable

if TYPE_CHECKING:
    from paddock.store.bulletin import Bulletin

FILES = ("waiting.json", "limits.json", "glance.json", "troubles.json", "nodes.json", "fence.json")
POST_SECONDS = 1.0
FETCH_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 60.0
MOST_BYTES = 4 * 2**20

_fetched_at: dict[LogPlace, float] = {}
_versions: dict[LogPlace, dict[str, int]] = {}


async def keep_posted(site: Site, place: LogPlace) -> None:
    """For ever: what has changed. A server that is away is asked less and less often."""
    from paddock.store.bulletin import Bulletin

    bulletin, posted, pause = Bulletin(place), dict[str, int](), POST_SECONDS
    try:
        while True:
            found = dict(_stamps(site.state_dir))
            changed = {name: stamp for name, stamp in found.items() if posted.get(name) != stamp}
            removed = [name for name in posted if name not in found]
            if changed or removed:
                try:
                    await asyncio.to_thread(_post, bulletin, site.state_dir, changed, removed)
                except PaddockError:
                    pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
                else:
                    posted, pause = found, POST_SECONDS
            await asyncio.sleep(pause)
    finally:
        bulletin.close()


def _post(bulletin: "Bulletin", folder: Path, changed: dict[str, int], removed: list[str]) -> None:
    files = {}
    for name in changed:
        with suppress(OSError):
            files[name] = (folder / name).read_bytes()
    bulletin.post({name: content for name, content in files.items() if len(content) <= MOST_BYTES}, removed)


def _stamps(folder: Path) -> Iterator[tuple[str, int]]:
    for name in FILES:
        with suppress(OSError):
            yield name, (folder / name).stat().st_mtime_ns


def fetch_bulletin(workspace: Workspace, daemon: DaemonSighting) -> None:
    """Brings the copies here up to date, where the daemon is on another machine. Best effort, once a second at most."""
    place = workspace.log
    if not place.is_shared or daemon.lease is None or is_here(daemon.lease.holder):
        return
    if SYSTEM_CLOCK.boottime() - _fetched_at.get(place, float("-inf")) < FETCH_SECONDS:
        return
    _fetched_at[place] = SYSTEM_CLOCK.boottime()
    from paddock.store.bulletin import Bulletin

    bulletin = Bulletin(place)
    with suppress(LogUnusable, OSError):
        try:
            versions, contents = bulletin.read(_versions.get(place, {}))
        finally:
            bulletin.close()
        place.state_dir.mkdir(parents=True, exist_ok=True)
        _versions[place] = versions
        for name in FILES:
            if name in contents:
                draft = place.state_dir / f"{name}.fetched"
                draft.write_bytes(contents[name])
                draft.replace(place.state_dir / name)
            elif name not in versions:
                (place.state_dir / name).unlink(missing_ok=True)
