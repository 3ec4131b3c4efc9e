"""What upkeep found, as JSON."""

from typing import TYPE_CHECKING

import msgspec

from paddock.core.upkeep.findings import Leftover

if TYPE_CHECKING:
    from paddock.fleet.upkeep.collection import ClearedAway


class LeftoverView(msgspec.Struct, frozen=True):
    what: str
    name: str
    evidence: str
    bytes: int


class RemovedView(msgspec.Struct, frozen=True):
    path: str
    what: str
    bytes: int


def view_leftover(found: Leftover, why_left: str = "") -> LeftoverView:
    evidence = f"{found.evidence}: {why_left}" if why_left else found.evidence
    return LeftoverView(found.what.value, found.name, evidence, found.size_bytes)


def view_removed(found: Leftover) -> RemovedView:
    return RemovedView(found.name, found.what.name.lower(), found.size_bytes)


def view_cleared(cleared: "ClearedAway") -> tuple[list[LeftoverView], list[LeftoverView]]:
    """What was swept, and what was left alone."""
    left = [view_leftover(one) for one in cleared.found if one.remedy is None]
    left += [view_leftover(one.leftover, one.left) for one in cleared.kept]
    return [view_leftover(one) for one in cleared.removed], left
