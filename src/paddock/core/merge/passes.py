"""Which passed runs may still land."""

from __future__ import annotations

from msgspec.structs import replace

from paddock.core.merge import guards
from paddock.core.merge.model import Queue


def drop_dead_passes(queue: Queue) -> Queue:
    """Forget passed runs that can no longer land: their base is neither main nor a live train."""
    if not queue.landable or queue.main is None:
        return queue
    live = guards.live_bases(queue)
    kept = tuple(i for i in queue.landable if queue.ended[i].base in live and guards.members_are_current(queue, i))
    return queue if kept == queue.landable else drop_dead_passes(replace(queue, landable=kept))


def without_pass(passes: dict[str, str], key: str) -> dict[str, str]:
    return {k: run for k, run in passes.items() if k != key}
