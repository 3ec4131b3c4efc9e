"""What can be asked of the repository itself: bring checkouts up to date, and clear away what nobody needs."""

from collections.abc import Sequence

import msgspec

from paddock.fleet.landing.checkouts import sync_checkouts, why_none
from paddock.fleet.upkeep.collection import collect_worktrees, sweep_leftovers
from paddock.views.checkouts import SyncedView, view_synced
from paddock.views.document import Document
from paddock.views.fleet.upkeep import LeftoverView, RemovedView, view_cleared, view_removed
from paddock.web.endpoint import Asked, NoQuery, Visit


class SyncBody(Asked, frozen=True):
    """With `stash`, edits that are in the way are stashed and reapplied."""

    stash: bool = False


class SyncAnswer(Document, frozen=True, kw_only=True):
    """`note` says why there is no checkout to bring up to date, where there is none."""

    checkouts: list[SyncedView]
    note: str


def sync(visit: Visit[NoQuery, SyncBody]) -> SyncAnswer:
    reports = sync_checkouts(visit.workspace, stash=visit.body.stash)
    return SyncAnswer(checkouts=list(map(view_synced, reports)), note="" if reports else why_none(visit.workspace))


class CollectBody(Asked, frozen=True):
    """With `force` also what was kept because it could not be saved, and folders that agents may return to."""

    dry_run: bool = False
    force: bool = False


class KeptView(msgspec.Struct, frozen=True):
    path: str
    why: str


class CollectAnswer(Document, frozen=True, kw_only=True):
    """`items` were removed, or would be; `saved` are the refs that hold what was in them."""

    dry_run: bool
    items: list[RemovedView]
    bytes: int
    kept: list[KeptView]
    saved: Sequence[str]


def collect_garbage(visit: Visit[NoQuery, CollectBody]) -> CollectAnswer:
    body = visit.body
    cleared = collect_worktrees(visit.workspace, force=body.force, dry_run=body.dry_run)
    return CollectAnswer(
        dry_run=body.dry_run,
        items=list(map(view_removed, cleared.removed)),
        bytes=sum(one.size_bytes for one in cleared.removed),
        kept=[KeptView(one.leftover.name, one.left) for one in cleared.kept],
        saved=cleared.saved,
    )


class SweepBody(Asked, frozen=True):
    dry_run: bool = False


class SweepAnswer(Document, frozen=True, kw_only=True):
    dry_run: bool
    swept: list[LeftoverView]
    left: list[LeftoverView]


def sweep(visit: Visit[NoQuery, SweepBody]) -> SweepAnswer:
    dry_run = visit.body.dry_run
    swept, left = view_cleared(sweep_leftovers(visit.workspace, dry_run=dry_run))
    return SweepAnswer(dry_run=dry_run, swept=swept, left=left)
