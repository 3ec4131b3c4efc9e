"""Bringing the dataset up to date for somebody who asks, where no daemon does it, and making a damaged one again."""

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from paddock.core.board import DAEMON_LEASE, Board
from paddock.fleet.clock import WallClock
from paddock.insight.dataset.dataset import Dataset
from paddock.insight.dataset.fleet import FleetFollower, LogMark, Looked
from paddock.insight.dataset.lock import DatasetLock
from paddock.insight.dataset.trouble import DatasetDamaged, DatasetUnusable, Explained
from paddock.insight.dataset.writer import DatasetWriter
from paddock.store.protocol import Store

if TYPE_CHECKING:
    from paddock.fleet.workspace import Workspace

FRESH_SECONDS = 45.0
"""What a daemon has looked at within this time is up to date."""
WAIT_SECONDS = 2.0

Hear = Callable[[Looked, LogMark], None]


def mark_of(store: Store) -> LogMark:
    return LogMark(store.record(1).hash.hex(), store.head())


def bring_up_to_date(workspace: "Workspace", path: Path, hear: Hear | None = None) -> Path | None:
    """Where a dataset lies now that could not be read, None if it could. `hear` is told of each part. Raises
    DatasetUnusable, and LogUnusable where there is no log."""
    with closing(workspace.read()) as store:
        board, mark = store.board(), mark_of(store)
        if is_current(path, board, mark, workspace.site.clock.now()):
            return None
        aside: Path | None = None
        try:
            _take_in(workspace, store, path, mark, hear)
        except DatasetDamaged:
            aside = lay_aside(path, WAIT_SECONDS)
            _take_in(workspace, store, path, mark, hear)
        return aside


def place_aside(path: Path) -> Path:
    """Where the newest of those that were damaged lies, if any was."""
    return path.with_name(path.name + ".damaged")


def is_current(path: Path, board: Board, mark: LogMark, now: float) -> bool:
    """Whether nothing is new, or a daemon sees to it."""
    try:
        with Dataset.open(path) as dataset:
            progress = dataset.progress()
    except DatasetUnusable:
        return False
    if progress.log != mark.log or progress.position > mark.head:
        return False
    if progress.position == mark.head and not progress.live:
        return True
    return progress.kept and DAEMON_LEASE in board.leases.held and 0 <= now - progress.looked_at < FRESH_SECONDS


def _take_in(workspace: "Workspace", store: Store, path: Path, mark: LogMark, hear: Hear | None) -> None:
    with DatasetWriter.open(path, wait_seconds=WAIT_SECONDS) as writer:
        take_all(FleetFollower(workspace.site, writer, stays=False), store, mark, workspace.site.clock, hear)


def take_all(follower: FleetFollower, store: Store, mark: LogMark, clock: WallClock, hear: Hear | None = None) -> int:
    """How many attempts were over and were told. Raises DatasetUnusable where another process is in the middle."""
    ended: set[str] = set()
    while True:
        looked = follower.look(store.records, mark, clock.now())
        if looked.claimed:
            raise DatasetUnusable("another process is taking in what the fleet did", "run this again in a moment")
        ended.update(looked.ended)
        if hear is not None:
            hear(looked, mark)
        if not looked.more:
            return len(ended)


def lay_aside(path: Path, wait_seconds: float) -> Path | None:
    """Where it lies now; whoever writes next makes a new one. None for one that can be read: somebody may have made it
    again meanwhile."""
    aside = place_aside(path)
    with Explained(path):
        lock = DatasetLock(path, wait_seconds)
        try:
            lock.take()
            if not _is_damaged(path):
                return None
            if path.exists():
                os.replace(path, aside)
            for suffix in ("-wal", "-shm"):
                path.with_name(path.name + suffix).unlink(missing_ok=True)
        finally:
            lock.close()
    return aside


def _is_damaged(path: Path) -> bool:
    try:
        with Dataset.open(path) as dataset:
            dataset.check()
    except DatasetDamaged:
        return True
    except DatasetUnusable:
        return False
    return False
